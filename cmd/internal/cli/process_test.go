//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// process is a command in a process of its own.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	pipe   io.Closer // its standard output
	out    *bufio.Reader
	stderr bytes.Buffer
}

// startProcess starts a command line of this program. It is killed with the test.
func startProcess(t *testing.T, endpoint string, args ...string) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.CommandContext(testContext(t), program, args...)}
	p.cmd.Env = append(os.Environ(), "FENCELOCK_TEST_MAIN=1", "FENCELOCK_CLIENT_ENDPOINTS="+endpoint)
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.pipe, p.out = out, bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

func (p *process) line() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%v: read a line: %v, standard error %s", p.cmd.Args, err, &p.stderr)
	}
	return strings.TrimSuffix(line, "\n")
}

// end sends a signal and checks how the process ends, and that it does soon.
func (p *process) end(by os.Signal, code int, parts ...string) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(by); err != nil {
		p.t.Fatal(err)
	}
	p.ends(code, parts...)
}

func (p *process) ends(code int, parts ...string) {
	p.t.Helper()
	began := time.Now()
	_, _ = io.Copy(io.Discard, p.out)
	_ = p.cmd.Wait()
	if took := time.Since(began); took > testTime/4 {
		p.t.Errorf("%v ended after %v", p.cmd.Args, took)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("%v: %v, want exit code %d; standard error %s", p.cmd.Args, p.cmd.ProcessState, code, &p.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(p.stderr.String(), part) {
			p.t.Errorf("%v: standard error %q, want it to contain %q", p.cmd.Args, &p.stderr, part)
		}
	}
}
