//go:build linux

// The program, run to its end, or until it has said something.

package faults

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/test/chaos/world"

	"github.com/fencelock/fencelock/test/testbinary"
)

// testTime bounds what a test waits for.
const testTime = time.Minute

// command is the program with these arguments.
func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, testbinary.Path(), args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "FENCELOCK_SERVER_LISTEN_METRICS=off"}
	return cmd
}

// start runs the program until the test ends, at the latest.
func start(t *testing.T, args ...string) *world.Process {
	t.Helper()
	p, err := world.Launch(&world.Host{}, command(context.Background(), args...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

// says returns when all this is in what the process has said.
func says(t *testing.T, p *world.Process, limit time.Duration, parts ...string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(limit)
	missing := func(part string) bool { return !strings.Contains(p.Text(), part) }
	for slices.ContainsFunc(parts, missing) {
		select {
		case <-tick.C:
		case <-p.Ended():
			t.Fatalf("it has ended: %s", p.Text())
		case <-deadline:
			t.Fatalf("has not said %q in %v: %s", parts, limit, p.Text())
		}
	}
}

// ends waits for the process to end by itself with this exit code, and with this in
// what it said.
func ends(t *testing.T, p *world.Process, limit time.Duration, code int, part string) {
	t.Helper()
	select {
	case <-p.Ended():
	case <-time.After(limit):
		t.Fatalf("has not ended in %v: %s", limit, p.Text())
	}
	if p.Code() != code || !strings.Contains(p.Text(), part) {
		t.Errorf("exit code %d and %q, want %d and %q", p.Code(), p.Text(), code, part)
	}
}

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

// finish runs the program to its end, if it ends within limit.
func finish(t *testing.T, limit time.Duration, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%v has not ended: %s", cmd.Args, stderr.String())
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), time.Since(began)}
}

func (r result) want(t *testing.T, code int, parts ...string) result {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d; standard error: %s", r.code, code, r.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("standard error %q, want it to contain %q", r.stderr, part)
		}
	}
	return r
}
