//go:build unix

package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// supported: processes can be stopped here.
func supported() error { return nil }

// stopSelf stops this process, all its threads, until somebody sends SIGCONT.
//
// kill can return before the process is stopped, unless the calling thread happens
// to be the first: measured on Linux 6.18 with two processors, it did so 454 times
// in 500, for up to a thousand system calls. So SIGCONT itself is waited for.
func stopSelf() error {
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, syscall.SIGCONT)
	defer signal.Stop(woken)
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop this process: %w", err)
	}
	<-woken
	return nil
}

// process is a child of the demo, from its start until it has been reaped.
type process struct {
	cmd    *exec.Cmd
	stops  chan struct{} // gets one when the child is seen to be stopped
	ended  chan struct{} // closed when it has been reaped
	status syscall.WaitStatus
}

// startProcess starts cmd in a process group of its own, so that Ctrl-C reaches the
// demo alone. cmd must not be waited for otherwise.
func startProcess(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	p := &process{cmd: cmd, stops: make(chan struct{}, 1), ended: make(chan struct{})}
	started := make(chan error)
	go p.attend(started) // until the child has been reaped
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// attend starts the child and follows it until its end. It keeps its thread all
// the time, since PDEATHSIG counts from the end of the thread that started the child.
func (p *process) attend(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.ended)
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	for {
		_, err := syscall.Wait4(p.cmd.Process.Pid, &p.status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err == nil && p.status.Stopped():
			select {
			case p.stops <- struct{}{}:
			default: // nobody waited for the one before
			}
		default: // reaped; an error means that somebody else did it
			return
		}
	}
}

// awaitStop returns when the child has been stopped.
func (p *process) awaitStop(ctx context.Context) error {
	select {
	case <-p.stops:
		return nil
	case <-p.ended:
		return fmt.Errorf("it ended instead: %s", p.end())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// endsWithin waits for a child that seems to have ended, and reports whether it has.
func (p *process) endsWithin(limit time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// wake lets a stopped child go on.
func (p *process) wake() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// kill ends the child, stopped or not, and returns when it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // an error means that it has ended
	<-p.ended
	_ = p.cmd.Process.Release()
}

// end words how the child ended, once it has.
func (p *process) end() string {
	if p.status.Signaled() {
		return "signal: " + p.status.Signal().String()
	}
	return fmt.Sprintf("exit code %d", p.status.ExitStatus())
}

func (p *process) pid() int { return p.cmd.Process.Pid }
