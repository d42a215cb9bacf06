// A process of the program, and what it says on standard error.

package faults

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// testTime bounds what a test waits for.
const testTime = time.Minute

type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended and everything is read

	mu    sync.Mutex
	lines []string
	more  chan struct{} // closed and replaced with every line
}

// command is the program with these arguments, perhaps behind those of a program
// that puts it somewhere else.
func command(ctx context.Context, prefix []string, args ...string) *exec.Cmd {
	words := append(append(append([]string{}, prefix...), os.Getenv(binaryVariable)), args...)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "FENCELOCK_SERVER_LISTEN_METRICS=off"}
	return cmd
}

// start runs a command until the test ends, at the latest.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, ended: make(chan struct{}), more: make(chan struct{})}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		for scanner := bufio.NewScanner(stderr); scanner.Scan(); {
			p.add(scanner.Text())
		}
		_ = cmd.Wait() // its exit code tells
	}()
	t.Cleanup(func() { p.kill() })
	return p
}

func (p *process) add(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
	close(p.more)
	p.more = make(chan struct{})
}

func (p *process) said() (text string, more <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n"), p.more
}

// ready returns when the member is.
func (p *process) ready(t *testing.T) {
	t.Helper()
	p.says(t, testTime, "ready name=")
}

// says returns when all this is in what the process has said.
func (p *process) says(t *testing.T, limit time.Duration, parts ...string) {
	t.Helper()
	deadline := time.After(limit)
	for {
		text, more := p.said()
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) }) {
			return
		}
		select {
		case <-more:
		case <-p.ended:
			t.Fatalf("the member ended: %s", text)
		case <-deadline:
			t.Fatalf("has not said %q in %v: %s", parts, limit, text)
		}
	}
}

// code waits for the process to end by itself.
func (p *process) code(t *testing.T, limit time.Duration) (code int, text string) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(limit):
		text, _ := p.said()
		t.Fatalf("has not ended in %v: %s", limit, text)
	}
	text, _ = p.said()
	return p.cmd.ProcessState.ExitCode(), text
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("signal %v: %v", s, err)
	}
}

// kill is kill -9; it may have ended before.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}
