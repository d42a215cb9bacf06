package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
)

// eachWay runs a test for every way to hold something.
func eachWay(t *testing.T, test func(t *testing.T, w way)) {
	for name, w := range ways() {
		t.Run(name, func(t *testing.T) { test(t, w) })
	}
}

// stillHeld checks that a handle holds, with its claims alone in the queues.
func stillHeld(t *testing.T, f *faulty, w way, h anyHandle) {
	t.Helper()
	awaitClaims(t, f.etcd, w.under, w.claims)
	if err := h.Err(); err != nil {
		t.Errorf("got %v, want it held", err)
	}
}

func giveBack(t *testing.T, h anyHandle) {
	t.Helper()
	if err := h.release(context.Background()); err != nil {
		t.Errorf("release: %v", err)
	}
}

// The claims were put and the answer got lost: they are not adopted, nor in the way.
func TestEveryEnqueueWithoutAnAnswer(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		f := newFaulty(t, 3*time.Second)
		f.faults.set(1, w.enqueue, loseReply)
		h := w.get(t, f.Session)
		stillHeld(t, f, w, h)
		giveBack(t, h)
		awaitClaims(t, f.etcd, w.under, 0)
	})
}

// The enqueue lands while the session holds with other claims, and after that.
func TestEveryEnqueueThatLandsLate(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		f := newFaulty(t, 600*time.Millisecond)
		giveBack(t, w.get(t, f.Session)) // a semaphore has its limit now
		late := f.faults.set(1, w.enqueue, swallow)
		h := w.get(t, f.Session)
		request := receive(t, late.Taken, "the first enqueue")
		if !land(t, f.etcd, request) {
			t.Fatal("the late enqueue put nothing")
		}
		stillHeld(t, f, w, h)
		giveBack(t, h)
		awaitClaims(t, f.etcd, w.under, 0)
		if !land(t, f.etcd, request) { // as a member may that was cut off
			t.Fatal("the late enqueue put nothing")
		}
		h = w.get(t, f.Session)
		stillHeld(t, f, w, h)
		giveBack(t, h)
	})
}

// The caller has left, and the enqueue lands after that.
func TestEveryCancelledEnqueueThatLandsLate(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		f := newFaulty(t, 600*time.Millisecond)
		giveBack(t, w.get(t, f.Session))
		late := f.faults.set(1, w.enqueue, swallow)
		ctx, cancel := context.WithCancel(t.Context())
		acquiring := w.goGet(ctx, f.Session)
		request := receive(t, late.Taken, "the enqueue")
		cancel()
		mustBe(t, "acquire", receive(t, acquiring, "the cancelled call").err, context.Canceled)
		receive(t, late.Done, "the end of the enqueue")
		if !land(t, f.etcd, request) {
			t.Fatal("the late enqueue put nothing")
		}
		awaitClaims(t, f.etcd, w.under, 0)
		giveBack(t, w.get(t, f.Session))
	})
}

// No answer at all: the caller is told so, and nothing is left in the end.
func TestEveryEnqueueWithoutAnyAnswer(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		f := newFaulty(t, 600*time.Millisecond)
		giveBack(t, w.get(t, f.Session))
		f.faults.set(-1, w.enqueue, loseReply)
		_, err := w.acquire(t.Context(), f.Session)
		mustBe(t, "acquire", err, client.ErrUnavailable)
		mustNotBe(t, "acquire", err, client.ErrLocked)
		f.faults.disarm()
		awaitClaims(t, f.etcd, w.under, 0)
		giveBack(t, w.get(t, f.Session))
	})
}

func TestEveryReleaseWithoutAnAnswer(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		f := newFaulty(t, 3*time.Second)
		h := w.get(t, f.Session)
		f.faults.set(1, w.leave, loseReply)
		if err := h.release(t.Context()); err != nil && !errors.Is(err, client.ErrUncertain) {
			t.Errorf("got %v, want nil or ErrUncertain", err)
		}
		if got := claimsUnder(t, f.etcd, w.under); got != 0 {
			t.Errorf("%d claims left, want none", got)
		}
		mustBe(t, "second release", h.release(t.Context()), client.ErrNotHeld)
		giveBack(t, w.get(t, f.Session))
	})
}

// A release never arrives, and renewals go on: the claims still go away.
func TestEveryReleaseThatNeverArrives(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		f := newFaulty(t, 600*time.Millisecond)
		h := w.get(t, f.Session)
		f.faults.set(-1, w.leave, swallow)
		mustBe(t, "release", h.release(t.Context()), client.ErrUncertain)
		if got := claimsUnder(t, f.etcd, w.under); got != w.claims {
			t.Fatalf("%d claims, want %d, whose deletes never arrived", got, w.claims)
		}
		f.faults.disarm()
		awaitClaims(t, f.etcd, w.under, 0)
		giveBack(t, w.get(t, f.Session))
	})
}

// A release that lands when the same session holds again leaves the newer claims.
func TestEveryReleaseThatLandsLate(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		f := newFaulty(t, 600*time.Millisecond)
		for _, treat := range []func(func() error, context.Context) error{pass, swallow, loseReply} {
			h := w.get(t, f.Session)
			seen := f.faults.set(1, w.leave, treat)
			if err := h.release(t.Context()); err != nil && !errors.Is(err, client.ErrUncertain) {
				t.Errorf("release: %v", err)
			}
			next := w.get(t, f.Session)
			land(t, f.etcd, receive(t, seen.Taken, "the release"))
			stillHeld(t, f, w, next)
			giveBack(t, next)
			f.faults.disarm()
		}
		awaitClaims(t, f.etcd, w.under, 0)
	})
}

// A wait that is cancelled, or times out, leaves nothing when it returns.
func TestEveryWaitThatIsLeft(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		cluster := oneMember(t)
		etcd := cluster.Client(t)
		free := w.block(t, member(t, cluster, "holder"))
		s := session(t, member(t, cluster, "waiter"), time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		waiting := w.goGet(ctx, s)
		awaitClaims(t, etcd, w.under, 1+w.claims)
		cancel()
		mustBe(t, "a cancelled wait", receive(t, waiting, "a cancelled wait").err, context.Canceled)
		if got := claimsUnder(t, etcd, w.under); got != 1 {
			t.Errorf("%d claims, want the holder's alone", got)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := w.acquire(ctx, s)
		mustBe(t, "a wait that timed out", err, context.DeadlineExceeded, client.ErrLocked)
		var locked *client.LockedError
		if errors.As(err, &locked) && locked.Holder.Owner != "holder" {
			t.Errorf("got %v, want it to name the holder", err)
		}
		if got := claimsUnder(t, etcd, w.under); got != 1 {
			t.Errorf("%d claims, want the holder's alone", got)
		}
		free()
		giveBack(t, w.get(t, s))
	})
}

// A waiter's lease, or a claim of it, ends in the queue: it never holds.
func TestEveryWaiterWithoutAClaimIsLost(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		cluster := oneMember(t)
		etcd := cluster.Client(t)
		holder, waiter := member(t, cluster, "holder"), member(t, cluster, "waiter")
		for _, how := range []string{"lease", "claim", "with the holder's"} {
			free := w.block(t, holder)
			s := session(t, waiter, time.Minute)
			waiting := w.goGet(t.Context(), s)
			awaitClaims(t, etcd, w.under, 1+w.claims)
			switch how {
			case "lease":
				revoke(t, etcd, s)
				free()
			case "claim":
				deleteClaims(t, etcd, w.under, clientv3.LeaseID(s.Lease()))
				free()
			default:
				if _, err := etcd.Delete(t.Context(), w.under, clientv3.WithPrefix()); err != nil {
					t.Fatal(err)
				}
			}
			mustBe(t, how, receiveWithin(t, 10*time.Second, waiting, "the waiter").err, client.ErrLost)
			awaitClaims(t, etcd, w.under, 0)
		}
	})
}

// deleteClaims deletes the claims of one lease by hand.
func deleteClaims(t *testing.T, etcd *clientv3.Client, under string, lease clientv3.LeaseID) {
	t.Helper()
	found, err := etcd.Get(t.Context(), under, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var deletes []clientv3.Op
	for _, claim := range found.Kvs {
		if claim.Lease == int64(lease) {
			deletes = append(deletes, clientv3.OpDelete(string(claim.Key)))
		}
	}
	if _, err := etcd.Txn(t.Context()).Then(deletes...).Commit(); err != nil {
		t.Fatal(err)
	}
}

// What is held is lost when its claim is deleted, within about a second.
func TestEveryHolderWithoutAClaimIsLost(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		cluster := oneMember(t)
		etcd := cluster.Client(t)
		s := session(t, member(t, cluster, "holder"), time.Minute)
		h := w.get(t, s)
		start := time.Now()
		deleteClaims(t, etcd, w.under, clientv3.LeaseID(s.Lease()))
		receive(t, h.Done(), "Done")
		if took := time.Since(start); took > 1200*time.Millisecond {
			t.Errorf("the loss was noticed after %v, want about a second", took)
		}
		mustBe(t, "Err", h.Err(), client.ErrLost)
		mustBe(t, "its context", context.Cause(h.Context()), client.ErrLost)
		mustBe(t, "release", h.release(t.Context()), client.ErrLost)
		giveBack(t, w.get(t, s))
	})
}

// Close gives everything of every kind back at once, ends every wait, and leaves
// the lease behind of none.
func TestCloseGivesEveryKindBack(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c, other := member(t, cluster, "a"), member(t, cluster, "b")
	s := session(t, c, time.Minute)
	hold(t, other, "held by b")
	handles := []handle{
		hold(t, s, "lock"), share(t, s, "shared"), share(t, s, "shared"), holdAll(t, s, manyNames(client.MaxLocks)...), holdAll(t, s, "x", "y"),
		permit(t, s.Semaphore("jobs", 2)), permit(t, s.Semaphore("jobs", 2)), obtain(t, goCampaign(s, []byte("me")), "campaign"),
	}
	waits := map[string]<-chan error{
		"in line":  fails(func() error { return second(s.Lock(context.Background(), "lock")) }),
		"Lock":     fails(func() error { return second(s.Lock(context.Background(), "held by b")) }),
		"shared":   fails(func() error { return second(s.LockShared(context.Background(), "held by b")) }),
		"LockAll":  fails(func() error { return second(s.LockAll(context.Background(), "free", "held by b")) }),
		"permit":   fails(func() error { return second(s.Semaphore("jobs", 2).Acquire(context.Background())) }),
		"Campaign": fails(func() error { return second(s.Campaign(context.Background(), "held by b", nil)) }),
	}
	awaitQueue(t, etcd, "held by b", 5)
	awaitClaims(t, etcd, permitPrefix("jobs"), 3)
	eventually(t, limit, "one stands in line", func() bool { return s.InLine("lock") == 1 })
	start := time.Now()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("close took %v, want milliseconds", took)
	}
	for i, h := range handles {
		receive(t, h.Done(), "Done")
		mustBe(t, "Err", h.Err(), client.ErrNotHeld, client.ErrClosed)
		if errors.Is(h.Err(), client.ErrLost) {
			t.Errorf("handle %d: %v, want it given back and not lost", i, h.Err())
		}
	}
	for how, ended := range waits {
		mustBe(t, how, receive(t, ended, how), client.ErrClosed)
	}
	if got := claimsUnder(t, etcd, "fencelock/lock/") + claimsUnder(t, etcd, permitPrefix("jobs")); got != 1 {
		t.Errorf("%d claims left, want the one of b", got)
	}
	unlockAll(t, holdAll(t, other, "lock", "shared", "x", "leader"))
}

// fails runs a call in a goroutine and tells how it ended.
func fails(call func() error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- call() }()
	return ended
}
