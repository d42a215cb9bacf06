package clustertest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func put(t *testing.T, etcd *clientv3.Client, value string) {
	t.Helper()
	if _, err := etcd.Put(t.Context(), "k", value); err != nil {
		t.Fatalf("put %q: %v", value, err)
	}
}

func get(t *testing.T, etcd *clientv3.Client, opts ...clientv3.OpOption) string {
	t.Helper()
	r, err := etcd.Get(t.Context(), "k", opts...)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	if len(r.Kvs) == 0 {
		return ""
	}
	return string(r.Kvs[0].Value)
}

func TestStartSizes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			began := time.Now()
			c := clustertest.Start(t, n)
			t.Logf("%d members started in %v", n, time.Since(began).Round(time.Millisecond))
			if got := len(c.Endpoints()); got != n {
				t.Errorf("got %d endpoints, want %d", got, n)
			}
			put(t, c.Client(t), "v")
			for i := range n {
				if got := get(t, c.MemberClient(t, i)); got != "v" {
					t.Errorf("member %d: got %q, want %q", i, got, "v")
				}
			}
		})
	}
}

// A member that was killed comes back with what it has missed.
func TestKillRestart(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 3)
	etcd := c.Client(t)
	put(t, etcd, "before")
	leader := c.Leader(t.Context())
	c.Kill(leader)
	if next := c.Leader(t.Context()); next == leader {
		t.Fatalf("member %d leads after it was killed", leader)
	}
	put(t, etcd, "while away")
	c.Restart(leader)
	if got, want := get(t, c.MemberClient(t, leader)), "while away"; got != want {
		t.Errorf("restarted member: got %q, want %q", got, want)
	}
}

// All members at once: they need each other to become ready.
func TestRestartAll(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 3)
	endpoints := c.Endpoints()
	put(t, c.Client(t), "v")
	for i := range 3 {
		c.Kill(i)
	}
	began := time.Now()
	c.Restart()
	t.Logf("3 members restarted in %v", time.Since(began).Round(time.Millisecond))
	if got := c.Endpoints(); !slices.Equal(got, endpoints) {
		t.Errorf("endpoints after the restart: got %v, want %v", got, endpoints)
	}
	if got := get(t, c.Client(t)); got != "v" {
		t.Errorf("got %q, want %q", got, "v")
	}
}

// linearizable reads through a member, for two election time-outs of the tests
// below.
func linearizable(t *testing.T, etcd *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := etcd.Get(ctx, "k")
	return err
}

func TestIsolate(t *testing.T) {
	t.Parallel()
	c := clustertest.StartConfig(t, clustertest.Config{Heartbeat: 50 * time.Millisecond, Election: 500 * time.Millisecond})
	for _, who := range []string{"leader", "follower"} {
		t.Run(who, func(t *testing.T) {
			i := c.Leader(t.Context())
			if who == "follower" {
				i = (i + 1) % 3
			}
			put(t, c.MemberClient(t, i), "old")
			c.Isolate(i)
			checkIsolated(t, c, i)
			c.Heal(i)
			if got := get(t, c.MemberClient(t, i)); got != "new" {
				t.Errorf("healed member: got %q, want %q", got, "new")
			}
		})
	}
}

func checkIsolated(t *testing.T, c *clustertest.Cluster, i int) {
	t.Helper()
	isolated := c.MemberClient(t, i)
	put(t, c.MemberClient(t, (i+1)%3), "new") // the majority goes on
	if err := linearizable(t, isolated); err == nil {
		t.Error("linearizable read through the isolated member: got a reply, want none")
	}
	if got := get(t, isolated, clientv3.WithSerializable()); got != "old" {
		t.Errorf("serializable read through the isolated member: got %q, want %q", got, "old")
	}
	lease, err := c.MemberClient(t, (i+2)%3).Grant(t.Context(), 30)
	if err != nil {
		t.Fatalf("grant through the majority: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := isolated.KeepAliveOnce(ctx, lease.ID); err == nil {
		t.Error("renewal through the isolated member: got a reply, want none")
	}
}

// Two members cut off from a third, and from each other; healed one by one.
func TestTwoCuts(t *testing.T) {
	t.Parallel()
	c := clustertest.StartConfig(t, clustertest.Config{Heartbeat: 50 * time.Millisecond, Election: 500 * time.Millisecond})
	c.Isolate(0)
	c.Isolate(1)
	if err := linearizable(t, c.MemberClient(t, 2)); err == nil {
		t.Error("read without a majority: got a reply, want none")
	}
	c.Stop(0)
	c.Heal(0)
	c.Heal(1)
	c.Restart(0)
	put(t, c.MemberClient(t, 0), "v")
}

func TestEdit(t *testing.T) {
	t.Parallel()
	const limit = 2048
	c := clustertest.StartConfig(t, clustertest.Config{
		Members: 1,
		Edit:    func(_ int, cfg *cluster.Config) { cfg.MaxRequestBytes = limit },
	})
	if _, err := c.Client(t).Put(t.Context(), "k", string(make([]byte, 2*limit))); err == nil {
		t.Errorf("put of %d bytes: got no error, want one", 2*limit)
	}
}
