package client_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

// ledger takes down who was granted what, in order. Its section says whether ever
// two held at once.
type ledger struct {
	section
	mu     sync.Mutex
	tokens []fencing.Token
	who    map[int]int // how often
}

// enter is called by who while it holds the lock.
func (l *ledger) enter(t testing.TB, who int, token fencing.Token) {
	t.Helper()
	l.mu.Lock()
	if n := len(l.tokens); n > 0 && l.tokens[n-1] >= token {
		t.Errorf("token %v was granted after %v, want tokens that rise", token, l.tokens[n-1])
	}
	l.tokens = append(l.tokens, token)
	if l.who == nil {
		l.who = map[int]int{}
	}
	l.who[who]++
	l.mu.Unlock()
	l.pass(t)
}

func (l *ledger) grants() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.tokens)
}

// mostClaims looks at the past since a revision, which must have left the queue
// empty, and returns the largest number of claims that it ever had.
func mostClaims(t *testing.T, etcd *clientv3.Client, lock string, since int64) int {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watch := etcd.Watch(ctx, queuePrefix(lock), clientv3.WithPrefix(), clientv3.WithRev(since))
	alive, most, at := map[string]bool{}, 0, int64(0)
	for end := revision(t, etcd); at < end; {
		for _, e := range receive(t, watch, "the past of a queue").Events {
			if e.Kv.ModRevision > at {
				most, at = max(most, len(alive)), e.Kv.ModRevision
			}
			if alive[string(e.Kv.Key)] = true; e.Type == clientv3.EventTypeDelete {
				delete(alive, string(e.Kv.Key))
			}
		}
	}
	return most
}

// Each of 64 goroutines gets the lock as often as it asks, for one commit each.
func TestLineServesEverybodyForOneCommitEach(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	s := session(t, member(t, cluster, "a"), time.Minute)
	const goroutines, rounds = 64, 5
	first := hold(t, s, "orders")
	before := revision(t, etcd)
	var served ledger
	var working sync.WaitGroup
	for i := range goroutines {
		working.Go(func() {
			for range rounds {
				l := hold(t, s, "orders")
				served.enter(t, i, l.Token())
				unlock(t, l)
			}
		})
	}
	eventually(t, limit, "everybody stands in line", func() bool { return s.InLine("orders") == goroutines })
	if got := revision(t, etcd); got != before {
		t.Errorf("%d commits by goroutines that stand in line, want none", got-before)
	}
	unlock(t, first)
	working.Wait()
	for i := range goroutines {
		if got := served.who[i]; got != rounds {
			t.Errorf("goroutine %d got the lock %d times, want %d", i, got, rounds)
		}
	}
	const grants = goroutines * rounds
	if got := revision(t, etcd) - before; got > grants*11/10 {
		t.Errorf("%d commits for %d grants, want about one each", got, grants)
	}
	if got := mostClaims(t, etcd, "orders", int64(first.Token())); got != 1 {
		t.Errorf("%d claims in the queue at once, want one", got)
	}
}

// Processes take turns, however many goroutines each of them has.
func TestProcessesTakeTurns(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	const grants = 300
	var served ledger
	var working sync.WaitGroup
	held := hold(t, member(t, cluster, "first"), "orders")
	for process, goroutines := range []int{8, 8, 1} {
		c := member(t, cluster, fmt.Sprint(process))
		for range goroutines {
			working.Go(func() {
				for ctx.Err() == nil && served.grants() < grants {
					l, err := c.Lock(ctx, "orders")
					if err != nil {
						t.Errorf("lock: %v", err)
						return
					}
					served.enter(t, process, l.Token())
					unlock(t, l)
				}
			})
		}
		awaitQueue(t, etcd, "orders", process+2)
	}
	unlock(t, held)
	working.Wait()
	t.Logf("grants of each process: %v", served.who)
	for process := range 3 {
		if got := served.who[process]; got < grants/5 {
			t.Errorf("process %d got the lock %d times of %d, want about a third", process, got, grants)
		}
	}
	awaitQueue(t, etcd, "orders", 0)
}

func awaitLine(t *testing.T, s *client.Session, n int) {
	t.Helper()
	eventually(t, limit, fmt.Sprintf("%d goroutines stand in line", n), func() bool { return s.InLine("orders") == n })
}

// Whoever leaves the line has asked the cluster for nothing.
func TestLeavingTheLineSendsNothing(t *testing.T) {
	f := newFaulty(t, 3*time.Second)
	held := hold(t, f, "orders")
	ctx, cancel := context.WithCancel(t.Context())
	waiting := goLock(ctx, f, "orders")
	awaitLine(t, f.Session, 1)
	before := f.faults.requests.Load()
	start := time.Now()
	cancel()
	got := receive(t, waiting, "a cancelled Lock")
	mustBe(t, "Lock", got.err, context.Canceled)
	mustNotBe(t, "Lock", got.err, client.ErrLocked, client.ErrUnavailable, client.ErrLost)
	if took := got.at.Sub(start); took > 100*time.Millisecond {
		t.Errorf("Lock returned %v after its context ended, want at once", took)
	}
	if sent := f.faults.requests.Load() - before; sent != 0 {
		t.Errorf("%d requests, want none", sent)
	}
	unlock(t, held)
	unlock(t, hold(t, f, "orders"))
}

// At its deadline a goroutine in the line says who holds the lock: somebody else,
// and not the goroutine at the head of the line.
func TestTimeOutInTheLineNamesTheHolder(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "orders")
	s := session(t, member(t, cluster, "waiter"), time.Minute)
	head := waitFor(t, etcd, s, "orders", 2)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := s.Lock(ctx, "orders")
	mustBe(t, "Lock", err, context.DeadlineExceeded)
	lockedError(t, "Lock", err, "holder", held.Token())
	unlock(t, held)
	unlock(t, granted(t, head))
}

// The holder's claim is taken away: the next goroutine tries with one of its own.
func TestLineGoesOnAfterABrokenClaim(t *testing.T) {
	for _, how := range []string{"noticed by the watch", "noticed by Unlock"} {
		t.Run(how, func(t *testing.T) {
			cluster := oneMember(t)
			etcd := cluster.Client(t)
			s := session(t, member(t, cluster, "a"), time.Minute)
			held := hold(t, s, "orders")
			next := goLock(t.Context(), s, "orders")
			awaitLine(t, s, 1)
			if _, err := etcd.Delete(t.Context(), string(claimOf(t, etcd, held).Key)); err != nil {
				t.Fatal(err)
			}
			if how == "noticed by Unlock" {
				mustBe(t, "Unlock", held.Unlock(t.Context()), client.ErrLost)
			}
			got := receiveWithin(t, 2*time.Second, next, "the next goroutine")
			if got.err != nil {
				t.Fatalf("the next goroutine: %v", got.err)
			}
			receive(t, held.Done(), "Done of the broken lock")
			mustBe(t, "Err of the broken lock", held.Err(), client.ErrLost)
			unlock(t, got.lock)
			awaitQueue(t, etcd, "orders", 0)
		})
	}
}

// The lease is gone, nobody has noticed, and the holder unlocks while another
// goroutine waits: the lock had been lost.
func TestHandOverAfterTheLeaseEndedIsLost(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	s := session(t, member(t, cluster, "a"), time.Minute)
	held := hold(t, s, "orders")
	next := goLock(t.Context(), s, "orders")
	awaitLine(t, s, 1)
	revoke(t, etcd, s)
	mustBe(t, "Unlock", held.Unlock(t.Context()), client.ErrLost)
	mustBe(t, "Lock of the next", receive(t, next, "the next goroutine").err, client.ErrLost)
}

func TestEndOfTheSessionEndsTheLine(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*testing.T, *clientv3.Client, *client.Session)
		want error
	}{
		"lost":   {func(t *testing.T, etcd *clientv3.Client, s *client.Session) { revoke(t, etcd, s) }, client.ErrLost},
		"closed": {func(t *testing.T, _ *clientv3.Client, s *client.Session) { _ = s.Close() }, client.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := oneMember(t)
			etcd := cluster.Client(t)
			s := session(t, member(t, cluster, "a"), time.Minute)
			held := hold(t, s, "orders")
			const waiters = 20
			var waiting []<-chan result
			for range waiters {
				waiting = append(waiting, goLock(context.Background(), s, "orders"))
			}
			awaitLine(t, s, waiters)
			c.end(t, etcd, s)
			for _, w := range waiting {
				mustBe(t, "Lock", receiveWithin(t, 2*time.Second, w, "a waiting goroutine").err, c.want)
			}
			if held.Err() == nil {
				t.Error("the lock is held, want it ended")
			}
			awaitQueue(t, etcd, "orders", 0)
		})
	}
}
