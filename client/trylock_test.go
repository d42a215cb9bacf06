package client_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

// lockedError checks that err says who holds the lock.
func lockedError(t *testing.T, what string, err error, owner string, token fencing.Token) {
	t.Helper()
	mustBe(t, what, err, client.ErrLocked)
	var locked *client.LockedError
	if !errors.As(err, &locked) {
		t.Errorf("%s: got error %v, want a *LockedError", what, err)
		return
	}
	if locked.Holder.Owner != owner || locked.Holder.Token != token {
		t.Errorf("%s: holder %q with token %v, want %q with %v", what, locked.Holder.Owner, locked.Holder.Token, owner, token)
	}
	if text := err.Error(); !strings.Contains(text, owner) || !strings.Contains(text, token.String()) {
		t.Errorf("%s: error %q, want one that names %s and %v", what, text, owner, token)
	}
}

func TestTryLockTakesAFreeLock(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	for range 3 {
		l, err := a.TryLock(t.Context(), "orders")
		if err != nil {
			t.Fatal(err)
		}
		if got := queueOf(t, etcd, "orders"); len(got) != 1 || got[0].CreateRevision != int64(l.Token()) {
			t.Errorf("queue %v, want the claim of token %v alone", keysOf(got), l.Token())
		}
		if _, err := l.KV().Put(t.Context(), "x", []byte("1")); err != nil {
			t.Errorf("put under the lock: %v", err)
		}
		_, err = b.TryLock(t.Context(), "orders")
		lockedError(t, "TryLock of a held lock", err, "a", l.Token())
		unlock(t, l)
	}
}

func TestRefusedTryWritesNothing(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "a"), "orders")
	b := member(t, cluster, "b")
	waiting := waitFor(t, etcd, member(t, cluster, "c"), "orders", 2)
	unlock(t, hold(t, b, "other")) // B's session is there
	before, entries := revision(t, etcd), raftIndex(t, etcd)
	for range 20 {
		_, err := b.TryLock(t.Context(), "orders")
		lockedError(t, "TryLock", err, "a", held.Token())
	}
	if got := revision(t, etcd); got != before {
		t.Errorf("refused tries moved the revision from %d to %d, want no write", before, got)
	}
	if got := raftIndex(t, etcd); got != entries {
		t.Errorf("refused tries made %d entries in the Raft log, want none: they would cost every member a transaction", got-entries)
	}
	unlock(t, held)
	unlock(t, granted(t, waiting))
}

// raftIndex counts the entries of the Raft log.
func raftIndex(t *testing.T, etcd *clientv3.Client) uint64 {
	t.Helper()
	status, err := etcd.Status(t.Context(), etcd.Endpoints()[0])
	if err != nil {
		t.Fatalf("status: %v", err)
	}
	return status.RaftIndex
}

// Somebody takes the lock between a try's look and its put: the try is refused, and
// never stands in the queue.
func TestTryThatIsOvertakenWaitsForNobody(t *testing.T) {
	for name, try := range map[string]func(*client.Client) error{
		"TryLock":       func(c *client.Client) error { return second(c.TryLock(context.Background(), "orders")) },
		"TryLockShared": func(c *client.Client) error { return second(c.TryLockShared(context.Background(), "orders")) },
		"TryLockAll":    func(c *client.Client) error { return second(c.TryLockAll(context.Background(), "orders", "stock")) },
	} {
		t.Run(name, func(t *testing.T) {
			cluster := oneMember(t)
			etcd := cluster.Client(t)
			var f faults
			c := connect(t, client.Config{Etcd: f.client(t, cluster)})
			faster := member(t, cluster, "faster")
			var held *client.Lock
			f.set(1, func(txn *pb.TxnRequest) bool { return len(txn.Compare) > 0 }, func(send func() error, _ context.Context) error {
				held = hold(t, faster, "orders")
				return send()
			})
			tried := make(chan error, 1)
			go func() { tried <- try(c) }()
			lockedError(t, name, receiveWithin(t, 5*time.Second, tried, "a try"), "faster", held.Token())
			if got := queueOf(t, etcd, "orders"); len(got) != 1 {
				t.Errorf("queue %v, want the claim of the faster one alone", keysOf(got))
			}
			unlock(t, held)
		})
	}
}

func TestOneOfTwentyRacersWins(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b"), member(t, cluster, "c"), member(t, cluster, "d")}
	ctx := bounded(t)
	for range 20 {
		var mu sync.Mutex
		var won []*client.Lock
		var refused []error
		var racing sync.WaitGroup
		start := make(chan struct{})
		for i := range 20 {
			racing.Go(func() {
				<-start
				l, err := clients[i%4].TryLock(ctx, "orders")
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, l)
				} else {
					refused = append(refused, err)
				}
			})
		}
		close(start)
		racing.Wait()
		if len(won) != 1 {
			t.Fatalf("%d racers won, want one; the others: %v", len(won), refused)
		}
		for _, err := range refused {
			var locked *client.LockedError
			if !errors.As(err, &locked) || locked.Holder.Token != won[0].Token() {
				t.Errorf("a racer got %v, want locked by token %v", err, won[0].Token())
			}
		}
		if got := queueOf(t, etcd, "orders"); len(got) != 1 {
			t.Errorf("queue %v, want one claim", keysOf(got))
		}
		unlock(t, won[0])
	}
}

// A try that leaves early leaves nothing behind.
func TestCancelledTryLeavesNothing(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	var f faults
	c := connect(t, client.Config{Etcd: f.client(t, cluster)})
	unlock(t, hold(t, c, "orders"))
	ctx, cancel := context.WithCancel(t.Context())
	f.set(1, claimPut("orders"), func(send func() error, _ context.Context) error {
		cancel() // while the request is under way
		return send()
	})
	_, err := c.TryLock(ctx, "orders")
	mustBe(t, "TryLock", err, context.Canceled)
	if got := queueOf(t, etcd, "orders"); len(got) != 0 {
		t.Errorf("queue %v after the cancelled try, want none", keysOf(got))
	}
}

// While the holders change all the time, each refusal names one of them.
func TestTryLockAmidHandOversNamesAHolder(t *testing.T) {
	cluster := oneMember(t)
	c := member(t, cluster, "b")
	ctx, cancel := context.WithCancel(t.Context())
	var churning sync.WaitGroup
	for _, owner := range []string{"a1", "a2"} {
		a := member(t, cluster, owner)
		churning.Go(func() {
			for ctx.Err() == nil {
				if l, err := a.Lock(ctx, "orders"); err == nil {
					_ = l.Unlock(ctx)
				}
			}
		})
	}
	refused, won := 0, 0
	for deadline := time.Now().Add(limit); refused < 300 && time.Now().Before(deadline); {
		l, err := c.TryLock(ctx, "orders")
		var locked *client.LockedError
		switch {
		case err == nil:
			won++
			unlock(t, l)
		case !errors.As(err, &locked) || locked.Holder.Owner != "a1" && locked.Holder.Owner != "a2":
			t.Fatalf("got %v, want a lock, or locked by a1 or a2", err)
		default:
			refused++
		}
	}
	cancel()
	churning.Wait()
	t.Logf("%d tries refused, %d won", refused, won)
	if refused < 300 {
		t.Errorf("%d tries were refused, want 300", refused)
	}
}
