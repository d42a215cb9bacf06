package client_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

func TestLockIsHeldUntilUnlock(t *testing.T) {
	cluster := oneMember(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	first := hold(t, a, "orders")
	if first.Name() != "orders" || !first.Token().Valid() || first.Err() != nil || first.Context().Err() != nil {
		t.Errorf("got %q, token %v, Err %v, context %v, want a live lock on orders", first.Name(), first.Token(), first.Err(), first.Context().Err())
	}
	if left := time.Until(first.Deadline()); left <= 0 || left > client.DefaultTTL {
		t.Errorf("deadline in %v, want within %v", left, client.DefaultTTL)
	}
	second := waitFor(t, cluster.Client(t), b, "orders", 2)
	unlock(t, first)
	receive(t, first.Done(), "Done of an unlocked lock")
	mustBe(t, "Err after Unlock", first.Err(), client.ErrNotHeld)
	mustBe(t, "cause after Unlock", context.Cause(first.Context()), client.ErrNotHeld)
	if got := granted(t, second); got.Token() <= first.Token() {
		t.Errorf("second token %v, want more than the first, %v", got.Token(), first.Token())
	}
}

// etcd serves a watch of the past only every 100 ms: a wait that begins with one
// takes that long.
func TestHandOverTakesMilliseconds(t *testing.T) {
	cluster := clustertest.Start(t, 3)
	etcd := cluster.Client(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b")}
	held := hold(t, clients[0], "orders")
	var took []time.Duration
	for i := range 20 {
		next := waitFor(t, etcd, clients[(i+1)%2], "orders", 2)
		start := time.Now()
		unlock(t, held)
		got := receive(t, next, "the next holder")
		if got.err != nil {
			t.Fatalf("hand-over %d: %v", i, got.err)
		}
		held = got.lock
		took = append(took, got.at.Sub(start))
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > 50*time.Millisecond {
		t.Errorf("hand-overs took %v in the median, want milliseconds; all: %v", median, took)
	}
}

func TestTokenIsTheCreateRevisionOfTheClaim(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := connect(t, client.Config{Endpoints: cluster.Endpoints(), Owner: "web-1", Labels: map[string]string{"zone": "x", "job": "none"}})
	s := session(t, c, 5*time.Second)
	l, err := s.Acquire(t.Context(), client.Request{Name: "a/b", Labels: map[string]string{"job": "7"}, Value: []byte("v")})
	if err != nil {
		t.Fatal(err)
	}
	claim := claimOf(t, etcd, l)
	if want := fmt.Sprintf("fencelock/lock/a/b/@/%x-0", s.Lease()); string(claim.Key) != want {
		t.Errorf("claim lies at %s, want %s", claim.Key, want)
	}
	if claim.ModRevision != claim.CreateRevision || claim.Lease != s.Lease() {
		t.Errorf("claim changed at %d, with lease %x; want at its creation, %d, and the session's lease, %x", claim.ModRevision, claim.Lease, claim.CreateRevision, s.Lease())
	}
	says := keys.DecodeClaim(claim.Value)
	if says.Owner != "web-1" || says.Mode != keys.Exclusive || says.Labels["zone"] != "x" || says.Labels["job"] != "7" || string(says.Value) != "v" {
		t.Errorf("claim says %+v, want owner web-1, exclusive, the labels of both and the value", says)
	}
	if age := time.Since(says.Since); age < 0 || age > time.Minute {
		t.Errorf("claim was put %v ago, want just now", age)
	}
	if got, want := l.Sequencer(), (fencing.Sequencer{Lock: "a/b", Token: l.Token()}); got != want {
		t.Errorf("sequencer %v, want %v", got, want)
	}
}

func TestTokensRiseWithEveryGrant(t *testing.T) {
	cluster := oneMember(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b")}
	var last fencing.Token
	for i := range 50 {
		l := hold(t, clients[i%2], "orders")
		if l.Token() <= last {
			t.Fatalf("grant %d: token %v after %v, want more", i, l.Token(), last)
		}
		last = l.Token()
		unlock(t, l)
	}
}

// The token is that of the moment at which a waiter joined the queue, whenever it
// is granted and whoever has joined after it.
func TestTokenIsOfTheEnqueue(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	first := hold(t, member(t, cluster, "holder"), "orders")
	waiterA := waitFor(t, etcd, member(t, cluster, "a"), "orders", 2)
	want := fencing.Token(queueOf(t, etcd, "orders")[1].CreateRevision)
	for i := range 5 { // the store's revision moves on
		if _, err := etcd.Put(t.Context(), "other", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	b := member(t, cluster, "b")
	waiterB := waitFor(t, etcd, b, "orders", 3)
	unlock(t, first)
	a := granted(t, waiterA)
	if a.Token() != want {
		t.Errorf("A's token is %v, want %v, from its enqueue", a.Token(), want)
	}
	if _, err := a.KV().Put(t.Context(), "x", []byte("A's")); err != nil {
		t.Fatal(err)
	}
	if got := fenceOf(t, etcd, "orders"); got != keys.Claimed(want) {
		t.Errorf("the fence stands at %q, want at A's token, %q", got, keys.Claimed(want))
	}
	info, err := b.Inspect(t.Context(), "orders")
	if err != nil || len(info.Holders) != 1 || info.Holders[0].Token != want {
		t.Errorf("Inspect: holders %v, %v, want one with token %v", info.Holders, err, want)
	}
	mustBe(t, "Check of A's sequencer", b.Check(t.Context(), a.Sequencer()), nil)
	unlock(t, a)
	if got := granted(t, waiterB); got.Token() <= want {
		t.Errorf("B's token is %v, want more than A's, %v", got.Token(), want)
	}
}

// The grant brings the fence along, so that the holder's first operation is one
// transaction, whoever held before it.
func TestFirstFencedOperationIsOneTransaction(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	var f faults
	c := connect(t, client.Config{Etcd: f.client(t, cluster)})
	other := member(t, cluster, "other")
	for _, how := range []string{"free", "waited for", "tried"} {
		before := hold(t, other, "orders")
		if _, err := before.KV().Put(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
		var l *client.Lock
		switch how {
		case "waited for":
			waiting := waitFor(t, etcd, c, "orders", 2)
			unlock(t, before)
			l = granted(t, waiting)
		case "tried":
			unlock(t, before)
			l, _ = c.TryLock(t.Context(), "orders")
		default:
			unlock(t, before)
			l = hold(t, c, "orders")
		}
		sent := f.set(-1, func(*pb.TxnRequest) bool { return true }, pass)
		if _, err := l.KV().Put(t.Context(), "x", nil); err != nil {
			t.Errorf("%s: put: %v", how, err)
		}
		f.disarm()
		if got := len(sent.Taken); got != 1 {
			t.Errorf("%s: the first put took %d transactions, want 1", how, got)
		}
		unlock(t, l)
	}
}

// fenceOf reads a guard's fence, which must exist.
func fenceOf(t *testing.T, etcd *clientv3.Client, name string) keys.FenceValue {
	t.Helper()
	resp, err := etcd.Get(t.Context(), "fencelock/fence/"+name)
	if err != nil || len(resp.Kvs) != 1 {
		t.Fatalf("read the fence of %q: %v, %v, want one key", name, resp, err)
	}
	return keys.FenceValue(resp.Kvs[0].Value)
}

func TestWaitersHoldInTheOrderInWhichTheyCame(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b"), member(t, cluster, "c")}
	first := hold(t, clients[0], "orders")
	order := make(chan int, 12)
	for i := range cap(order) {
		// Each through a session of its own: those of one session queue locally.
		waiting := waitFor(t, etcd, session(t, clients[i%3], time.Minute), "orders", i+2)
		go func() {
			got := <-waiting
			order <- i
			if got.err == nil {
				_ = got.lock.Unlock(context.Background())
			}
		}()
	}
	unlock(t, first)
	for want := range cap(order) {
		if got := receive(t, order, "the next waiter"); got != want {
			t.Errorf("waiter %d got the lock, want waiter %d", got, want)
		}
	}
	awaitQueue(t, etcd, "orders", 0)
}

func TestLocksOfOneClientExcludeEachOther(t *testing.T) {
	cluster := oneMember(t)
	c := member(t, cluster, "a")
	const workers, rounds = 8, 25
	var s section
	done := make(chan error, workers)
	for range workers {
		go func() {
			for range rounds {
				err := c.Do(context.Background(), "counter", func(context.Context, *client.Lock) error {
					s.pass(t)
					return nil
				})
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range workers {
		if err := receive(t, done, "a worker"); err != nil {
			t.Error(err)
		}
	}
	if got := s.passed.Load(); got != workers*rounds {
		t.Errorf("the lock was held %d times, want %d", got, workers*rounds)
	}
}

func TestUnlockTwiceIsNotHeld(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "a")
	first := hold(t, c, "orders")
	unlock(t, first)
	second := hold(t, c, "orders") // the same key again
	mustBe(t, "second Unlock", first.Unlock(t.Context()), client.ErrNotHeld)
	if got := queueOf(t, etcd, "orders"); len(got) != 1 || got[0].CreateRevision != int64(second.Token()) {
		t.Errorf("queue %v, want the second claim alone", keysOf(got))
	}
	if err := second.Err(); err != nil {
		t.Errorf("the second lock: got %v, want it held", err)
	}
}

func TestUnlockWithACancelledContextFreesAtOnce(t *testing.T) {
	cluster := oneMember(t)
	l := hold(t, member(t, cluster, "a"), "orders")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Unlock(ctx); err != nil {
		t.Errorf("unlock: got %v, want nil", err)
	}
	if got := queueOf(t, cluster.Client(t), "orders"); len(got) != 0 {
		t.Errorf("queue %v, want none", keysOf(got))
	}
}

func TestLostIsNotNotHeld(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	s := session(t, member(t, cluster, "a"), 2*time.Second)
	l := hold(t, s, "orders")
	revoke(t, etcd, s)
	receive(t, l.Done(), "Done of a lost lock")
	for range 2 {
		err := l.Unlock(t.Context())
		mustBe(t, "Unlock of a lost lock", err, client.ErrLost)
		mustNotBe(t, "Unlock of a lost lock", err, client.ErrNotHeld)
	}
}

// A lock that was lost without its owner noticing is still told apart.
func TestUnlockFindsThatTheClaimIsGone(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	l := hold(t, member(t, cluster, "a"), "orders")
	if _, err := etcd.Delete(t.Context(), string(claimOf(t, etcd, l).Key)); err != nil {
		t.Fatal(err)
	}
	mustBe(t, "Unlock", l.Unlock(t.Context()), client.ErrLost)
	mustBe(t, "Err after it", l.Err(), client.ErrLost)
}
