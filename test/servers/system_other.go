//go:build !linux

package servers

import (
	"errors"
	"os/exec"
	"syscall"
)

const supported = false

func command(_, program string, args []string, _ syscall.Signal) *exec.Cmd {
	return exec.Command(program, args...)
}

func handOver(string) error { return errors.ErrUnsupported }

func roomy(string) bool { return false }

func alive(int) bool { return true }

func (p *process) kill() error { return p.cmd.Process.Kill() }

func (p *process) pause() error { return errors.ErrUnsupported }

func (p *process) resume() error { return errors.ErrUnsupported }
