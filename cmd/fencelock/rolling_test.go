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
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// rolling is a cluster of three real processes that are restarted one by one.
type rolling struct {
	clients, metrics []string
	args             [][]string
	running          []*process
}

func startRolling(t *testing.T) *rolling {
	t.Helper()
	var c rolling
	peers := []string{clustertest.FreeAddress(t), clustertest.FreeAddress(t), clustertest.FreeAddress(t)}
	for i := range peers {
		c.clients, c.metrics = append(c.clients, clustertest.FreeAddress(t)), append(c.metrics, clustertest.FreeAddress(t))
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
func (c *rolling) restart(t *testing.T, i int) {
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
func (c *rolling) leader(t *testing.T, etcd *client.Client) int {
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

// outage is the longest time in which nobody was served.
type outage struct {
	mu        sync.Mutex
	last      time.Time // when somebody was
	longest   time.Duration
	slowest   time.Duration // of a single lock, write and unlock
	uncertain int           // writes that got no answer, and were repeated
}

func (o *outage) served(took time.Duration, uncertain int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.last.IsZero() {
		o.longest = max(o.longest, time.Since(o.last))
	}
	o.last = time.Now()
	o.slowest = max(o.slowest, took)
	o.uncertain += uncertain
}

// put writes until that is certain. A proposal may get lost while leadership moves.
func put(t *testing.T, l *client.Lock) (uncertain int) {
	for {
		_, err := l.KV().Put(context.Background(), "k", []byte("v"))
		if !errors.Is(err, client.ErrUncertain) || uncertain == 10 {
			if err != nil {
				t.Errorf("put: %v", err)
			}
			return uncertain
		}
		uncertain++
	}
}

// load locks, writes behind the fence and unlocks, over and over. An error is one
// of the test, but for a write without an answer.
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
		uncertain := put(t, l)
		if err := l.Unlock(context.Background()); err != nil {
			t.Errorf("unlock %s after %v: %v", name, time.Since(began), err)
		}
		o.served(time.Since(began), uncertain)
	}
}

// Three members restarted in turn, twice, under load: locks that are held stay
// held, and nobody is served for no longer than an election takes.
func TestRollingRestart(t *testing.T) {
	c := startRolling(t)
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
	t.Logf("7 restarts: %v without service; the slowest lock, write and unlock took %v; %d writes were repeated",
		o.longest.Round(time.Millisecond), o.slowest.Round(time.Millisecond), o.uncertain)
	if limit := 5 * time.Second; o.longest > limit { // of which 3 s are for a loaded machine
		t.Errorf("nobody was served for %v, want less than %v: the election time-out is 1 s to 2 s", o.longest, limit)
	}
	for _, p := range c.running {
		p.end(t, syscall.SIGTERM)
	}
	http.DefaultClient.CloseIdleConnections()
}
