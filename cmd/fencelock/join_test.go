package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// guest is the arguments of a member that joins, on ports of its own.
type guest struct {
	dir, client, peer string
	args              []string
}

func newGuest(t *testing.T, join string) guest {
	t.Helper()
	g := guest{dir: filepath.Join(t.TempDir(), "data"), client: clustertest.FreeAddress(t), peer: clustertest.FreeAddress(t)}
	g.args = []string{"server", "--join", join, "--data-dir", g.dir, "--listen-client", g.client, "--listen-peer", g.peer}
	return g
}

// readyWithin reports whether a process says that it is ready before the time is up.
func (p *process) readyWithin(t *testing.T, d time.Duration) bool {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	var before []string
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("ended by itself; standard error: %q", before)
			}
			if strings.HasPrefix(line, "ready ") {
				return true
			}
			before = append(before, line)
		case <-timer.C:
			return false
		}
	}
}

// killedUntilReady starts a command, kills it with -9 after some time, and starts it
// again, with more time, until it is ready first: at whatever step it was killed,
// the same command finishes.
func killedUntilReady(t *testing.T, args []string) (p *process, kills int) {
	t.Helper()
	for d := 100 * time.Millisecond; ; d += d / 2 {
		p := start(t, args...)
		if p.readyWithin(t, d) {
			return p, kills
		}
		p.end(t, syscall.SIGKILL)
		kills++
	}
}

func voters(t *testing.T, endpoints string) (voters, all int) {
	t.Helper()
	var list []struct {
		Role      string
		Reachable bool
	}
	out := run(t, "member", "list", "-o", "json", "--endpoints", endpoints).want(t, 0).stdout
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.Role != "learner" && m.Reachable {
			voters++
		}
	}
	return voters, len(list)
}

// traffic takes a lock and gives it back, over and over, until stop is called, which
// returns how often, and the longest time that took.
func traffic(t *testing.T, c *client.Client) (stop func() (int, time.Duration)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	count, longest := 0, time.Duration(0)
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			began := time.Now()
			err := c.Do(ctx, "traffic", func(ctx context.Context, l *client.Lock) error {
				_, err := l.KV().Put(ctx, "k", []byte("v"))
				return err
			})
			switch { // a member that stops cannot say what became of a write on its way
			case errors.Is(err, client.ErrUncertain):
				t.Logf("traffic: %v", err)
			case err != nil && ctx.Err() == nil:
				t.Errorf("traffic: %v", err)
			}
			count++
			longest = max(longest, time.Since(began))
		}
	}()
	return func() (int, time.Duration) {
		cancel()
		<-done
		return count, longest
	}
}

// From one member to five, while locks are taken through the addresses of all five,
// learners among them; each newcomer is killed at every step of its way in. Then
// back to one.
func TestGrowAndShrink(t *testing.T) {
	first := clustertest.FreeAddress(t)
	leader := start(t, node(filepath.Join(t.TempDir(), "data"), first, clustertest.FreeAddress(t))...)
	leader.await(t, "ready ")
	guests := []guest{newGuest(t, first), newGuest(t, first), newGuest(t, first), newGuest(t, first)}
	endpoints := []string{first}
	for _, g := range guests {
		endpoints = append(endpoints, g.client)
	}
	c, err := client.New(client.Config{Endpoints: endpoints, TTL: 10 * time.Second, DialTimeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	held, err := c.Lock(t.Context(), "kept")
	if err != nil {
		t.Fatal(err)
	}
	stop := traffic(t, c)
	kills := 0
	var servers []*process
	for _, g := range guests {
		p, n := killedUntilReady(t, g.args)
		servers, kills = append(servers, p), kills+n
	}
	if v, all := voters(t, first); v != 5 || all != 5 {
		t.Errorf("%d voters of %d members, want 5 of 5", v, all)
	}
	for _, g := range guests {
		run(t, "member", "remove", g.peer, "--endpoints", strings.Join(endpoints, ",")).want(t, 0)
	}
	count, longest := stop()
	t.Logf("%d times locked, the longest took %v; %d kills", count, longest.Round(time.Millisecond), kills)
	if err := held.Err(); err != nil {
		t.Errorf("the lock that was held all the while: %v", err)
	}
	run(t, "member", "remove", "default", "--endpoints", first).want(t, 1, "is the last member")
	for _, p := range servers {
		if code, rest := p.ended(t); code != 1 || !strings.Contains(strings.Join(rest, "\n"), "removed from the cluster") {
			t.Errorf("a removed member ended with code %d and %q, want 1 and the reason", code, rest)
		}
	}
	leader.end(t, syscall.SIGTERM)
}

// ended returns when the process has ended by itself.
func (p *process) ended(t *testing.T) (code int, rest []string) {
	t.Helper()
	return p.end(t, 0) // signal 0 is sent to nobody
}

// The disk of one of three is gone: its old command is refused and names the way
// out, which works while a lock is held.
func TestReplaceMemberWithoutDisk(t *testing.T) {
	peers := []string{clustertest.FreeAddress(t), clustertest.FreeAddress(t), clustertest.FreeAddress(t)}
	clients := []string{clustertest.FreeAddress(t), clustertest.FreeAddress(t), clustertest.FreeAddress(t)}
	dir := t.TempDir()
	args := func(i int) []string {
		return []string{"server", "--peers", strings.Join(peers, ","), "--name", peers[i], "--data-dir", filepath.Join(dir, peers[i]), "--listen-client", clients[i]}
	}
	var servers []*process
	for i := range peers {
		servers = append(servers, start(t, args(i)...))
	}
	for _, p := range servers {
		p.await(t, "ready ")
	}
	c, err := client.New(client.Config{Endpoints: clients, TTL: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	held, err := c.Lock(t.Context(), "kept")
	if err != nil {
		t.Fatal(err)
	}
	servers[2].end(t, syscall.SIGKILL)
	if err := os.RemoveAll(filepath.Join(dir, peers[2])); err != nil {
		t.Fatal(err)
	}
	run(t, args(2)...).want(t, 1, "member replace")

	alive := strings.Join(clients, ",")
	out := run(t, "member", "replace", peers[2], "-o", "json", "--endpoints", alive).want(t, 0).stdout
	var added struct{ Command string }
	if err := json.Unmarshal([]byte(out), &added); err != nil {
		t.Fatal(err)
	}
	command := append(strings.Fields(added.Command)[1:], "--data-dir", filepath.Join(dir, "new"))
	successor, kills := killedUntilReady(t, command)
	t.Logf("ready after %d kills: %s", kills, added.Command)
	if v, all := voters(t, alive); v != 3 || all != 3 {
		t.Errorf("%d voters of %d members, want 3 of 3", v, all)
	}
	if err := held.Err(); err != nil {
		t.Errorf("the lock that was held all the while: %v", err)
	}
	servers[0].end(t, syscall.SIGKILL) // the successor counts
	if _, err := c.Lock(t.Context(), "after"); err != nil {
		t.Errorf("a lock with one of the first members and the successor: %v", err)
	}
	for _, p := range []*process{servers[1], successor} {
		p.end(t, syscall.SIGKILL)
	}
}

func TestJoinUsage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	run(t, "server", "--join", "127.0.0.1:1", "--peers", "127.0.0.1:2", "--data-dir", dir).want(t, 2, "--join and --peers exclude each other")
	run(t, "server", "--join", "127.0.0.1:1", "--token-floor", "7", "--data-dir", dir).want(t, 2, "--token-floor is for a new cluster")
	run(t, "server", "--user", "u", "--data-dir", dir).want(t, 2, "--user is for commands that connect to members")
	run(t, "server", "--join", "127.0.0.1:1", "--user", "u", "--data-dir", dir).want(t, 2, "FENCELOCK_CLIENT_PASSWORD")
	run(t, "server", "--join", "127.0.0.1:1", "--endpoints", "127.0.0.1:2", "--data-dir", dir).want(t, 2, "--endpoints is for commands")
}
