package client_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// sharer is what clients and sessions have in common.
type sharer interface {
	LockShared(ctx context.Context, name string) (*client.SharedLock, error)
}

func goShared(c sharer, name string) <-chan got[*client.SharedLock] {
	return start(func() (*client.SharedLock, error) { return c.LockShared(context.Background(), name) })
}

func share(t testing.TB, c sharer, name string) *client.SharedLock {
	t.Helper()
	return obtain(t, goShared(c, name), "LockShared")
}

func unshare(t testing.TB, l *client.SharedLock) {
	t.Helper()
	if err := l.Unlock(context.Background()); err != nil {
		t.Fatalf("unlock shared: %v", err)
	}
}

// Many hold together; an exclusive one waits for every one of them, and whoever
// comes after it waits for it: writers do not starve.
func TestSharedHoldersAndWriters(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	readers := []*client.SharedLock{share(t, a, "orders"), share(t, b, "orders"), share(t, a, "orders")}
	writer := waitFor(t, etcd, b, "orders", 4)
	late := goShared(a, "orders")
	awaitQueue(t, etcd, "orders", 5)
	later := goShared(b, "orders")
	awaitQueue(t, etcd, "orders", 6)
	for i, l := range readers {
		if err := l.Err(); err != nil {
			t.Errorf("reader %d: %v", i, err)
		}
		select {
		case got := <-writer:
			t.Fatalf("the writer got %v, %v beside %d readers", got.lock, got.err, 3-i)
		default:
		}
		unshare(t, l)
	}
	held := granted(t, writer)
	info, err := a.Inspect(t.Context(), "orders")
	if err != nil || len(info.Holders) != 1 || info.Holders[0].Token != held.Token() || len(info.Waiters) != 2 {
		t.Errorf("holders %v, waiters %v, %v, want the writer alone and two readers", info.Holders, info.Waiters, err)
	}
	notYet(t, late, "a reader behind a writer")
	notYet(t, later, "a reader behind a reader behind a writer")
	unlock(t, held)
	one, other := obtain(t, late, "a late reader"), obtain(t, later, "a later one")
	if one.Token() <= held.Token() || other.Token() <= one.Token() {
		t.Errorf("tokens %v, %v, %v, want them to rise", held.Token(), one.Token(), other.Token())
	}
	unshare(t, other)
	unshare(t, one)
	awaitQueue(t, etcd, "orders", 0)
}

func TestSharedLockEndsOnce(t *testing.T) {
	cluster := oneMember(t)
	l := share(t, member(t, cluster, "a"), "orders")
	unshare(t, l)
	mustBe(t, "second Unlock", l.Unlock(t.Context()), client.ErrNotHeld)
	mustBe(t, "Err", l.Err(), client.ErrNotHeld)
	mustBe(t, "Get", second(l.KV().Get(t.Context(), "k")), client.ErrNotHeld)
	mustBe(t, "its context", context.Cause(l.Context()), client.ErrNotHeld)
}

// A context that carries the lock, shared, would wait for itself, or for a writer
// who waits for it.
func TestSharedLockDoesNotReenter(t *testing.T) {
	cluster := oneMember(t)
	c := member(t, cluster, "a")
	l := share(t, c, "orders")
	if seq, ok := fencing.FromContext(l.Context(), "orders"); ok {
		t.Errorf("its context carries the sequencer %v, want none", seq)
	}
	bound, cancel := l.Bind(t.Context())
	defer cancel()
	for what, ctx := range map[string]context.Context{"its context": l.Context(), "a bound one": bound} {
		mustBe(t, "LockShared with "+what, second(c.LockShared(ctx, "orders")), client.ErrReentrant)
		mustBe(t, "Lock with "+what, second(c.Lock(ctx, "orders")), client.ErrReentrant)
		mustBe(t, "TryLockAll with "+what, second(c.TryLockAll(ctx, "other", "orders")), client.ErrReentrant)
		unlock(t, must(c.Lock(ctx, "other"))(t))
	}
	unshare(t, l)
}

func TestTryLockShared(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	first, second := must(a.TryLockShared(t.Context(), "orders"))(t), must(b.TryLockShared(t.Context(), "orders"))(t)
	_, err := b.TryLock(t.Context(), "orders")
	lockedError(t, "TryLock beside readers", err, "a", first.Token())
	writer := waitFor(t, etcd, a, "orders", 3)
	before := revision(t, etcd)
	_, err = b.TryLockShared(t.Context(), "orders")
	lockedError(t, "TryLockShared behind a waiting writer", err, "a", fencing.Token(queueOf(t, etcd, "orders")[2].CreateRevision))
	if got := revision(t, etcd); got != before {
		t.Errorf("a refused try made %d commits, want none", got-before)
	}
	unshare(t, first)
	unshare(t, second)
	held := granted(t, writer)
	_, err = b.TryLockShared(t.Context(), "orders")
	lockedError(t, "TryLockShared beside a writer", err, "a", held.Token())
	unlock(t, held)
	unshare(t, must(b.TryLockShared(t.Context(), "orders"))(t))
	awaitQueue(t, etcd, "orders", 0)
}

// Tries to share that race with each other all succeed, whatever the order in
// which their claims come; those that race with a writer leave nothing.
func TestTryLockSharedRaces(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b"), member(t, cluster, "c")}
	var racing sync.WaitGroup
	for i := range 24 {
		racing.Go(func() {
			l, err := clients[i%3].TryLockShared(context.Background(), "orders")
			if err != nil {
				t.Errorf("racer %d: %v", i, err)
				return
			}
			unshare(t, l)
		})
	}
	racing.Wait()
	var readers, writers, refused atomic.Int64
	for i := range 24 {
		racing.Go(func() {
			for range 20 {
				if i%4 == 0 {
					if l, err := clients[i%3].TryLock(context.Background(), "orders"); err == nil {
						if w, r := writers.Add(1), readers.Load(); w != 1 || r != 0 {
							t.Errorf("%d writers beside %d readers", w, r)
						}
						writers.Add(-1)
						unlock(t, l)
						continue
					}
				} else if l, err := clients[i%3].TryLockShared(context.Background(), "orders"); err == nil {
					readers.Add(1)
					if w := writers.Load(); w != 0 {
						t.Errorf("a reader beside %d writers", w)
					}
					readers.Add(-1)
					unshare(t, l)
					continue
				}
				refused.Add(1)
			}
		})
	}
	racing.Wait()
	t.Logf("%d tries refused of 480", refused.Load())
	awaitQueue(t, etcd, "orders", 0)
}

// The last exclusive claim stands hundreds of shared ones ahead: more than one
// page of them has to be read.
func TestSharedWaiterFindsAWriterFarAhead(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "waiter")
	for _, between := range []int{99, 100, 101, 199, 200, 350} {
		t.Run(fmt.Sprint(between), func(t *testing.T) {
			name := fmt.Sprint("far/", between)
			lease := newLease(t, etcd)
			putClaim(t, etcd, lease, name, 0, keys.ClaimValue{Owner: "writer"})
			writer := string(queueOf(t, etcd, name)[0].Key)
			for i := range between {
				putClaim(t, etcd, lease, name, i+1, keys.ClaimValue{Mode: keys.SharedMode})
			}
			waiting := goShared(c, name)
			awaitQueue(t, etcd, name, between+2)
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			_, err := c.LockShared(ctx, name)
			mustBe(t, "a second reader", err, context.DeadlineExceeded)
			notYet(t, waiting, "a reader far behind a writer")
			if _, err := etcd.Delete(t.Context(), writer); err != nil {
				t.Fatal(err)
			}
			unshare(t, obtain(t, waiting, "the reader"))
		})
	}
}

// With nothing but shared claims before it, however many, a reader need not wait.
func TestSharedClaimBehindManySharedOnesHolds(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	lease := newLease(t, etcd)
	for i := range 250 {
		putClaim(t, etcd, lease, "orders", i, keys.ClaimValue{Mode: keys.SharedMode})
	}
	c := member(t, cluster, "a")
	unshare(t, share(t, c, "orders"))
	unshare(t, must(c.TryLockShared(t.Context(), "orders"))(t))
}

// The writer that a reader waits for leaves: another one further ahead counts then.
func TestSharedWaiterBehindTwoWriters(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := hold(t, member(t, cluster, "first"), "orders")
	between := share2(t, etcd, member(t, cluster, "between"), 2)
	ctx, cancel := context.WithCancel(t.Context())
	writer := goLock(ctx, member(t, cluster, "second"), "orders")
	awaitQueue(t, etcd, "orders", 3)
	reader := share2(t, etcd, member(t, cluster, "reader"), 4)
	cancel()
	mustBe(t, "Lock of the second writer", receive(t, writer, "the second writer").err, context.Canceled)
	unlock(t, hold(t, member(t, cluster, "other"), "other"))
	notYet(t, reader, "a reader behind the first writer")
	unlock(t, held)
	unshare(t, obtain(t, reader, "the reader"))
	unshare(t, obtain(t, between, "the one between"))
	awaitQueue(t, etcd, "orders", 0)
}

// share2 calls LockShared in a goroutine and returns when its claim is the n-th.
func share2(t testing.TB, etcd *clientv3.Client, c sharer, n int) <-chan got[*client.SharedLock] {
	t.Helper()
	waiting := goShared(c, "orders")
	awaitQueue(t, etcd, "orders", n)
	return waiting
}

// Claims of etcd's own recipe are exclusive: they and readers exclude each other.
func TestForeignMutexExcludesSharedLocks(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "ours")
	mutex := foreignMutex(t, etcd, "orders")
	if err := mutex.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := c.TryLockShared(t.Context(), "orders")
	mustBe(t, "TryLockShared", err, client.ErrLocked)
	reader := share2(t, etcd, c, 2)
	notYet(t, reader, "a reader behind a foreign mutex")
	if err := mutex.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	held := obtain(t, reader, "the reader")
	foreign := goForeign(mutex)
	awaitQueue(t, etcd, "orders", 2)
	late := share2(t, etcd, c, 3)
	notYet(t, late, "a reader behind a waiting foreign mutex")
	unshare(t, held)
	if err := receive(t, foreign, "the foreign mutex"); err != nil {
		t.Fatal(err)
	}
	if err := mutex.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	unshare(t, obtain(t, late, "the late reader"))
}

// Readers and writers of several clients at random: no writer beside anybody, and
// readers do share.
func TestReadersAndWritersAtRandom(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b"), member(t, cluster, "c")}
	var readers, writers, most atomic.Int64
	var working sync.WaitGroup
	for i := range 12 {
		working.Go(func() {
			for range 15 {
				if i%4 == 0 {
					l := hold(t, clients[i%3], "orders")
					if w, r := writers.Add(1), readers.Load(); w != 1 || r != 0 {
						t.Errorf("%d writers beside %d readers", w, r)
					}
					writers.Add(-1)
					unlock(t, l)
					continue
				}
				l := share(t, clients[i%3], "orders")
				n := readers.Add(1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				if w := writers.Load(); w != 0 {
					t.Errorf("a reader beside %d writers", w)
				}
				readers.Add(-1)
				unshare(t, l)
			}
		})
	}
	working.Wait()
	t.Logf("%d readers held at once", most.Load())
	awaitQueue(t, etcd, "orders", 0)
}
