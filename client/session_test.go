package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/test/netfault"
)

func TestTTLsThatCannotWorkAreRefused(t *testing.T) {
	c := connect(t, client.Config{Endpoints: []string{"127.0.0.1:1"}})
	for _, ttl := range []time.Duration{0, -1, -time.Second, time.Millisecond, time.Second - 1} {
		start := time.Now()
		if s, err := c.NewSession(t.Context(), ttl); err == nil {
			t.Errorf("NewSession with TTL %v: got lease %x, want an error", ttl, s.Lease())
		} else {
			mustNotBe(t, "NewSession", err, client.ErrUnavailable)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("NewSession with TTL %v took %v, want it refused before any request", ttl, took)
		}
		if ttl == 0 {
			continue // the default, in a Config
		}
		if bad, err := client.New(client.Config{TTL: ttl}); err == nil {
			_ = bad.Close()
			t.Errorf("New with TTL %v: got no error, want one", ttl)
		}
	}
}

func TestTTLIsTheOneThatWasGranted(t *testing.T) {
	cluster := clustertest.Start(t, 1) // with etcd's defaults, under which 2 s is the least
	c := connect(t, client.Config{Endpoints: cluster.Endpoints()})
	etcd := cluster.Client(t)
	for ask, want := range map[time.Duration]time.Duration{
		1 * time.Second:         2 * time.Second,
		2500 * time.Millisecond: 3 * time.Second,
		15 * time.Second:        15 * time.Second,
	} {
		s := session(t, c, ask)
		if got := s.TTL(); got != want {
			t.Errorf("asked for %v: TTL %v, want %v", ask, got, want)
		}
		lease, err := etcd.TimeToLive(t.Context(), clientv3.LeaseID(s.Lease()))
		if err != nil || lease.GrantedTTL != int64(want/time.Second) {
			t.Errorf("asked for %v: the lease is of %v s, %v, want %v", ask, lease, err, want)
		}
	}
	l := hold(t, c, "orders")
	if left := time.Until(l.Deadline()); left > client.DefaultTTL*9/10 || left < client.DefaultTTL/2 {
		t.Errorf("deadline of the default session in %v, want a little less than nine tenths of %v", left, client.DefaultTTL)
	}
}

// A session that asked for less than it was granted lives by what was granted.
func TestShortSessionLives(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Start(t, 1)
	s := session(t, member(t, cluster, "a"), time.Second)
	l := hold(t, s, "orders")
	staysHeld(t, l, 3*s.TTL())
	unlock(t, l)
}

// staysHeld fails if a lock ends within d.
func staysHeld(t *testing.T, l *client.Lock, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-l.Done():
		t.Errorf("the lock ended: %v; want it held for %v", l.Err(), d)
	case <-timer.C:
		if err := l.Err(); err != nil {
			t.Errorf("after %v: got %v, want the lock held", d, err)
		}
	}
}

func TestLostSessionIsReplaced(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "a")
	for range 3 {
		l := hold(t, c, "orders")
		lease := clientv3.LeaseID(claimOf(t, etcd, l).Lease)
		if _, err := etcd.Revoke(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		receive(t, l.Done(), "Done of a lost lock")
		mustBe(t, "Err", l.Err(), client.ErrLost)
		next := hold(t, c, "orders")
		if got := clientv3.LeaseID(claimOf(t, etcd, next).Lease); got == lease {
			t.Errorf("the next lock is bound to the lease %x again, want a fresh one", got)
		}
		if next.Token() <= l.Token() {
			t.Errorf("the next token is %v, want more than %v", next.Token(), l.Token())
		}
		mustBe(t, "the old handle", l.Err(), client.ErrLost)
		unlock(t, next)
	}
}

// Nobody has noticed yet that the session's lease is gone: the client's next call
// finds out and takes a fresh session; a session of one's own is lost.
func TestEnqueueFindsTheLeaseGone(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "a")
	for what, acquire := range map[string]func(context.Context, string) (*client.Lock, error){"Lock": c.Lock, "TryLock": c.TryLock} {
		l := hold(t, c, "orders")
		lease := clientv3.LeaseID(claimOf(t, etcd, l).Lease)
		unlock(t, l)
		if _, err := etcd.Revoke(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		l, err := acquire(t.Context(), "orders")
		if err != nil {
			t.Fatalf("%s after the lease was revoked: got %v, want the lock", what, err)
		}
		unlock(t, l)
	}
	s := session(t, c, time.Minute)
	revoke(t, etcd, s)
	_, err := s.Lock(t.Context(), "orders")
	mustBe(t, "Lock through a lost session", err, client.ErrLost)
	mustBe(t, "its Err", s.Err(), client.ErrLost)
}

func TestSessionsHaveLocksOfTheirOwn(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "a")
	one, two := session(t, c, 5*time.Second), session(t, c, 5*time.Second)
	first, other := hold(t, one, "first"), hold(t, two, "second")
	_, err := two.TryLock(t.Context(), "first")
	mustBe(t, "TryLock of the other session's lock", err, client.ErrLocked)
	revoke(t, etcd, one)
	receive(t, first.Done(), "Done of the lost session's lock")
	receive(t, one.Done(), "Done of the lost session")
	mustBe(t, "Err of the lost session", one.Err(), client.ErrLost)
	if err := errors.Join(two.Err(), other.Err()); err != nil {
		t.Errorf("the other session: got %v, want it alive", err)
	}
}

// soon is how quickly an end from outside is noticed: about a second, with
// something for a loaded machine.
const soon = 2 * time.Second

func TestRevokedLeaseIsNoticed(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	s := session(t, member(t, cluster, "a"), time.Minute) // no renewal for 20 s
	held := map[string]*client.Lock{"just taken": hold(t, s, "orders")}
	revoke(t, etcd, s)
	for what, l := range held {
		receiveWithin(t, soon, l.Done(), "Done of a lock "+what)
		mustBe(t, what, l.Err(), client.ErrLost)
		mustBe(t, what, context.Cause(l.Context()), client.ErrLost)
	}
	receiveWithin(t, soon, s.Done(), "Done of the session")
	mustBe(t, "the session", s.Err(), client.ErrLost)
}

// A claim is deleted by hand and the lock taken by another, while its old owner
// still renews.
func TestBrokenClaimIsNoticed(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	s := session(t, member(t, cluster, "a"), time.Minute)
	old := hold(t, s, "orders")
	bound, cancel := old.Bind(t.Context())
	defer cancel()
	for _, age := range []string{"young", "older"} { // before and after its claim is watched
		t.Run(age, func(t *testing.T) {
			if age == "older" {
				old = hold(t, s, "others")
				staysHeld(t, old, 500*time.Millisecond)
				bound, cancel = old.Bind(t.Context())
				defer cancel()
			}
			if _, err := etcd.Delete(t.Context(), string(claimOf(t, etcd, old).Key)); err != nil {
				t.Fatal(err)
			}
			next := hold(t, member(t, cluster, "b"), old.Name())
			receiveWithin(t, soon, old.Done(), "Done of a broken lock")
			receiveWithin(t, soon, bound.Done(), "Done of a context bound to it")
			mustBe(t, "Err", old.Err(), client.ErrLost)
			mustBe(t, "cause of the bound context", context.Cause(bound), client.ErrLost)
			mustBe(t, "Unlock", old.Unlock(t.Context()), client.ErrLost)
			if got := queueOf(t, etcd, old.Name()); len(got) != 1 || got[0].CreateRevision != int64(next.Token()) {
				t.Errorf("queue %v, want the new holder's claim alone", keysOf(got))
			}
			if err := errors.Join(next.Err(), s.Err()); err != nil {
				t.Errorf("the new holder and the old one's session: got %v, want both alive", err)
			}
		})
	}
}

// All packets vanish, without a reset: the loss is reported by the local clock, at
// the deadline, and the lease is still there then.
func TestLossIsReportedBeforeTheLeaseEnds(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Start(t, 3)
	etcd := cluster.Client(t)
	var endpoints []string
	var stall []func()
	for _, target := range cluster.Endpoints() {
		proxy := netfault.New(t, target)
		endpoints, stall = append(endpoints, proxy.Addr()), append(stall, proxy.Stall)
	}
	s := session(t, connect(t, client.Config{Endpoints: endpoints}), 4*time.Second)
	l := hold(t, s, "orders")
	hold(t, member(t, cluster, "other"), "others")
	waiting := waitFor(t, etcd, s, "others", 2)
	bound, cancel := l.Bind(t.Context())
	defer cancel()
	for _, f := range stall {
		f()
	}
	deadline := l.Deadline()
	receive(t, l.Done(), "Done of a lock without a network")
	late := time.Since(deadline)
	lease, err := etcd.TimeToLive(t.Context(), clientv3.LeaseID(s.Lease()))
	if late < -250*time.Millisecond || late > time.Second {
		t.Errorf("loss was reported %v after the deadline, want at the deadline", late)
	}
	if err != nil || lease.TTL < 0 {
		t.Errorf("the lease after the loss: %v, %v, want it still alive: nobody else may hold before the holder knows", lease, err)
	}
	receive(t, bound.Done(), "Done of the bound context")
	mustBe(t, "a waiting Lock", receiveWithin(t, time.Second, waiting, "a waiting Lock").err, client.ErrLost)
	mustBe(t, "Err", l.Err(), client.ErrLost)
	mustBe(t, "the session", s.Err(), client.ErrLost)
	mustBe(t, "cause of the bound context", context.Cause(bound), client.ErrLost)
	start := time.Now()
	mustBe(t, "Unlock", l.Unlock(t.Context()), client.ErrLost)
	mustBe(t, "Put", second(l.KV().Put(t.Context(), "x", nil)), client.ErrLost)
	if took := time.Since(start); took > time.Second {
		t.Errorf("Unlock and Put of a lost lock took %v, want no request", took)
	}
}

// One member of three hangs while the quorum is healthy.
func TestLockSurvivesAMemberThatHangs(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Start(t, 3)
	var endpoints []string
	var proxies []*netfault.Proxy
	for _, target := range cluster.Endpoints() {
		proxy := netfault.New(t, target)
		endpoints, proxies = append(endpoints, proxy.Addr()), append(proxies, proxy)
	}
	s := session(t, connect(t, client.Config{Endpoints: endpoints}), 2*time.Second)
	l := hold(t, s, "orders")
	proxies[0].Stall()
	staysHeld(t, l, 3*s.TTL()+time.Second)
	unlock(t, l)
	unlock(t, hold(t, s, "orders"))
}

func TestLockSurvivesARestartOfEveryMember(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Start(t, 3)
	s := session(t, member(t, cluster, "a"), 5*time.Second)
	l := hold(t, s, "orders")
	for round := range 2 {
		for i := range 3 {
			if round == 0 {
				cluster.Stop(i)
			} else {
				cluster.Kill(i)
			}
			cluster.Restart(i)
			if err := l.Err(); err != nil {
				t.Fatalf("after member %d was restarted: got %v, want the lock held", i, err)
			}
		}
	}
	staysHeld(t, l, time.Second)
	if got := queueOf(t, cluster.Client(t), "orders"); len(got) != 1 || got[0].CreateRevision != int64(l.Token()) {
		t.Errorf("queue %v, want the claim of token %v", keysOf(got), l.Token())
	}
	unlock(t, l)
}
