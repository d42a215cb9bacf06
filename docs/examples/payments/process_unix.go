//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// stopSelf stops this process, all its threads, until somebody sends SIGCONT. kill
// can return some system calls before the process stands still, so SIGCONT itself
// is waited for.
func stopSelf() error {
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, syscall.SIGCONT)
	defer signal.Stop(woken)
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		return err
	}
	<-woken
	return nil
}

// process is a child, from its start until it has been reaped.
type process struct {
	cmd     *exec.Cmd
	stopped chan struct{} // closed when the child was seen to be stopped
	ended   chan struct{} // closed when it has been reaped
}

// startProcess starts cmd, which must not be waited for otherwise. It gets a process
// group of its own: Ctrl-C is for this process, and if this one is killed, the
// kernel sends SIGHUP and SIGCONT to a group that is left behind stopped.
func startProcess(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stopped: make(chan struct{}), ended: make(chan struct{})}
	go p.attend() // until the child has been reaped
	return p, nil
}

func (p *process) attend() {
	defer close(p.ended)
	for stops := 0; ; {
		var status syscall.WaitStatus
		switch _, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); {
		case err == syscall.EINTR:
		case err != nil || !status.Stopped():
			return
		default:
			if stops++; stops == 1 {
				close(p.stopped)
			}
		}
	}
}

// awaitStop returns when the child stands still.
func (p *process) awaitStop(ctx context.Context) error {
	select {
	case <-p.stopped:
		return nil
	case <-p.ended:
		return errors.New("the process ended instead of stopping")
	case <-ctx.Done():
		return context.Cause(ctx)
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
