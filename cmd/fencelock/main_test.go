package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// binaryVariable tells the tests where TestMain has built the program.
const binaryVariable = "FENCELOCK_TEST_BINARY"

func TestMain(m *testing.M) {
	code, err := build(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func build(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "fencelock-test")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "fencelock")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build: %w: %s", err, out)
	}
	if err := os.Setenv(binaryVariable, binary); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// testTime bounds what a test waits for.
const testTime = time.Minute

// fencelock is a command that is ended with the test.
func fencelock(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Getenv(binaryVariable), args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "FENCELOCK_SERVER_LISTEN_METRICS=off"} // whoever wants it gives the flag
	return cmd
}

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

func run(t *testing.T, args ...string) result {
	t.Helper()
	cmd := fencelock(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (r result) want(t *testing.T, code int, parts ...string) result {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d; standard error: %s", r.code, code, r.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("standard error %q, want it to contain %q", r.stderr, part)
		}
	}
	return r
}

// process is a command that runs on. Its standard error arrives line by line;
// the channel closes with it.
type process struct {
	cmd   *exec.Cmd
	lines chan string
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: fencelock(t, args...), lines: make(chan string, 1000)}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.tell(t) })
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(stderr); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	return p
}

// tell logs what nobody has read, if the test has failed.
func (p *process) tell(t *testing.T) {
	for t.Failed() {
		select {
		case line, ok := <-p.lines:
			if ok {
				t.Logf("%v: %s", p.cmd.Args[1:], line)
				continue
			}
		default:
		}
		return
	}
}

// await returns the first line that begins like this, and those before it.
func (p *process) await(t *testing.T, begin string) (line string, before []string) {
	t.Helper()
	timer := time.NewTimer(testTime)
	defer timer.Stop()
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("ended without a line that begins with %q; standard error: %q", begin, before)
			}
			if strings.HasPrefix(line, begin) {
				return line, before
			}
			before = append(before, line)
		case <-timer.C:
			t.Fatalf("no line that begins with %q in %v; standard error: %q", begin, testTime, before)
		}
	}
}

// end sends a signal and returns the exit code and the lines that were left.
func (p *process) end(t *testing.T, signal syscall.Signal) (code int, rest []string) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	for line := range p.lines {
		rest = append(rest, line)
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode(), rest
}
