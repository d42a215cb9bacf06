package client_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/fencelock/fencelock/client"
)

// handOver matches transactions that replace one claim on a lock by another.
func handOver(lock string) func(*pb.TxnRequest) bool {
	return func(txn *pb.TxnRequest) bool { return putKey(txn, lock) != "" && claimDelete(lock)(txn) }
}

// A head that leaves passes its claim on: the next goroutine does not go back to
// the end of the cluster's queue.
func TestHeadThatLeavesPassesItsClaimOn(t *testing.T) {
	for how, leave := range map[string]func() (context.Context, context.CancelFunc, error){
		"cancelled": func() (context.Context, context.CancelFunc, error) {
			ctx, cancel := context.WithCancel(context.Background())
			return ctx, cancel, context.Canceled
		},
		"out of time": func() (context.Context, context.CancelFunc, error) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			return ctx, func() { <-ctx.Done(); cancel() }, context.DeadlineExceeded
		},
	} {
		t.Run(how, func(t *testing.T) {
			cluster := oneMember(t)
			etcd := cluster.Client(t)
			held := hold(t, member(t, cluster, "holder"), "orders")
			between := waitFor(t, etcd, member(t, cluster, "between"), "orders", 2)
			s := session(t, member(t, cluster, "waiter"), time.Minute)
			ctx, leaveNow, want := leave()
			head := goLock(ctx, s, "orders")
			awaitQueue(t, etcd, "orders", 3)
			next := goLock(t.Context(), s, "orders")
			awaitLine(t, s, 1)
			claim, before := queueOf(t, etcd, "orders")[2], revision(t, etcd)
			leaveNow()
			got := receive(t, head, "the head of the line")
			mustBe(t, "Lock of the head", got.err, want)
			if want == context.DeadlineExceeded {
				lockedError(t, "Lock of the head", got.err, "holder", held.Token())
			}
			if now := revision(t, etcd); now != before || s.InLine("orders") != 0 {
				t.Errorf("%d commits, %d in line, want none: the next one takes the claim over", now-before, s.InLine("orders"))
			}
			unlock(t, held)
			unlock(t, granted(t, between))
			l := granted(t, next)
			if int64(l.Token()) != claim.CreateRevision {
				t.Errorf("the next goroutine holds with token %v, want %v of the claim that was passed on", l.Token(), claim.CreateRevision)
			}
			unlock(t, l)
			awaitQueue(t, etcd, "orders", 0)
		})
	}
}

// A claim that says something else about its owner is not passed on.
func TestHeadKeepsAClaimWithOtherLabels(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "orders")
	s := session(t, member(t, cluster, "waiter"), time.Minute)
	acquire := func(ctx context.Context, job string) <-chan result {
		got := make(chan result, 1)
		go func() {
			l, err := s.Acquire(ctx, client.Request{Name: "orders", Labels: map[string]string{"job": job}})
			got <- result{lock: l, err: err}
		}()
		return got
	}
	ctx, cancel := context.WithCancel(t.Context())
	head := acquire(ctx, "one")
	awaitQueue(t, etcd, "orders", 2)
	next := acquire(t.Context(), "two")
	awaitLine(t, s, 1)
	passed := queueOf(t, etcd, "orders")[1].CreateRevision
	cancel()
	mustBe(t, "Lock of the head", receive(t, head, "the head of the line").err, context.Canceled)
	unlock(t, held)
	l := granted(t, next)
	if int64(l.Token()) == passed {
		t.Error("the next goroutine holds with a claim that bears another's labels")
	}
	info, err := member(t, cluster, "reader").Inspect(t.Context(), "orders")
	if err != nil || len(info.Holders) != 1 || info.Holders[0].Labels["job"] != "two" {
		t.Errorf("holders %+v, %v, want one whose label says two", info.Holders, err)
	}
	unlock(t, l)
}

// The next goroutine has left when its turn comes, with a claim: it goes to the one
// after that, or away.
func TestTurnOfAGoroutineThatHasLeft(t *testing.T) {
	for how, waiters := range map[string]int{"somebody is behind": 2, "nobody is": 1} {
		t.Run(how, func(t *testing.T) {
			f := newFaulty(t, 3*time.Second)
			held := hold(t, f, "orders")
			ctx, cancel := context.WithCancel(t.Context())
			leaver := goLock(ctx, f, "orders")
			awaitLine(t, f.Session, 1)
			var last <-chan result
			if waiters == 2 {
				last = goLock(t.Context(), f, "orders")
				awaitLine(t, f.Session, 2)
			}
			f.faults.set(1, handOver("orders"), func(send func() error, _ context.Context) error {
				cancel() // the turn is on its way
				mustBe(t, "Lock of the one that leaves", receive(t, leaver, "it").err, context.Canceled)
				return send()
			})
			unlock(t, held)
			if waiters == 2 {
				unlock(t, granted(t, last))
			}
			awaitQueue(t, f.etcd, "orders", 0)
			unlock(t, hold(t, f, "orders"))
		})
	}
}

// The answer to the hand-over is lost: the next goroutine gets the lock, and of
// both claims nothing stays.
func TestHandOverWithoutAnAnswer(t *testing.T) {
	for how, treat := range map[string]func(func() error, context.Context) error{
		"its reply is lost": loseReply, "it is lost": loseUnsent, "it comes late": swallow,
	} {
		t.Run(how, func(t *testing.T) {
			f := newFaulty(t, time.Second)
			held := hold(t, f, "orders")
			old := string(claimOf(t, f.etcd, held).Key)
			next := goLock(t.Context(), f, "orders")
			awaitLine(t, f.Session, 1)
			lost := f.faults.set(1, handOver("orders"), treat)
			start := time.Now()
			if err := held.Unlock(t.Context()); err != nil && !errors.Is(err, client.ErrUncertain) {
				t.Errorf("Unlock: got %v, want nil or ErrUncertain", err)
			}
			if took := time.Since(start); took > 1500*time.Millisecond {
				t.Errorf("Unlock took %v, want at most the DialTimeout of 1 s", took)
			}
			request := receive(t, lost.Taken, "the hand-over")
			l := granted(t, next)
			if got := string(claimOf(t, f.etcd, l).Key); got == putKey(request, "orders") {
				t.Errorf("the next goroutine holds with the claim %s, which may or may not have been put", got)
			}
			if land(t, f.etcd, request) {
				t.Error("the hand-over was applied late, want its compares to fail")
			}
			f.onlyClaim(t, l)
			if err := l.Err(); err != nil {
				t.Errorf("the next lock: got %v, want it held", err)
			}
			unlock(t, l)
			f.neverAgain(t, "orders", putKey(request, "orders"))
			if how == "it comes late" {
				f.neverAgain(t, "orders", old)
			}
		})
	}
}

// Nothing of an unlock arrives, and then the hand-over does after all: its claim
// is nobody's.
func TestHandOverThatLandsAfterItsUnlockWasGivenUp(t *testing.T) {
	f := newFaulty(t, 600*time.Millisecond)
	held := hold(t, f, "orders")
	next := goLock(t.Context(), f, "orders")
	awaitLine(t, f.Session, 1)
	lost := f.faults.set(1, handOver("orders"), loseUnsent)
	f.faults.set(-1, claimDelete("orders"), loseUnsent)
	mustBe(t, "Unlock", held.Unlock(t.Context()), client.ErrUncertain)
	landed := land(t, f.etcd, receive(t, lost.Taken, "the hand-over"))
	t.Logf("the hand-over was applied late: %t", landed)
	f.faults.disarm()
	l := granted(t, next)
	f.onlyClaim(t, l)
	unlock(t, l)
	awaitQueue(t, f.etcd, "orders", 0)
}

// A store that is full takes no new claim, but the old one can be given back.
func TestHandOverThatIsRefusedUnlocks(t *testing.T) {
	f := newFaulty(t, 3*time.Second)
	held := hold(t, f, "orders")
	next := goLock(t.Context(), f, "orders")
	awaitLine(t, f.Session, 1)
	f.faults.set(-1, claimPut("orders"), func(func() error, context.Context) error { return rpctypes.ErrGRPCNoSpace })
	unlock(t, held)
	mustBe(t, "Lock of the next", receive(t, next, "the next goroutine").err, rpctypes.ErrNoSpace)
	if got := queueOf(t, f.etcd, "orders"); len(got) != 0 {
		t.Errorf("queue %v, want none", keysOf(got))
	}
	f.faults.disarm()
	unlock(t, hold(t, f, "orders"))
}

// Goroutines of two clients come and leave at random: nobody hangs, nothing stays,
// and tokens rise.
func TestRandomCancelsInTheLine(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	rng := random(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b")}
	var served ledger
	var working sync.WaitGroup
	for i := range 24 {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
		working.Go(func() {
			for range 60 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(1<<rng.IntN(18)))*time.Microsecond)
				l, err := clients[i%2].Lock(ctx, "orders")
				if err == nil {
					served.enter(t, i%2, l.Token())
					unlock(t, l)
				} else if ctx.Err() == nil {
					t.Errorf("lock: %v", err)
				}
				cancel()
			}
		})
	}
	working.Wait()
	t.Logf("grants of each client: %v", served.who)
	awaitQueue(t, etcd, "orders", 0)
	for _, c := range clients {
		unlock(t, hold(t, c, "orders"))
	}
}
