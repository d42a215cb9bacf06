package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
)

// trio is a cluster of three real processes.
type trio struct {
	clients, metrics []string
	args             [][]string
	running          []*process
}

func startTrio(t *testing.T) *trio {
	t.Helper()
	var c trio
	peers := []string{freeAddress(t), freeAddress(t), freeAddress(t)}
	for i := range peers {
		c.clients, c.metrics = append(c.clients, freeAddress(t)), append(c.metrics, freeAddress(t))
		c.args = append(c.args, []string{"server", "--peers", strings.Join(peers, ","), "--name", peers[i], "--listen-peer", peers[i],
			"--data-dir", filepath.Join(t.TempDir(), "data"), "--listen-client", c.clients[i], "--listen-metrics", c.metrics[i]})
		c.running = append(c.running, start(t, c.args[i]...))
	}
	for _, p := range c.running {
		p.await(t, "ready ")
	}
	return &c
}

// restart is what an operator does with one member: SIGTERM, the same command
// again, and on to the next when it is ready.
func (c *trio) restart(t *testing.T, i int) {
	t.Helper()
	if code, rest := c.running[i].end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("member %d: exit code %d, want 0; standard error %q", i, code, rest)
	}
	c.running[i] = start(t, c.args[i]...)
	c.running[i].await(t, "ready ")
	resp, err := http.Get("http://" + c.metrics[i] + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("member %d printed its ready line, and /readyz says %d", i, resp.StatusCode)
	}
}

// leader is the number of the member that leads.
func (c *trio) leader(t *testing.T, etcd *client.Client) int {
	t.Helper()
	for i, endpoint := range c.clients {
		s, err := etcd.Etcd().Status(t.Context(), endpoint)
		if err == nil && s.Leader == s.Header.MemberId {
			return i
		}
	}
	t.Fatal("no leader")
	return -1
}

// outage is the longest time without an answer that a worker has seen.
type outage struct {
	mu      sync.Mutex
	longest time.Duration
}

func (o *outage) saw(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.longest = max(o.longest, d)
}

// load locks, writes behind the fence and unlocks, over and over, and says how
// long that took at the longest. Every error is one of the test.
func load(ctx context.Context, t *testing.T, c *client.Client, name string, o *outage) {
	for ctx.Err() == nil {
		began := time.Now()
		l, err := c.Lock(ctx, name)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("lock %s: %v", name, err)
			}
			return
		}
		if _, err := l.KV().Put(context.Background(), "k", []byte("v")); err != nil {
			t.Errorf("put behind %s after %v: %v", name, time.Since(began), err)
		}
		if err := l.Unlock(context.Background()); err != nil {
			t.Errorf("unlock %s after %v: %v", name, time.Since(began), err)
		}
		o.saw(time.Since(began))
	}
}

// Three members restarted in turn, twice, under load: locks that are held stay
// held, no request fails, and none takes longer than an election.
func TestRollingRestart(t *testing.T) {
	c := startTrio(t)
	holder, err := client.New(client.Config{Endpoints: c.clients, TTL: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	held, err := holder.Lock(t.Context(), "held")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var workers sync.WaitGroup
	var o outage
	for i := range 6 {
		workers.Go(func() { load(ctx, t, holder, fmt.Sprintf("busy/%d", i), &o) })
	}
	for range 2 {
		for i := range c.running {
			c.restart(t, i)
		}
	}
	leader := c.leader(t, holder) // once more for certain
	c.restart(t, leader)
	if c.leader(t, holder) == leader {
		t.Error("the leader leads again, so it has not handed over")
	}
	cancel()
	workers.Wait()
	if err := held.Err(); err != nil {
		t.Errorf("the lock that was held: %v", err)
	}
	if err := held.Unlock(context.Background()); err != nil {
		t.Errorf("the lock that was held: %v", err)
	}
	t.Logf("longest lock, write and unlock during 7 restarts: %v", o.longest.Round(time.Millisecond))
	if limit := 4 * time.Second; o.longest > limit {
		t.Errorf("a lock, write and unlock took %v, want less than %v: an election and its time-out are 1 s to 2 s", o.longest, limit)
	}
	for _, p := range c.running {
		p.end(t, syscall.SIGTERM)
	}
	http.DefaultClient.CloseIdleConnections()
}
