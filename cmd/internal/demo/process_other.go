//go:build !unix

package demo

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"time"
)

// supported: this system has no SIGSTOP, and a demo that only pretends to stop a
// process would show nothing.
func supported() error {
	return fmt.Errorf("run the demo: it stops a process with SIGSTOP, which %s does not have; run it on Linux or macOS, or in a container", runtime.GOOS)
}

func stopSelf() error { return supported() }

// process cannot be had here.
type process struct{}

func startProcess(*exec.Cmd) (*process, error) { return nil, supported() }

func (*process) awaitStop(context.Context) error { return supported() }
func (*process) wake() error                     { return supported() }
func (*process) kill()                           {}
func (*process) endsWithin(time.Duration) bool   { return true }
func (*process) end() string                     { return "" }
func (*process) pid() int                        { return 0 }
