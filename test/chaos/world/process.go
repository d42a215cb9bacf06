//go:build linux

package world

import (
	"errors"
	"syscall"
)

// Process is a program that is started again and again; its methods are about its
// latest life.
type Process struct{}

// Pid is 0 before the first life.
func (p *Process) Pid() int { return 0 }

// Ended is closed when the process has ended and was waited for.
func (p *Process) Ended() <-chan struct{} { return nil }

// Code is the exit code of a process that has ended; -1: a signal ended it.
func (p *Process) Code() int { return 0 }

// Text is the last 8 KiB of what it wrote on standard error.
func (p *Process) Text() string { return "" }

// Signal sends a signal.
func (p *Process) Signal(sig syscall.Signal) error { return errors.ErrUnsupported }

// Pause stops the process, with SIGSTOP.
func (p *Process) Pause() error { return errors.ErrUnsupported }

// Resume lets it go on.
func (p *Process) Resume() error { return errors.ErrUnsupported }

// Kill is kill -9, paused or not; it returns when the process has ended, and also
// if it had ended before.
func (p *Process) Kill() error { return errors.ErrUnsupported }
