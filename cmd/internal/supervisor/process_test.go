//go:build linux

package supervisor_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// testTime bounds every single thing that a test waits for.
const testTime = 30 * time.Second

// process is a program that a test has started, fencelock as a rule.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *lines
	stderr *bytes.Buffer // read it after wait
	ended  chan struct{}
}

// lines are what a process prints, and reads have deadlines.
type lines struct {
	file   *os.File
	reader *bufio.Reader
}

func (l *lines) next() (string, error) {
	if err := l.file.SetReadDeadline(time.Now().Add(testTime)); err != nil {
		return "", err
	}
	line, err := l.reader.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err
}

// start starts a program whose clients ask the endpoint. It is killed with the
// test.
func start(t *testing.T, endpoint string, args ...string) *process {
	t.Helper()
	return startCommand(t, endpoint, exec.Command(args[0], args[1:]...))
}

// startWith is start with another standard error.
func startWith(t *testing.T, endpoint string, stderr *os.File, args ...string) *process {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = stderr
	return startCommand(t, endpoint, cmd)
}

func startCommand(t *testing.T, endpoint string, cmd *exec.Cmd) *process {
	t.Helper()
	cmd.Env = append(cmd.Environ(), "FENCELOCK_CLIENT_ENDPOINTS="+endpoint)
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, stdin: in, stdout: &lines{out, bufio.NewReader(out)}, stderr: new(bytes.Buffer), ended: make(chan struct{})}
	cmd.Stdout = theirs
	if cmd.Stderr == nil {
		cmd.Stderr = p.stderr
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		p.await("end after SIGKILL", p.ended)
		out.Close()
	})
	return p
}

func (p *process) await(what string, done <-chan struct{}) {
	p.t.Helper()
	timer := time.NewTimer(testTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		p.t.Errorf("%v did not %s within %v", p.cmd.Args, what, testTime)
		_ = p.cmd.Process.Kill()
	}
}

// line returns the next line that the process, or its children, print.
func (p *process) line() string {
	p.t.Helper()
	line, err := p.stdout.next()
	if err != nil {
		_ = p.cmd.Process.Kill()
		<-p.ended
		p.t.Fatalf("%v: read a line: %v; standard error: %s", p.cmd.Args, err, p.stderr)
	}
	return line
}

// expect reads the next line.
func (p *process) expect(want string) {
	p.t.Helper()
	if got := p.line(); got != want {
		p.t.Fatalf("%v printed %q, want %q", p.cmd.Args, got, want)
	}
}

// pid reads a line that is a process id.
func (p *process) pid() int {
	p.t.Helper()
	line := p.line()
	pid, err := strconv.Atoi(line)
	if err != nil {
		p.t.Fatalf("%v printed %q, want a process id", p.cmd.Args, line)
	}
	return pid
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("signal %v to %v: %v", s, p.cmd.Args, err)
	}
}

// ends waits for the end and checks the exit code, and that standard error
// has each part.
func (p *process) ends(code int, parts ...string) {
	p.t.Helper()
	p.await("end", p.ended)
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("%v: %v, want exit code %d; standard error: %s", p.cmd.Args, p.cmd.ProcessState, code, p.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(p.stderr.String(), part) {
			p.t.Errorf("%v: standard error %q, want it to contain %q", p.cmd.Args, p.stderr, part)
		}
	}
	if len(parts) == 0 && p.stderr.Len() > 0 {
		p.t.Errorf("%v: standard error %q, want none", p.cmd.Args, p.stderr)
	}
}

// eventually polls what cannot be waited for.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(testTime); !holds(); <-ticker.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, testTime)
		}
	}
}

// gone reports whether a process has ended; who reaps it is not the test's affair.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	return stat(pid)[0] == "Z"
}

// stat is what /proc says about a process, from its state on: state, parent,
// group, session, terminal, the terminal's foreground group.
func stat(pid int) []string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, after, found := strings.Cut(string(text), ") ")
	if !found {
		return []string{"Z"} // it has ended meanwhile
	}
	return strings.Fields(after)
}

// running lists the processes with this word in their command lines.
func running(word string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if line, err := os.ReadFile(file); err == nil && pid != os.Getpid() && bytes.Contains(line, []byte(word)) {
			pids = append(pids, pid)
		}
	}
	return pids
}
