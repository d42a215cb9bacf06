//go:build !unix

package main

import (
	"context"
	"errors"
	"os/exec"
)

var errNoStop = errors.New("this system cannot stop a process with SIGSTOP; run the example on Linux or macOS")

func stopSelf() error { return errNoStop }

// process cannot be had here.
type process struct{}

func startProcess(*exec.Cmd) (*process, error) { return nil, errNoStop }

func (*process) awaitStop(context.Context) error { return errNoStop }
func (*process) wake() error                     { return errNoStop }
func (*process) kill()                           {}
