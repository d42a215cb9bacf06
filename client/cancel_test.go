package client_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"github.com/fencelock/fencelock/client"
)

var seed = flag.Uint64("seed", 0, "repeat a random test with the seed that it printed")

// random prints the seed of a test.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	n := *seed
	for n == 0 {
		n = rand.Uint64()
	}
	t.Logf("repeat with -seed=%d", n)
	return rand.New(rand.NewPCG(n, 0))
}

// Lock returns nil exactly if the claim exists and holds, at whichever moment it
// is cancelled; nothing is left of the other calls.
func TestCancelAtARandomMoment(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	rng := random(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b")}
	pingPong(t, etcd, clients[0], clients[1]) // makes the sessions
	before := goleak.IgnoreCurrent()
	var cycling sync.WaitGroup
	var mu sync.Mutex // guards won, and makes the checks below of one lock at a time
	won, cancelled := 0, 0
	for i := range 6 {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
		cycling.Go(func() {
			for range 100 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(1<<rng.IntN(17)))*time.Microsecond)
				l, err := clients[i%2].Lock(ctx, "orders")
				cancel()
				mu.Lock()
				if err != nil {
					cancelled++
					mu.Unlock()
					continue
				}
				won++
				if got := queueOf(t, etcd, "orders"); len(got) == 0 || got[0].CreateRevision != int64(l.Token()) {
					t.Errorf("Lock returned token %v, and the queue is %v, want it at the head", l.Token(), got)
				}
				mu.Unlock()
				if err := l.Unlock(context.Background()); err != nil {
					t.Errorf("unlock: %v", err)
				}
			}
		})
	}
	cycling.Wait()
	t.Logf("%d locks won, %d cancelled", won, cancelled)
	if won == 0 || cancelled == 0 {
		t.Errorf("%d locks won, %d cancelled, want some of both", won, cancelled)
	}
	awaitQueue(t, etcd, "orders", 0)
	// etcd's client may keep one watch stream per client that was opened for a
	// cancelled watch; the next wait uses it, and then it ends.
	pingPong(t, etcd, clients[0], clients[1])
	var left error
	defer func() {
		if left != nil {
			t.Log(left)
		}
	}()
	eventually(t, limit, "no goroutine is left", func() bool {
		left = goleak.Find(before)
		return left == nil
	})
}

// pingPong lets each of two clients wait for the other.
func pingPong(t *testing.T, etcd *clientv3.Client, a, b *client.Client) {
	t.Helper()
	first := hold(t, a, "ping")
	second := waitFor(t, etcd, b, "ping", 2)
	unlock(t, first)
	held := granted(t, second)
	third := waitFor(t, etcd, a, "ping", 2)
	unlock(t, held)
	unlock(t, granted(t, third))
}

// The caller leaves just as the lock is granted: one of the two comes first, and
// both sides agree which.
func TestCancelAtTheMomentOfTheGrant(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	var f faults
	c := connect(t, client.Config{Etcd: f.client(t, cluster)})
	won, cancelled := 0, 0
	for i := range 400 {
		ctx, cancel := context.WithCancel(t.Context())
		f.set(1, claimPut("orders"), func(send func() error, _ context.Context) error {
			err := send()
			cancel()
			for range i % 3 { // the later the answer, the likelier the caller is gone
				runtime.Gosched()
			}
			return err
		})
		l, err := c.Lock(ctx, "orders")
		if err == nil {
			won++
			claimOf(t, etcd, l)
			unlock(t, l)
		} else {
			cancelled++
			mustBe(t, "Lock", err, context.Canceled)
		}
		if got := queueOf(t, etcd, "orders"); len(got) != 0 {
			t.Fatalf("Lock returned %v, and the queue is %v, want no claim left", err, keysOf(got))
		}
	}
	t.Logf("%d locks won, %d cancelled", won, cancelled)
	if won == 0 || cancelled == 0 {
		t.Errorf("%d locks won, %d cancelled, want some of both", won, cancelled)
	}
}

// On a healthy cluster a cancelled wait is over when the call returns.
func TestCancelledWaitLeavesNoClaim(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "orders")
	waiter := member(t, cluster, "waiter")
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		waiting := goLock(ctx, waiter, "orders")
		awaitQueue(t, etcd, "orders", 2)
		cancel()
		got := receive(t, waiting, "a cancelled Lock")
		mustBe(t, "Lock", got.err, context.Canceled)
		mustNotBe(t, "Lock", got.err, client.ErrUnavailable, client.ErrLost)
		if claims := queueOf(t, etcd, "orders"); len(claims) != 1 || claims[0].CreateRevision != int64(held.Token()) {
			t.Fatalf("queue %v, want the holder's claim alone", keysOf(claims))
		}
	}
}

func TestEndedContextSendsNothing(t *testing.T) {
	c := connect(t, client.Config{Endpoints: []string{"127.0.0.1:1"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Lock(ctx, "orders")
	mustBe(t, "Lock", err, context.Canceled)
	_, err = c.TryLock(ctx, "orders")
	mustBe(t, "TryLock", err, context.Canceled)
}

// promptly is how long a call may take to return after its context has ended:
// client.abandonTime, and something for a loaded machine.
const promptly = 250*time.Millisecond + 750*time.Millisecond

// Whatever the cluster does, a call is over soon after its context.
func TestCancelWhileNobodyAnswers(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "waiter")
	hold(t, c, "held")
	held := hold(t, member(t, cluster, "holder"), "orders")
	ctx, cancel := context.WithCancel(t.Context())
	waiting := goLock(ctx, c, "orders")
	awaitQueue(t, etcd, "orders", 2)
	cluster.Kill(0)
	entering, trying := goLock(ctx, c, "others"), make(chan result, 1)
	go func() {
		_, err := c.TryLock(ctx, "more")
		trying <- result{err: err, at: time.Now()}
	}()
	// None of them can get any further: they end because they are told to.
	select {
	case got := <-waiting:
		t.Fatalf("waiting for %q ended by itself: %v", held.Name(), got.err)
	case <-time.After(200 * time.Millisecond):
	}
	cancelled := time.Now()
	cancel()
	for what, got := range map[string]<-chan result{"a wait": waiting, "an enqueue": entering, "a try": trying} {
		r := receive(t, got, what)
		mustBe(t, what, r.err, context.Canceled)
		if took := r.at.Sub(cancelled); took > promptly {
			t.Errorf("%s returned %v after its context ended, want at most %v", what, took, promptly)
		}
	}
}

// So is one that still waits for its session.
func TestCancelWhileTheSessionIsOpened(t *testing.T) {
	c := connect(t, client.Config{Endpoints: []string{"127.0.0.1:1"}})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := c.Lock(ctx, "orders")
	mustBe(t, "Lock", err, context.DeadlineExceeded, client.ErrUnavailable)
	if took := time.Since(start); took > 100*time.Millisecond+promptly {
		t.Errorf("Lock returned after %v, want about 100 ms", took)
	}
}
