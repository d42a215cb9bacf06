//go:build linux

package world

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// trace attaches strace to the process; undo detaches it.
func (p *Process) trace(args ...string) (undo func() error, err error) {
	words := append([]string{"-f", "-o", "/dev/null", "-p", fmt.Sprint(p.Pid())}, args...)
	tracer, err := Launch(&Host{}, exec.Command("strace", words...))
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(toolTime); !strings.Contains(tracer.Text(), "attached"); <-tick.C {
		if !tracer.Running() || time.Now().After(deadline) {
			return nil, errors.Join(errors.New("strace does not attach"), tracer.detach())
		}
	}
	return tracer.detach, nil
}

// detach ends a tracer, which may have ended with what it traced.
func (p *Process) detach() error {
	ctx, cancel := context.WithTimeout(context.Background(), toolTime)
	defer cancel()
	_ = p.Signal(syscall.SIGINT)
	select {
	case <-p.Ended():
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("strace has not ended: %w: %s", ctx.Err(), p.Text()), p.Kill())
	}
}

// traceable tries whether strace is there and may attach to what it has not started.
func traceable() error {
	traced, err := Launch(&Host{}, exec.Command("sleep", "60"))
	if err != nil {
		return err
	}
	undo, err := traced.trace()
	if err == nil {
		err = undo()
	}
	return errors.Join(err, traced.Kill())
}
