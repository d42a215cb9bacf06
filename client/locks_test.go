package client_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

// allLocker is what clients and sessions have in common.
type allLocker interface {
	LockAll(ctx context.Context, names ...string) (*client.Locks, error)
	TryLockAll(ctx context.Context, names ...string) (*client.Locks, error)
}

func goAll(ctx context.Context, c allLocker, names ...string) <-chan got[*client.Locks] {
	return start(func() (*client.Locks, error) { return c.LockAll(ctx, names...) })
}

func holdAll(t testing.TB, c allLocker, names ...string) *client.Locks {
	t.Helper()
	return obtain(t, goAll(context.Background(), c, names...), "LockAll")
}

func unlockAll(t testing.TB, l *client.Locks) {
	t.Helper()
	if err := l.Unlock(context.Background()); err != nil {
		t.Fatalf("unlock all: %v", err)
	}
}

// manyNames are n lock names, in no order.
func manyNames(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("many/%d", i))
	}
	return names
}

func TestLockAllTakesEachNameOnce(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "a")
	l := holdAll(t, c, "b", "a", "c", "a", "b")
	if got, want := l.Names(), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	for _, name := range l.Names() {
		queue := queueOf(t, etcd, name)
		if len(queue) != 1 || queue[0].CreateRevision != int64(l.Token()) {
			t.Errorf("queue of %s: %v, want one claim with token %v", name, keysOf(queue), l.Token())
		}
		if got, want := l.Sequencer(name), (fencing.Sequencer{Lock: name, Token: l.Token()}); got != want {
			t.Errorf("sequencer %v, want %v", got, want)
		}
		if got, ok := fencing.FromContext(l.Context(), name); !ok || got != l.Sequencer(name) {
			t.Errorf("its context carries %v, %t for %s", got, ok, name)
		}
		if _, err := l.KV(name).Put(t.Context(), "k", []byte(name)); err != nil {
			t.Errorf("put behind %s: %v", name, err)
		}
		if first, second := l.KV(name), l.KV(name); first != second {
			t.Errorf("KV(%q) is not always the same handle", name)
		}
	}
	if l.KV("d") != nil || l.Sequencer("d") != (fencing.Sequencer{}) {
		t.Errorf("of a name that is not held: %v, %v, want neither a handle nor a sequencer", l.KV("d"), l.Sequencer("d"))
	}
	bound, cancel := l.Bind(t.Context())
	defer cancel()
	_, err := c.Lock(bound, "b")
	mustBe(t, "Lock in its context", err, client.ErrReentrant)
	_, err = c.LockAll(bound, "x", "c")
	mustBe(t, "LockAll in its context", err, client.ErrReentrant)
	unlockAll(t, l)
	mustBe(t, "second Unlock", l.Unlock(t.Context()), client.ErrNotHeld)
	receive(t, bound.Done(), "Done of the bound context")
	mustBe(t, "the bound context", context.Cause(bound), client.ErrNotHeld)
	for _, name := range l.Names() {
		awaitQueue(t, etcd, name, 0)
	}
}

func TestLockAllCountsNames(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "a")
	for what, names := range map[string][]string{"none": nil, "one too many": manyNames(client.MaxLocks + 1)} {
		for how, call := range map[string]func(context.Context, ...string) (*client.Locks, error){"LockAll": c.LockAll, "TryLockAll": c.TryLockAll} {
			if _, err := call(t.Context(), names...); err == nil || !strings.Contains(err.Error(), fmt.Sprint(len(names))) {
				t.Errorf("%s of %s: got %v, want an error that counts them", how, what, err)
			}
		}
	}
	_, err := c.LockAll(t.Context(), "a", "b//c")
	mustBe(t, "an invalid name", err, client.ErrInvalidName)
	for how, call := range map[string]func(context.Context, ...string) (*client.Locks, error){"LockAll": c.LockAll, "TryLockAll": c.TryLockAll} {
		l, err := call(t.Context(), append(manyNames(client.MaxLocks), "many/1")...)
		if err != nil {
			t.Errorf("%s of %d names: %v", how, client.MaxLocks, err)
			continue
		}
		if got := len(l.Names()); got != client.MaxLocks {
			t.Errorf("%s: %d names, want %d", how, got, client.MaxLocks)
		}
		unlockAll(t, l)
		awaitClaims(t, etcd, "fencelock/lock/many/", 0)
	}
	one := holdAll(t, c, "single")
	unlockAll(t, one)
}

// Callers with overlapping sets, in any order, never wait for each other in a
// circle, and never hold the same lock at once.
func TestLockAllDoesNotDeadlock(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	rng := random(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b"), member(t, cluster, "c")}
	names := manyNames(6)
	ledgers := map[string]*ledger{}
	for _, name := range names {
		ledgers[name] = &ledger{}
	}
	var working sync.WaitGroup
	for i := range 18 {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
		working.Go(func() {
			for range 10 {
				set := make([]string, 1+rng.IntN(4))
				for j := range set {
					set[j] = names[rng.IntN(len(names))]
				}
				if rng.IntN(4) == 0 { // single locks take part
					l := hold(t, clients[i%3], set[0])
					ledgers[set[0]].enter(t, i, l.Token())
					unlock(t, l)
					continue
				}
				l := holdAll(t, clients[i%3], set...)
				for _, name := range l.Names() {
					ledgers[name].enter(t, i, l.Token())
				}
				unlockAll(t, l)
			}
		})
	}
	working.Wait()
	awaitClaims(t, etcd, "fencelock/lock/many/", 0)
}

// The two classic callers, in opposite orders.
func TestLockAllInOppositeOrders(t *testing.T) {
	cluster := oneMember(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	var working sync.WaitGroup
	for i := range 8 {
		working.Go(func() {
			for range 15 {
				if i%2 == 0 {
					unlockAll(t, holdAll(t, a, "x", "y"))
				} else {
					unlockAll(t, holdAll(t, b, "y", "x"))
				}
			}
		})
	}
	working.Wait()
}

// One of the claims is deleted by hand: the whole handle ends, and frees the others.
func TestLosingOneLockLosesAll(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	s := session(t, member(t, cluster, "a"), time.Minute)
	l := holdAll(t, s, "x", "y", "z")
	other := waitFor(t, etcd, member(t, cluster, "b"), "z", 2)
	start := time.Now()
	if _, err := etcd.Delete(t.Context(), string(queueOf(t, etcd, "y")[0].Key)); err != nil {
		t.Fatal(err)
	}
	receive(t, l.Done(), "Done")
	if took := time.Since(start); took > time.Second {
		t.Errorf("the loss was noticed after %v, want within a second", took)
	}
	mustBe(t, "Err", l.Err(), client.ErrLost)
	mustBe(t, "its context", context.Cause(l.Context()), client.ErrLost)
	mustBe(t, "Put", second(l.KV("x").Put(t.Context(), "k", nil)), client.ErrLost)
	unlock(t, granted(t, other))
	mustBe(t, "Unlock", l.Unlock(t.Context()), client.ErrLost)
	for _, name := range l.Names() {
		awaitQueue(t, etcd, name, 0)
	}
	if err := s.Err(); err != nil {
		t.Errorf("the session: got %v, want it alive", err)
	}
	unlockAll(t, holdAll(t, s, "x", "y", "z"))
}

// Unlock finds that one claim is gone, before anybody noticed.
func TestUnlockAllAfterALossIsLost(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	l := holdAll(t, member(t, cluster, "a"), "x", "y", "z")
	if _, err := etcd.Delete(t.Context(), string(queueOf(t, etcd, "y")[0].Key)); err != nil {
		t.Fatal(err)
	}
	mustBe(t, "Unlock", l.Unlock(t.Context()), client.ErrLost)
	for _, name := range l.Names() {
		awaitQueue(t, etcd, name, 0)
	}
}

func TestTryLockAllIsAllOrNothing(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	held := hold(t, a, "y")
	unlock(t, hold(t, b, "warm"))
	before := revision(t, etcd)
	_, err := b.TryLockAll(t.Context(), "x", "y", "z")
	lockedError(t, "TryLockAll", err, "a", held.Token())
	if got := revision(t, etcd); got != before {
		t.Errorf("a refused try made %d commits, want none", got-before)
	}
	for _, name := range []string{"x", "z"} {
		if got := queueOf(t, etcd, name); len(got) != 0 {
			t.Errorf("queue of %s: %v, want none", name, keysOf(got))
		}
	}
	unlock(t, held)
	l, err := b.TryLockAll(t.Context(), "x", "y", "z")
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.TryLock(t.Context(), "z")
	lockedError(t, "TryLock of one of them", err, "b", l.Token())
	unlockAll(t, l)
}

// Of many tries that race one at a time wins, and the others leave nothing.
func TestTryLockAllRaces(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b")}
	for range 5 {
		var mu sync.Mutex
		var won []*client.Locks
		var racing sync.WaitGroup
		for i := range 16 {
			racing.Go(func() {
				l, err := clients[i%2].TryLockAll(context.Background(), "x", fmt.Sprint("own/", i), "y")
				if err != nil {
					mustBe(t, "TryLockAll", err, client.ErrLocked)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				won = append(won, l)
			})
		}
		racing.Wait()
		if len(won) != 1 {
			t.Fatalf("%d tries won, want one", len(won))
		}
		if got := claimsUnder(t, etcd, "fencelock/lock/"); got != 3 {
			t.Errorf("%d claims, want the winner's three", got)
		}
		unlockAll(t, won[0])
	}
}

func TestCancelledLockAllLeavesNothing(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "waiter")
	held := hold(t, member(t, cluster, "holder"), "y")
	for _, how := range []string{"cancelled", "out of time"} {
		ctx, cancel := context.WithCancel(t.Context())
		want := context.Canceled
		if how == "out of time" {
			ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
			want = context.DeadlineExceeded
		}
		waiting := goAll(ctx, c, "x", "y", "z")
		awaitQueue(t, etcd, "z", 1)
		if how == "cancelled" {
			cancel()
		}
		got := receive(t, waiting, "LockAll")
		cancel()
		mustBe(t, how, got.err, want)
		if how == "out of time" {
			lockedError(t, how, got.err, "holder", held.Token())
		}
		for name, want := range map[string]int{"x": 0, "y": 1, "z": 0} {
			if got := queueOf(t, etcd, name); len(got) != want {
				t.Errorf("%s: queue of %s: %v, want %d claims", how, name, keysOf(got), want)
			}
		}
	}
	unlock(t, held)
}

// One claim ends while another is still waited for: what is left is never granted.
func TestLockAllWithALostClaimIsNotGranted(t *testing.T) {
	for _, lost := range []string{"x", "z"} { // before, and after, the one that is waited for
		t.Run(lost, func(t *testing.T) {
			cluster := oneMember(t)
			etcd := cluster.Client(t)
			held := hold(t, member(t, cluster, "holder"), "y")
			waiting := goAll(t.Context(), member(t, cluster, "waiter"), "x", "y", "z")
			awaitQueue(t, etcd, "y", 2)
			if _, err := etcd.Delete(t.Context(), string(queueOf(t, etcd, lost)[0].Key)); err != nil {
				t.Fatal(err)
			}
			taker := hold(t, member(t, cluster, "taker"), lost)
			unlock(t, held)
			mustBe(t, "LockAll", receive(t, waiting, "LockAll").err, client.ErrLost)
			if err := taker.Err(); err != nil {
				t.Errorf("who took the lock over: %v", err)
			}
			for name, want := range map[string]int{"x": 0, "y": 0, "z": 0, lost: 1} {
				awaitQueue(t, etcd, name, want)
			}
		})
	}
}

// Nor does it keep others waiting for long, though the one that it waits for does
// not end: it looks at all of its claims every few seconds.
func TestLockAllWithALostClaimGivesUp(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "y")
	waiting := goAll(t.Context(), member(t, cluster, "waiter"), "x", "y", "z")
	awaitQueue(t, etcd, "y", 2)
	other := waitFor(t, etcd, member(t, cluster, "other"), "z", 2)
	if _, err := etcd.Delete(t.Context(), string(queueOf(t, etcd, "x")[0].Key)); err != nil {
		t.Fatal(err)
	}
	unlock(t, granted(t, other))
	mustBe(t, "LockAll", receive(t, waiting, "LockAll").err, client.ErrLost)
	unlock(t, held)
}

// Single locks, shared ones and sets stand in the same queues.
func TestLockAllAmongOtherKinds(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	reader := share(t, a, "x")
	single := hold(t, a, "y")
	all := goAll(t.Context(), b, "x", "y")
	awaitQueue(t, etcd, "x", 2)
	late := waitFor(t, etcd, member(t, cluster, "c"), "y", 3)
	unlock(t, single)
	unlock(t, hold(t, a, "other"))
	notYet(t, all, "LockAll behind a reader")
	unshare(t, reader)
	l := obtain(t, all, "LockAll")
	if _, err := a.TryLockShared(t.Context(), "x"); err == nil {
		t.Error("TryLockShared of a lock of the set: got it, want ErrLocked")
	}
	unlockAll(t, l)
	unlock(t, granted(t, late))
}

// Its lease dies while it waits: it is lost, and leaves nothing.
func TestLockAllWithoutALeaseIsLost(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "holder"), "y")
	s := session(t, member(t, cluster, "waiter"), time.Minute)
	waiting := goAll(t.Context(), s, "x", "y", "z")
	awaitQueue(t, etcd, "y", 2)
	revoke(t, etcd, s)
	mustBe(t, "LockAll", receive(t, waiting, "LockAll").err, client.ErrLost)
	unlock(t, held)
	l := holdAll(t, session(t, member(t, cluster, "b"), time.Minute), "x", "y", "z")
	unlockAll(t, l)
}
