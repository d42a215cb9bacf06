package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

const piece = 256 << 10

// fill puts n pieces under a prefix, and stops when the store is full.
func fill(t *testing.T, etcd *clientv3.Client, prefix string, n int) (full bool) {
	t.Helper()
	value := strings.Repeat("x", piece)
	for i := range n {
		_, err := etcd.Put(testContext(t), fmt.Sprintf("%s/%d", prefix, i), value)
		if errors.Is(err, rpctypes.ErrNoSpace) {
			return true
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return false
}

// A full store: what holds goes on, the errors say what to do, and one command is
// the way out, as soon as there is one.
func TestFullStore(t *testing.T) {
	members := clustertest.StartConfig(t, clustertest.Config{Edit: func(_ int, cfg *cluster.Config) { cfg.Quota = 16 << 20 }})
	c, etcd := at(members.Endpoints()...), members.Client(t)
	c.run("alarm", "list", "-o", "json").want(t, codeOK).prints(t, "[]\n")
	c.run("alarm", "clear").want(t, codeOK)

	holder := newTestClient(t, members.Endpoints())
	session, err := holder.NewSession(testContext(t), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	held, err := session.Lock(testContext(t), "held")
	if err != nil {
		t.Fatal(err)
	}
	other := mustLock(t, holder, "other")
	if _, err := held.KV().Put(testContext(t), "k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	if !fill(t, etcd, "ballast", 200) {
		t.Fatal("the store does not get full")
	}
	began := time.Now()
	if out := c.run("alarm", "list").want(t, codeOK).stdout; !strings.Contains(out, "NOSPACE") {
		t.Errorf("alarm list %q, want NOSPACE", out)
	}
	if _, err := holder.TryLock(testContext(t), "new"); err == nil || !strings.Contains(err.Error(), "store is full") || !strings.Contains(err.Error(), "fencelock alarm clear") {
		t.Errorf("a new lock: got %v, want that the store is full, and what to do", err)
	}
	c.run("kv", "put", "held", "k", "w", "--sequencer", held.Sequencer().String()).want(t, codeUncertain, "store is full")
	c.run("kv", "get", "held", "k", "--sequencer", held.Sequencer().String()).want(t, codeOK)
	c.run("kv", "del", "held", "k", "--sequencer", held.Sequencer().String()).want(t, codeOK)
	if err := other.Unlock(testContext(t)); err != nil {
		t.Errorf("unlock while the store is full: %v", err)
	}
	refill(t, c, etcd)

	await(t, "7 s, longer than the lock's TTL", func() bool { return time.Since(began) > 7*time.Second })
	if err := held.Err(); err != nil {
		t.Errorf("held while the store was full, and renewed: %v", err)
	}
	if _, err := etcd.Delete(testContext(t), "ballast", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	out := c.run("alarm", "clear").want(t, codeOK).stdout
	if got := strings.Count(out, "m"); got < 3 {
		t.Errorf("alarm clear prints %q, want three members", out)
	}
	c.run("alarm", "list", "-o", "json").want(t, codeOK).prints(t, "[]\n")
	mustLock(t, holder, "new")
	if err := held.Unlock(testContext(t)); err != nil {
		t.Errorf("unlock at the end: %v", err)
	}
}

// refill fills what clearing the alarm gives back, until that is so little that the
// alarm stays.
func refill(t *testing.T, c caller, etcd *clientv3.Client) {
	t.Helper()
	for i := range 10 {
		r := c.run("alarm", "clear")
		if r.code != codeOK {
			r.want(t, codeFailure, "the alarm stays", "--quota")
			return
		}
		if !fill(t, etcd, fmt.Sprintf("ballast/%d", i), 200) {
			t.Fatal("the store does not get full")
		}
	}
	t.Error("the alarm was cleared, although the store was full of data")
}

// await polls, with a deadline.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for ctx := testContext(t); !holds(); {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// hollow makes a store large and mostly empty, on every member.
func hollow(t *testing.T, etcd *clientv3.Client) {
	t.Helper()
	fill(t, etcd, "ballast", 160)
	r, err := etcd.Delete(testContext(t), "ballast", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.Compact(testContext(t), r.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	await(t, "the pages are free", func() bool {
		for _, endpoint := range etcd.Endpoints() {
			s, err := etcd.Status(testContext(t), endpoint)
			if err != nil || s.DbSizeInUse > 160*piece/4 { // not a share of the size: some members shrink at once
				return false
			}
		}
		return true
	})
}

// workers hold locks of 5 s, and hand others over, until told to stop; every loss
// is an error of the test.
func workers(t *testing.T, endpoints []string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(testContext(t))
	var all sync.WaitGroup
	c := newTestClient(t, endpoints)
	for i := range 4 {
		s, err := c.NewSession(ctx, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		held, err := s.Lock(ctx, fmt.Sprintf("held/%d", i))
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for ctx.Err() == nil {
				passAround(ctx, t, s)
			}
			if err := held.Unlock(context.Background()); err != nil {
				t.Errorf("a lock that was held throughout: %v", err)
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

func passAround(ctx context.Context, t *testing.T, s *client.Session) {
	l, err := s.Lock(ctx, "passed/around")
	if err != nil {
		if ctx.Err() == nil {
			t.Errorf("lock: %v", err)
		}
		return
	}
	if err := l.Unlock(context.Background()); err != nil {
		t.Errorf("unlock: %v", err)
	}
}

// Defragmentation by hand loses no lock of 5 s, whoever leads.
func TestDefrag(t *testing.T) {
	members := clustertest.Start(t, 3)
	c, etcd := at(members.Endpoints()...), members.Client(t)
	stop := workers(t, members.Endpoints())
	c.run("defrag").want(t, codeOK)
	hollow(t, etcd)
	leader := members.Leader(t.Context())
	list := decode(t, c.run("defrag", "-o", "json").want(t, codeOK).stdout).([]any)
	if len(list) != 3 {
		t.Fatalf("defrag: %v, want three members", list)
	}
	for i, m := range list {
		m := m.(map[string]any)
		if m["skipped"] != false || m["after"].(float64) > m["before"].(float64)/2 {
			t.Errorf("member %v: want it to shrink", m)
		}
		if last := m["name"] == fmt.Sprintf("m%d", leader); last != (i == 2) {
			t.Errorf("%v was number %d; the leader, m%d, should come last", m["name"], i, leader)
		}
		t.Logf("member %v: %v", m["name"], m["took_ms"])
	}
	if members.Leader(t.Context()) == leader {
		t.Error("the leader was defragmented while it led")
	}
	list = decode(t, c.run("defrag", "-o", "json").want(t, codeOK).stdout).([]any)
	if m := list[0].(map[string]any); m["skipped"] != true {
		t.Errorf("a second time: %v, want it skipped", m)
	}
	c.run("defrag", "--now").want(t, codeOK)
	stop()
}

// Members do it by themselves, one at a time, and lose no lock of 5 s either.
func TestScheduledDefrag(t *testing.T) {
	members := clustertest.StartConfig(t, clustertest.Config{Edit: func(_ int, cfg *cluster.Config) {
		cfg.Defrag = cluster.Defrag{Every: 4 * time.Second, Share: .5, Least: 8 << 20}
	}})
	etcd := members.Client(t)
	stop := workers(t, members.Endpoints())
	hollow(t, etcd)
	c := at(members.Endpoints()...)
	await(t, "every member has shrunk", func() bool {
		state := decode(t, c.run("status", "-o", "json").stdout).(map[string]any)
		for _, e := range state["endpoints"].([]any) {
			if e.(map[string]any)["db_size"].(float64) > 8<<20 {
				return false
			}
		}
		return true
	})
	stop()
	await(t, "the turn is given back", func() bool {
		ttl, err := etcd.TimeToLive(testContext(t), cluster.TurnLease)
		return err == nil && ttl.TTL < 0
	})
}
