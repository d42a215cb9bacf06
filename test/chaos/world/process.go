//go:build linux

package world

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a program that is started again and again; its methods are about its
// latest life.
type Process struct {
	mu     sync.Mutex
	latest *life // nil: none yet
}

// life is one run of a program.
type life struct {
	cmd   *exec.Cmd
	text  *tail
	ended chan struct{} // closed when it has ended and was waited for
}

var errRunning = errors.New("it is running")

// Launch starts a command on a host. It ends with this process, at the latest.
func Launch(on *Host, cmd *exec.Cmd) (*Process, error) {
	p := &Process{}
	return p, p.begin(on, cmd)
}

// begin starts a command on a host; without an environment of its own it gets PATH.
func (p *Process) begin(on *Host, cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest != nil && !p.latest.over() {
		return errRunning
	}
	l := &life{cmd: cmd, text: &tail{}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = l.text, l.text
	cmd.WaitDelay = time.Second // whom it has started may hold its output open
	if cmd.Env == nil {
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	}
	// A group of its own: Ctrl-C is for the run, which ends its processes in good order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error, 1)
	go l.live(on, started)
	if err := <-started; err != nil {
		return err
	}
	p.latest = l
	return nil
}

// live starts the process and waits for its end. Its thread enters the host's
// namespace, where the process is born; it ends with the process, for the kernel
// takes the end of the thread that started a process for the death of its parent,
// and nothing else may run in that namespace.
func (l *life) live(on *Host, started chan<- error) {
	runtime.LockOSThread()
	defer close(l.ended)
	err := on.enter()
	if err == nil {
		err = l.cmd.Start()
	}
	started <- err
	if err == nil {
		_ = l.cmd.Wait() // its exit code tells
	}
}

// enter moves the thread into the host's namespace, for good.
func (h *Host) enter() error {
	if h.namespace == "" {
		return nil
	}
	f, err := os.Open("/run/netns/" + h.namespace)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter %s: %w", h.namespace, err)
	}
	return nil
}

func (l *life) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

func (p *Process) current() *life {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latest
}

// Pid is 0 before the first life.
func (p *Process) Pid() int {
	if l := p.current(); l != nil {
		return l.cmd.Process.Pid
	}
	return 0
}

// Ended is closed when the process has ended and was waited for; also before the
// first life.
func (p *Process) Ended() <-chan struct{} {
	if l := p.current(); l != nil {
		return l.ended
	}
	none := make(chan struct{})
	close(none)
	return none
}

// Running reports whether the process lives, paused or not.
func (p *Process) Running() bool {
	l := p.current()
	return l != nil && !l.over()
}

// Code is the exit code of a process that has ended; -1: a signal ended it, or it
// has not ended.
func (p *Process) Code() int {
	if l := p.current(); l != nil && l.over() {
		return l.cmd.ProcessState.ExitCode()
	}
	return -1
}

// Text is the last 8 KiB of what it wrote on standard output and error.
func (p *Process) Text() string {
	if l := p.current(); l != nil {
		return l.text.String()
	}
	return ""
}

// Signal sends a signal; [os.ErrProcessDone] if the process has ended.
func (p *Process) Signal(sig syscall.Signal) error {
	if l := p.current(); l != nil {
		return l.cmd.Process.Signal(sig)
	}
	return os.ErrProcessDone
}

// Pause stops the process, with SIGSTOP.
func (p *Process) Pause() error { return p.Signal(syscall.SIGSTOP) }

// Resume lets it go on.
func (p *Process) Resume() error { return p.Signal(syscall.SIGCONT) }

// Kill is kill -9, paused or not; it returns when the process has ended, and also
// if it had ended before.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.Ended()
	return nil
}

// tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const keptText = 8 << 10 // bytes

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if extra := len(t.text) - keptText; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
