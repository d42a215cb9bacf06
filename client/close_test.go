package client_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/test/netfault"
)

func TestCloseGivesBackEverythingAtOnce(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := connect(t, client.Config{Endpoints: cluster.Endpoints()}), member(t, cluster, "b")
	s := session(t, a, time.Minute)
	locks := []*client.Lock{hold(t, a, "one"), hold(t, a, "two"), hold(t, s, "three")}
	waiting := waitFor(t, etcd, b, "one", 2)
	unlock(t, hold(t, b, "other"))
	start := time.Now()
	if err := a.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	got := receive(t, waiting, "a waiter for a lock of the closed client")
	if took := got.at.Sub(start); got.err != nil || took > time.Second {
		t.Errorf("the waiter got %v after %v, want the lock within milliseconds", got.err, took)
	}
	for _, l := range locks {
		receive(t, l.Done(), "Done of a lock that was given back")
		mustBe(t, "Err of a lock that was given back", l.Err(), client.ErrNotHeld, client.ErrClosed)
		mustNotBe(t, "Err of a lock that was given back", l.Err(), client.ErrLost)
		mustBe(t, "Unlock of it", l.Unlock(t.Context()), client.ErrNotHeld, client.ErrClosed)
		mustBe(t, "Put under it", second(l.KV().Put(t.Context(), "x", nil)), client.ErrNotHeld, client.ErrClosed)
	}
	mustBe(t, "Err of a session of its own", s.Err(), client.ErrClosed)
	receive(t, s.Done(), "Done of it")
	if leases, err := etcd.Leases(t.Context()); err != nil || len(leases.Leases) != 1 {
		t.Errorf("leases left: %v, %v, want B's alone", leases, err)
	}
}

func TestAfterCloseEverythingIsErrClosed(t *testing.T) {
	cluster := oneMember(t)
	for how, cfg := range map[string]client.Config{
		"own connection":      {Endpoints: cluster.Endpoints()},
		"somebody's":          {Etcd: cluster.Client(t)},
		"nothing ever locked": {Endpoints: cluster.Endpoints()},
	} {
		t.Run(how, func(t *testing.T) {
			c := connect(t, cfg)
			seq := fencing.Sequencer{Lock: "orders", Token: 1}
			if how != "nothing ever locked" {
				l := hold(t, c, "orders")
				seq = l.Sequencer()
			}
			for range 2 {
				if err := c.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}
			ctx := t.Context()
			for what, call := range map[string]func() error{
				"Lock":       func() error { return second(c.Lock(ctx, "orders")) },
				"TryLock":    func() error { return second(c.TryLock(ctx, "orders")) },
				"Do":         func() error { return c.Do(ctx, "orders", func(context.Context, *client.Lock) error { return nil }) },
				"NewSession": func() error { return second(c.NewSession(ctx, 5*time.Second)) },
				"Inspect":    func() error { return second(c.Inspect(ctx, "orders")) },
				"Locks":      func() error { return second(all(c.Locks(ctx, ""))) },
				"Check":      func() error { return c.Check(ctx, seq) },
				"KV":         func() error { return second(c.KV(seq)) },
			} {
				mustBe(t, what, call(), client.ErrClosed)
			}
		})
	}
}

// all collects what Locks yields.
func all(locks func(func(client.LockInfo, error) bool)) (list []client.LockInfo, err error) {
	for info, e := range locks {
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		list = append(list, info)
	}
	return list, err
}

// A handle for a bare sequencer outlives its client, and says so.
func TestBareHandleOfAClosedClient(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	for how, cfg := range map[string]client.Config{"own connection": {Endpoints: cluster.Endpoints()}, "somebody's": {Etcd: cluster.Client(t)}} {
		holder, service := member(t, cluster, "holder"), connect(t, cfg)
		l := hold(t, holder, "orders")
		used, err := service.KV(l.Sequencer())
		if err != nil {
			t.Fatal(err)
		}
		unused, err := service.KV(l.Sequencer())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := used.Put(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
		if err := service.Close(); err != nil {
			t.Fatal(err)
		}
		mustBe(t, how+": Put", second(used.Put(t.Context(), "x", nil)), client.ErrClosed)
		mustBe(t, how+": Get", second(used.Get(t.Context(), "x")), client.ErrClosed)
		mustBe(t, how+": the first operation", second(unused.Get(t.Context(), "x")), client.ErrClosed)
		unlock(t, l)
	}
}

func TestCloseEndsWaitingCalls(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "orders")
	c := member(t, cluster, "waiter")
	s := session(t, c, time.Minute)
	byDefault := waitFor(t, etcd, c, "orders", 2)
	bySession := waitFor(t, etcd, s, "orders", 3)
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	mustBe(t, "a waiting Lock", receive(t, byDefault, "a waiting Lock").err, client.ErrClosed)
	mustBe(t, "one through a session", receive(t, bySession, "one through a session").err, client.ErrClosed)
	if got := queueOf(t, etcd, "orders"); len(got) != 1 || got[0].CreateRevision != int64(held.Token()) {
		t.Errorf("queue %v after Close, want the holder's claim alone", keysOf(got))
	}
}

func TestSessionCloseEndsItsLocksAlone(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "a")
	s := session(t, c, time.Minute)
	mine, others := hold(t, s, "mine"), hold(t, c, "others")
	waiting := waitFor(t, etcd, s, "others", 2)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	mustBe(t, "a waiting Lock", receive(t, waiting, "a waiting Lock").err, client.ErrClosed)
	mustBe(t, "the session's lock", mine.Err(), client.ErrNotHeld, client.ErrClosed)
	mustBe(t, "Lock through the closed session", second(s.Lock(t.Context(), "more")), client.ErrClosed)
	if got := queueOf(t, etcd, "mine"); len(got) != 0 {
		t.Errorf("queue %v of the session's lock, want none", keysOf(got))
	}
	if err := others.Err(); err != nil {
		t.Errorf("a lock of the default session: got %v, want it held", err)
	}
	unlock(t, hold(t, c, "mine"))
}

// Close hurries calls that nobody answers, and reports them as closed.
func TestCloseEndsCallsThatNobodyAnswers(t *testing.T) {
	cluster := oneMember(t)
	proxy := netfault.New(t, cluster.Endpoint(0))
	proxy.Stall()
	c := connect(t, client.Config{Endpoints: []string{proxy.Addr()}, DialTimeout: time.Minute})
	seq := fencing.Sequencer{Lock: "orders", Token: 1}
	calls := map[string]func(context.Context) error{
		"Lock":       func(ctx context.Context) error { return second(c.Lock(ctx, "orders")) },
		"TryLock":    func(ctx context.Context) error { return second(c.TryLock(ctx, "orders")) },
		"NewSession": func(ctx context.Context) error { return second(c.NewSession(ctx, 5*time.Second)) },
		"Inspect":    func(ctx context.Context) error { return second(c.Inspect(ctx, "orders")) },
		"Locks":      func(ctx context.Context) error { return second(all(c.Locks(ctx, ""))) },
		"Check":      func(ctx context.Context) error { return c.Check(ctx, seq) },
	}
	got := map[string]chan error{}
	for what, call := range calls {
		ended := make(chan error, 1)
		got[what] = ended
		go func() { ended <- call(context.Background()) }()
	}
	if err := proxy.AwaitConnections(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	closeWithin(t, c, 5*time.Second)
	for what, ended := range got {
		mustBe(t, what, receiveWithin(t, 5*time.Second, ended, what+" after Close"), client.ErrClosed)
	}
}

func closeWithin(t *testing.T, c *client.Client, d time.Duration) error {
	t.Helper()
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	return receiveWithin(t, d, closed, "Close")
}

func TestCloseWithNoServerUpReturns(t *testing.T) {
	for how, kill := range map[string]func(*clustertest.Cluster, *netfault.Proxy){
		"killed":  func(cluster *clustertest.Cluster, _ *netfault.Proxy) { cluster.Kill(0) },
		"stalled": func(_ *clustertest.Cluster, proxy *netfault.Proxy) { proxy.Stall() },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			cluster := oneMember(t)
			proxy := netfault.New(t, cluster.Endpoint(0))
			c := connect(t, client.Config{Endpoints: []string{proxy.Addr()}})
			held := hold(t, c, "orders")
			session(t, c, time.Minute)
			session(t, c, time.Minute)
			waiting := waitFor(t, cluster.Client(t), session(t, c, time.Minute), "orders", 2)
			kill(cluster, proxy)
			start := time.Now()
			if err := closeWithin(t, c, limit); err == nil {
				t.Error("close: got no error, want one that says that leases could not be given back")
			}
			if took := time.Since(start); took > 5*time.Second { // closeTime is 2 s, for all sessions together
				t.Errorf("close took %v, want some two seconds", took)
			}
			mustBe(t, "a waiting Lock", receive(t, waiting, "a waiting Lock").err, client.ErrClosed)
			mustBe(t, "a lock", held.Err(), client.ErrNotHeld)
			if err := closeWithin(t, c, time.Second); err != nil {
				t.Errorf("second close: got %v, want nil", err)
			}
		})
	}
}

// One member of three hangs: everything is given back through the others.
func TestCloseLeavesAMemberThatHangs(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Start(t, 3)
	proxy := netfault.New(t, cluster.Endpoint(0))
	c := connect(t, client.Config{Endpoints: append([]string{proxy.Addr()}, cluster.Endpoints()[1:]...)})
	const sessions = 9
	for i := range sessions {
		hold(t, session(t, c, time.Minute), fmt.Sprint("lock", i))
	}
	proxy.Stall()
	start := time.Now()
	if err := closeWithin(t, c, limit); err != nil {
		t.Errorf("close: got %v, want nil", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("close took %v, want at most some two seconds", took)
	}
	for i := range sessions {
		if got := queueOf(t, cluster.MemberClient(t, 1), fmt.Sprint("lock", i)); len(got) != 0 {
			t.Errorf("queue %v after Close, want none", keysOf(got))
		}
	}
}

func TestCloseLeavesTheCallersEtcdClientOpen(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := connect(t, client.Config{Etcd: etcd})
	unlock(t, hold(t, c, "orders"))
	if c.Etcd() != etcd {
		t.Error("Etcd returned another client than the one in Config")
	}
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := etcd.Put(t.Context(), "k", "v"); err != nil {
		t.Errorf("put after Close: %v", err)
	}
	own := connect(t, client.Config{Endpoints: cluster.Endpoints()})
	if err := own.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if resp, err := own.Etcd().Get(ctx, "k"); err == nil {
		t.Errorf("its own etcd client after Close: got %v, want it closed", resp)
	}
}

// Close in the middle of everything: each call ends well, or with ErrClosed.
func TestCloseAmidCalls(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	rng := random(t)
	for range 20 {
		c := connect(t, client.Config{Endpoints: cluster.Endpoints()})
		var calling sync.WaitGroup
		for i := range 4 {
			calling.Go(func() {
				for {
					l, err := c.Lock(context.Background(), "orders")
					if err != nil {
						if !errors.Is(err, client.ErrClosed) {
							t.Errorf("Lock: got %v, want ErrClosed", err)
						}
						return
					}
					if i == 0 {
						_, _ = l.KV().Put(context.Background(), "x", nil)
					}
					err = l.Unlock(context.Background())
					if err != nil && !errors.Is(err, client.ErrNotHeld) && !errors.Is(err, client.ErrUncertain) {
						t.Errorf("Unlock: got %v, want nil, ErrNotHeld or ErrUncertain", err)
					}
				}
			})
		}
		timer := time.NewTimer(time.Duration(rng.IntN(20)) * time.Millisecond)
		<-timer.C
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		calling.Wait()
		if got := queueOf(t, etcd, "orders"); len(got) != 0 {
			t.Errorf("queue %v after Close, want none", keysOf(got))
		}
	}
}
