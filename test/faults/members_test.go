// A cluster of three processes, each on a host of its own.

package faults

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
)

type members struct {
	*hosts
	args    []string // of all of them, beside those that every member has
	dirs    [3]string
	running [3]*process
}

func newMembers(t *testing.T, h *hosts, args ...string) *members {
	t.Helper()
	c := &members{hosts: h, args: args}
	for i := range c.dirs {
		c.dirs[i] = filepath.Join(t.TempDir(), "data")
	}
	return c
}

// command is what starts member i, and what restarts it.
func (c *members) command(t *testing.T, i int) *exec.Cmd {
	t.Helper()
	return command(t.Context(), c.prefixes[i], append([]string{"server", "--peers", c.peers(), "--name", c.addresses[i] + ":2380",
		"--data-dir", c.dirs[i], "--listen-client", c.endpoint(i), "--log-level", "error"}, c.args...)...)
}

func (c *members) peers() string { return strings.Join(c.addresses[:], ":2380,") + ":2380" }

func (c *members) endpoint(i int) string { return c.addresses[i] + ":2379" }

func (c *members) endpoints() []string { return []string{c.endpoint(0), c.endpoint(1), c.endpoint(2)} }

func (c *members) startAll(t *testing.T) {
	t.Helper()
	for i := range c.running {
		c.running[i] = start(t, c.command(t, i))
	}
	for _, p := range c.running {
		p.ready(t)
	}
}

// restart is for a member that has ended.
func (c *members) restart(t *testing.T, i int) {
	t.Helper()
	c.running[i] = start(t, c.command(t, i))
}

// leader is the member that leads, as a majority sees it.
func (c *members) leader(t *testing.T) int {
	t.Helper()
	etcd := newClient(t, client.Config{Endpoints: c.endpoints()}).Etcd()
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; ctx.Err() == nil; <-tick.C {
		for i := range c.addresses {
			s, err := etcd.Status(ctx, c.endpoint(i))
			if err == nil && s.Leader == s.Header.MemberId {
				return i
			}
		}
	}
	t.Fatal("no leader")
	return -1
}

func (c *members) follower(t *testing.T) int {
	t.Helper()
	return (c.leader(t) + 1) % len(c.addresses)
}

func newClient(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

// run runs a command to its end, on host i, if it ends within limit.
func (c *members) run(t *testing.T, i int, limit time.Duration, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return finish(ctx, t, command(ctx, c.prefixes[i], args...))
}

func finish(ctx context.Context, t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
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
