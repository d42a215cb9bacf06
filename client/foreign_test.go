package client_test

import (
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/test/netfault"
)

// foreignMutex is etcd's own lock recipe on the queue of a fencelock lock.
func foreignMutex(t *testing.T, etcd *clientv3.Client, name string) *concurrency.Mutex {
	t.Helper()
	s, err := concurrency.NewSession(etcd, concurrency.WithTTL(60))
	if err != nil {
		t.Fatalf("etcd's session: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return concurrency.NewMutex(s, "fencelock/lock/"+name+"/@")
}

func goForeign(m *concurrency.Mutex) <-chan error {
	got := make(chan error, 1)
	go func() { got <- m.Lock(context.Background()) }()
	return got
}

func TestForeignMutexExcludesLock(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "ours")
	mutex := foreignMutex(t, etcd, "orders")
	if err := mutex.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := c.TryLock(t.Context(), "orders")
	mustBe(t, "TryLock", err, client.ErrLocked)
	if err != nil && !strings.Contains(err.Error(), mutex.Key()) {
		t.Errorf("TryLock: got %q, want it to name the key %s, since its owner has no name", err, mutex.Key())
	}
	waiting := waitFor(t, etcd, c, "orders", 2)
	if err := mutex.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	unlock(t, granted(t, waiting))
}

func TestLockExcludesForeignMutex(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "ours"), "orders")
	mutex := foreignMutex(t, etcd, "orders")
	if err := mutex.TryLock(t.Context()); err != concurrency.ErrLocked {
		t.Errorf("etcd's TryLock: got %v, want %v", err, concurrency.ErrLocked)
	}
	waiting := goForeign(mutex)
	awaitQueue(t, etcd, "orders", 2)
	unlock(t, held)
	if err := receive(t, waiting, "etcd's Lock"); err != nil {
		t.Errorf("etcd's Lock: %v", err)
	}
}

func TestForeignAndOurWaitersShareOneQueue(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	first := hold(t, member(t, cluster, "first"), "orders")
	order := make(chan string, 4)
	for i := range cap(order) {
		if i%2 == 0 {
			mutex := foreignMutex(t, etcd, "orders")
			go func() {
				_ = mutex.Lock(context.Background())
				order <- "foreign"
				_ = mutex.Unlock(context.Background())
			}()
		} else {
			c := member(t, cluster, "ours")
			go func() {
				if l, err := c.Lock(context.Background(), "orders"); err == nil {
					order <- "ours"
					_ = l.Unlock(context.Background())
				}
			}()
		}
		awaitQueue(t, etcd, "orders", i+2)
	}
	unlock(t, first)
	for i, want := range []string{"foreign", "ours", "foreign", "ours"} {
		if got := receive(t, order, "the next holder"); got != want {
			t.Errorf("holder %d was %s, want %s", i, got, want)
		}
	}
}

// A key without a lease never ends by itself: nobody may wait for it silently.
func TestKeyWithoutALeaseIsReported(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "ours")
	key := queuePrefix("orders") + "someone"
	put, err := etcd.Put(t.Context(), key, `{"owner":"somebody"}`)
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"Lock":    receive(t, goLock(t.Context(), c, "orders"), "Lock").err,
		"TryLock": second(c.TryLock(t.Context(), "orders")),
	} {
		lockedError(t, what, err, "somebody", fencing.Token(put.Header.Revision))
		if err != nil && !strings.Contains(err.Error(), key) {
			t.Errorf("%s: got %q, want it to name the key %s", what, err, key)
		}
	}
	if got := keysOf(queueOf(t, etcd, "orders")); len(got) != 1 || got[0] != key {
		t.Errorf("queue %v, want %s alone: it is not ours to delete", got, key)
	}
}

// Such a key is seen too when it was not there, or not next, at first.
func TestKeyWithoutALeaseBehindAnotherIsReported(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "orders")
	key := queuePrefix("orders") + "someone"
	if _, err := etcd.Put(t.Context(), key, ""); err != nil {
		t.Fatal(err)
	}
	got := receive(t, goLock(t.Context(), member(t, cluster, "ours"), "orders"), "Lock behind a key without a lease")
	mustBe(t, "Lock", got.err, client.ErrLocked)
	if got.err != nil && !strings.Contains(got.err.Error(), key) {
		t.Errorf("got %q, want it to name the key %s", got.err, key)
	}
	if err := held.Err(); err != nil {
		t.Errorf("the holder: got %v, want it undisturbed", err)
	}
}

func second[A any, B any](_ A, b B) B { return b }

// Foreign clients put the same key again: it stands at the tail then, and nobody
// who came before waits for it.
func TestForeignKeyThatComesBackKeepsNobodyWaiting(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	lease, err := etcd.Grant(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	put := func(key string) {
		t.Helper()
		if _, err := etcd.Put(t.Context(), key, "", clientv3.WithLease(lease.ID)); err != nil {
			t.Fatal(err)
		}
	}
	for how, stall := range map[string]bool{"while it looks": false, "while it hears nothing": true} {
		t.Run(how, func(t *testing.T) {
			proxy := netfault.New(t, cluster.Endpoint(0))
			c := connect(t, client.Config{Endpoints: []string{proxy.Addr()}, TTL: time.Minute})
			key := queuePrefix(how) + "foreign"
			put(key)
			waiting := waitFor(t, etcd, c, how, 2)
			if stall {
				proxy.Stall()
			}
			if _, err := etcd.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			put(key)
			proxy.Pass()
			got := receiveWithin(t, 10*time.Second, waiting, "a waiter behind a key that came back")
			if got.err != nil {
				t.Errorf("got %v, want the lock", got.err)
			}
		})
	}
}

// A key without a lease at the head, and a foreign waiter between it and us: it
// never ends by itself, which is reported soon, and not when the time is over.
func TestKeyWithoutALeaseFarAheadIsReported(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	putClaim(t, etcd, 0, "orders", 0, keys.ClaimValue{Mode: keys.Exclusive})
	waiter := foreignMutex(t, etcd, "orders")
	foreign, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := make(chan error, 1)
	go func() { gone <- waiter.Lock(foreign) }()
	awaitQueue(t, etcd, "orders", 2)
	got := receive(t, goLock(t.Context(), member(t, cluster, "ours"), "orders"), "a Lock without a time limit")
	mustBe(t, "Lock", got.err, client.ErrLocked)
	if got.err != nil && !strings.Contains(got.err.Error(), "fencelock/lock/orders/@/0-0 has no lease") {
		t.Errorf("got %q, want it to name the key", got.err)
	}
	cancel()
	receive(t, gone, "the foreign waiter")
	awaitQueue(t, etcd, "orders", 1)
}
