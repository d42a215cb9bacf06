package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/test/netfault"
)

// faulty is a session whose transactions pass through faults, beside a client that
// is not disturbed.
type faulty struct {
	*client.Session
	client *client.Client
	faults faults
	etcd   *clientv3.Client // undisturbed
}

// newFaulty gives requests a third of timeout before they are given up.
func newFaulty(t *testing.T, timeout time.Duration) *faulty {
	t.Helper()
	cluster := oneMember(t)
	f := &faulty{etcd: cluster.Client(t)}
	f.client = connect(t, client.Config{Etcd: f.faults.client(t, cluster), Owner: "faulty", DialTimeout: timeout})
	f.Session = session(t, f.client, time.Minute)
	return f
}

func (f *faulty) key(lock string, n int) string {
	return fmt.Sprintf("%s%x-%d", queuePrefix(lock), f.Lease(), n)
}

// onlyClaim waits until the queue holds the lock's claim and nothing else.
func (f *faulty) onlyClaim(t *testing.T, l *client.Lock) {
	t.Helper()
	eventually(t, limit, fmt.Sprintf("the claim of token %v is the only one", l.Token()), func() bool {
		claims := queueOf(t, f.etcd, l.Name())
		return len(claims) == 1 && claims[0].CreateRevision == int64(l.Token())
	})
}

// neverAgain locks some times more and checks that no claim lies at the key.
func (f *faulty) neverAgain(t *testing.T, lock, key string) {
	t.Helper()
	for range 5 {
		l := hold(t, f, lock)
		if got := string(claimOf(t, f.etcd, l).Key); got == key {
			t.Errorf("a claim was put at %s again: a request of its past may still be on its way", key)
		}
		unlock(t, l)
	}
}

// acquirers are the two ways to a lock.
var acquirers = map[string]func(*faulty, context.Context, string) (*client.Lock, error){
	"Lock":    func(f *faulty, ctx context.Context, name string) (*client.Lock, error) { return f.Lock(ctx, name) },
	"TryLock": func(f *faulty, ctx context.Context, name string) (*client.Lock, error) { return f.TryLock(ctx, name) },
}

// An enqueue that timed out appears in the queue while the session holds the lock
// with another claim.
func TestEnqueueThatLandsLateIsRemoved(t *testing.T) {
	for how, acquire := range acquirers {
		t.Run(how, func(t *testing.T) {
			f := newFaulty(t, 600*time.Millisecond)
			late := f.faults.set(1, claimPut("orders"), swallow)
			l, err := acquire(f, t.Context(), "orders")
			if err != nil {
				t.Fatalf("got %v, want the lock by a second claim", err)
			}
			request := receive(t, late.Taken, "the first enqueue")
			if got, want := string(claimOf(t, f.etcd, l).Key), f.key("orders", 1); got != want {
				t.Errorf("the claim lies at %s, want %s", got, want)
			}
			// A late try finds the lock taken and puts nothing.
			if got, want := land(t, f.etcd, request), how == "Lock"; got != want {
				t.Fatalf("the late request put a claim: %t, want %t", got, want)
			}
			f.onlyClaim(t, l)
			if err := l.Err(); err != nil {
				t.Errorf("the lock: got %v, want it held", err)
			}
			unlock(t, l)
			f.neverAgain(t, "orders", putKey(request, "orders"))
		})
	}
}

// It appears while nobody holds the lock: the orphan is the head of the queue, and
// must not lock its own session out.
func TestOrphanAtTheHeadDoesNotLockItsOwnerOut(t *testing.T) {
	for how, acquire := range acquirers {
		t.Run(how, func(t *testing.T) {
			f := newFaulty(t, 3*time.Second)
			late := f.faults.set(1, claimPut("orders"), loseUnsent)
			l, err := acquire(f, t.Context(), "orders")
			if err != nil {
				t.Fatal(err)
			}
			unlock(t, l)
			if !land(t, f.etcd, receive(t, late.Taken, "the first enqueue")) {
				t.Fatal("the late enqueue put nothing")
			}
			if l, err = acquire(f, t.Context(), "orders"); err != nil {
				t.Fatalf("got %v, want the lock once the orphan is removed", err)
			}
			f.onlyClaim(t, l)
		})
	}
}

// The claim was put, and the answer got lost: it is not adopted, and not in the way.
func TestEnqueueWithoutAnAnswerIsReplaced(t *testing.T) {
	for how, acquire := range acquirers {
		t.Run(how, func(t *testing.T) {
			f := newFaulty(t, 3*time.Second)
			lost := f.faults.set(1, claimPut("orders"), loseReply)
			l, err := acquire(f, t.Context(), "orders")
			if err != nil {
				t.Fatalf("got %v, want the lock by a second claim", err)
			}
			first := putKey(receive(t, lost.Taken, "the first enqueue"), "orders")
			if got := string(claimOf(t, f.etcd, l).Key); got == first {
				t.Errorf("the claim lies at %s, want another key than that of the unanswered enqueue", got)
			}
			f.onlyClaim(t, l)
			unlock(t, l)
			f.neverAgain(t, "orders", first)
		})
	}
}

// A claim that lies already where the session puts its own is not adopted: nobody
// knows what its past was.
func TestExistingClaimIsNotAdopted(t *testing.T) {
	f := newFaulty(t, 3*time.Second)
	key := f.key("orders", 0)
	if _, err := f.etcd.Put(t.Context(), key, "", clientv3.WithLease(clientv3.LeaseID(f.Lease()))); err != nil {
		t.Fatal(err)
	}
	l := hold(t, f, "orders")
	if claim := claimOf(t, f.etcd, l); string(claim.Key) == key {
		t.Errorf("the lock's claim is the one that was there before, want one of its own")
	}
	f.onlyClaim(t, l)
	unlock(t, l)
	f.neverAgain(t, "orders", key)
}

// However long ago the last one was, an orphan does not stand in the queue for long.
func TestOrphanIsRemovedSoon(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, 3*time.Second)
	f.faults.set(1, claimPut("orders"), loseUnsent) // it never lands, so its key stays under the sweeper's eye
	unlock(t, hold(t, f, "orders"))
	rounds := f.faults.set(6, claimRead("orders"), pass)
	for range 6 { // by now the sweeper rests for up to 2 s
		receive(t, rounds.Taken, "a look of the sweeper")
	}
	f.faults.set(1, claimPut("orders"), loseReply)
	start := time.Now()
	unlock(t, hold(t, f, "orders"))
	if took := time.Since(start); took > time.Second {
		t.Errorf("Lock took %v behind an orphan of its own session, want some 50 ms", took)
	}
}

// No answer at all: the caller is told so, and nothing is left in the end.
func TestEnqueuesWithoutAnyAnswerLeaveNothing(t *testing.T) {
	t.Parallel()
	for how, acquire := range acquirers {
		t.Run(how, func(t *testing.T) {
			f := newFaulty(t, 600*time.Millisecond)
			f.faults.set(-1, claimPut("orders"), loseReply)
			_, err := acquire(f, t.Context(), "orders")
			mustBe(t, how, err, client.ErrUnavailable)
			mustNotBe(t, how, err, client.ErrLocked)
			f.faults.disarm()
			awaitQueue(t, f.etcd, "orders", 0)
			unlock(t, hold(t, f, "orders"))
		})
	}
}

// The caller has left, and the request lands after that.
func TestEnqueueOfACancelledLockThatLandsLateIsRemoved(t *testing.T) {
	f := newFaulty(t, 600*time.Millisecond)
	late := f.faults.set(1, claimPut("orders"), swallow)
	ctx, cancel := context.WithCancel(t.Context())
	waiting := goLock(ctx, f, "orders")
	request := receive(t, late.Taken, "the enqueue")
	cancel()
	mustBe(t, "Lock", receive(t, waiting, "the cancelled Lock").err, context.Canceled)
	receive(t, late.Done, "the end of the enqueue")
	if !land(t, f.etcd, request) {
		t.Fatal("the late enqueue put nothing")
	}
	awaitQueue(t, f.etcd, "orders", 0)
	f.neverAgain(t, "orders", putKey(request, "orders"))
}

func TestUnlockWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	t.Run("once", func(t *testing.T) {
		f := newFaulty(t, 3*time.Second)
		l := hold(t, f, "orders")
		key := string(claimOf(t, f.etcd, l).Key)
		f.faults.set(1, claimDelete("orders"), loseReply)
		if err := l.Unlock(t.Context()); err != nil && !errors.Is(err, client.ErrUncertain) {
			t.Errorf("got %v, want nil or ErrUncertain", err)
		}
		if got := queueOf(t, f.etcd, "orders"); len(got) != 0 {
			t.Errorf("queue %v, want none", keysOf(got))
		}
		f.neverAgain(t, "orders", key)
	})
	t.Run("ever", func(t *testing.T) {
		f := newFaulty(t, 600*time.Millisecond)
		l := hold(t, f, "orders")
		f.faults.set(-1, claimDelete("orders"), loseReply)
		start := time.Now()
		mustBe(t, "Unlock", l.Unlock(t.Context()), client.ErrUncertain)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("Unlock took %v, want about the DialTimeout of 600 ms", took)
		}
		mustBe(t, "second Unlock", l.Unlock(t.Context()), client.ErrNotHeld)
		if got := queueOf(t, f.etcd, "orders"); len(got) != 0 {
			t.Errorf("queue %v, want none", keysOf(got))
		}
	})
}

// Unlock times out, the network heals, renewals go on: the claim still goes away.
func TestUnlockThatNeverArrivedIsMadeUpFor(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, 600*time.Millisecond)
	l := hold(t, f, "orders")
	f.faults.set(-1, claimDelete("orders"), swallow)
	mustBe(t, "Unlock", l.Unlock(t.Context()), client.ErrUncertain)
	if got := queueOf(t, f.etcd, "orders"); len(got) != 1 {
		t.Fatalf("queue %v, want the claim whose deletes never arrived", keysOf(got))
	}
	f.faults.disarm()
	awaitQueue(t, f.etcd, "orders", 0)
	unlock(t, hold(t, f, "orders"))
}

// A delete that lands after the same session has locked again leaves the newer lock.
func TestLateDeleteLeavesTheNewerLock(t *testing.T) {
	check := func(t *testing.T, f *faulty, l *client.Lock, request *pb.TxnRequest) {
		t.Helper()
		if land(t, f.etcd, request) {
			t.Error("the late delete's compares held, want them to fail: the claim is another one")
		}
		if got := queueOf(t, f.etcd, "orders"); len(got) != 1 || got[0].CreateRevision != int64(l.Token()) {
			t.Errorf("queue %v, want the newer claim alone", keysOf(got))
		}
		if err := l.Err(); err != nil {
			t.Errorf("the newer lock: got %v, want it held", err)
		}
	}
	t.Run("repeated", func(t *testing.T) { // its reply came, so the newer claim has the same key
		f := newFaulty(t, 3*time.Second)
		seen := f.faults.set(1, claimDelete("orders"), pass)
		first := hold(t, f, "orders")
		key := string(claimOf(t, f.etcd, first).Key)
		unlock(t, first)
		second := hold(t, f, "orders")
		if got := string(claimOf(t, f.etcd, second).Key); got != key {
			t.Errorf("the second claim lies at %s, want %s again, since its past is certain", got, key)
		}
		check(t, f, second, receive(t, seen.Taken, "the delete"))
	})
	t.Run("timed out", func(t *testing.T) {
		f := newFaulty(t, 600*time.Millisecond)
		first := hold(t, f, "orders")
		key := string(claimOf(t, f.etcd, first).Key)
		late := f.faults.set(1, claimDelete("orders"), swallow)
		unlock(t, first) // by the second attempt
		second := hold(t, f, "orders")
		check(t, f, second, receive(t, late.Taken, "the first delete"))
		unlock(t, second)
		f.neverAgain(t, "orders", key)
	})
}

// The same on a real link that holds requests back and delivers them later.
func TestRequestsHeldByTheNetworkLeaveNothing(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	proxy := netfault.New(t, cluster.Endpoint(0))
	c := connect(t, client.Config{Endpoints: []string{proxy.Addr()}, DialTimeout: 600 * time.Millisecond, TTL: time.Minute})
	for _, fault := range []struct {
		name  string
		begin func()
	}{
		{"requests", proxy.StallRequests},
		{"replies", proxy.StallReplies},
		{"both", proxy.Stall},
	} {
		t.Run(fault.name, func(t *testing.T) {
			unlock(t, hold(t, c, "orders"))
			fault.begin()
			_, err := c.Lock(t.Context(), "orders")
			mustBe(t, "Lock", err, client.ErrUnavailable)
			_, err = c.TryLock(t.Context(), "orders")
			mustBe(t, "TryLock", err, client.ErrUnavailable)
			if err != nil && !strings.Contains(err.Error(), proxy.Addr()) {
				t.Errorf("got %q, want it to name the endpoint %s", err, proxy.Addr())
			}
			proxy.Pass()
			awaitQueue(t, etcd, "orders", 0)
			l, err := c.TryLock(t.Context(), "orders")
			if err != nil {
				t.Fatalf("TryLock after all: got %v, want the lock", err)
			}
			unlock(t, l)
			awaitQueue(t, etcd, "orders", 0)
		})
	}
}

// etcd applies the write that takes the store over its quota, and then answers that
// it is full: the claim is there, and must not stay.
func TestClaimThatFilledTheStoreIsRemoved(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, 3*time.Second)
	f.faults.set(1, claimPut("orders"), func(send func() error, _ context.Context) error {
		_ = send()
		return rpctypes.ErrGRPCNoSpace
	})
	_, err := f.Lock(t.Context(), "orders")
	mustBe(t, "Lock", err, rpctypes.ErrNoSpace)
	awaitQueue(t, f.etcd, "orders", 0)
}

// A delete got lost, and the lock had been broken: the next attempt finds no claim,
// but it was not this Unlock that removed it.
func TestUnlockOfABrokenLockIsLost(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, 3*time.Second)
	l := hold(t, f, "orders")
	f.faults.set(1, claimDelete("orders"), func(_ func() error, _ context.Context) error {
		other := connect(t, client.Config{Etcd: f.etcd})
		if err := other.Break(context.Background(), "orders", l.Token()); err != nil {
			t.Errorf("break: %v", err)
		}
		return loseUnsent(nil, nil)
	})
	mustBe(t, "Unlock", l.Unlock(t.Context()), client.ErrLost)
}

// The same with several locks, of which one had been broken.
func TestUnlockOfLocksOfWhichOneWasBrokenIsLost(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{true, false} {
		f := newFaulty(t, 3*time.Second)
		l := holdAll(t, f, "orders", "stock")
		f.faults.set(1, ways()["several"].leave, func(send func() error, ctx context.Context) error {
			if !broken {
				return loseReply(send, ctx)
			}
			other := connect(t, client.Config{Etcd: f.etcd})
			if err := other.Break(context.Background(), "stock", l.Token()); err != nil {
				t.Errorf("break: %v", err)
			}
			return loseUnsent(nil, nil)
		})
		err := l.Unlock(t.Context())
		if got := errors.Is(err, client.ErrLost); got != broken || !broken && err != nil {
			t.Errorf("one broken: %t: got %v", broken, err)
		}
		awaitClaims(t, f.etcd, "fencelock/lock/", 0)
	}
}
