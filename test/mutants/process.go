package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// process is a command of the hunt.
type process struct {
	dir  string
	env  []string // beside this program's own
	echo bool     // print its output as it comes
}

// stopTime is how long a command whose time is up may take to end what it started.
const stopTime = 5 * time.Second

// run returns all that the command has printed.
func (p process) run(ctx context.Context, name string, args ...string) (string, error) {
	var text bytes.Buffer
	var to io.Writer = &text
	if p.echo {
		to = io.MultiWriter(&text, os.Stderr)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = to, to
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTime
	err := cmd.Run()
	return text.String(), err
}

// output runs a command for what it prints; its error has that, too.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	text, err := process{dir: dir}.run(ctx, name, args...)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, args[0], err, text)
	}
	return strings.TrimSpace(text), nil
}
