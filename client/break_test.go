package client_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// fenceNow is the value under a lock's fence, "" if there is none.
func fenceNow(t testing.TB, etcd *clientv3.Client, lock string) keys.FenceValue {
	t.Helper()
	resp, err := etcd.Get(context.Background(), "fencelock/fence/"+lock)
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.Kvs) == 0 {
		return ""
	}
	return keys.FenceValue(resp.Kvs[0].Value)
}

func breakLock(t testing.TB, c *client.Client, name string, token fencing.Token) {
	t.Helper()
	if err := c.Break(context.Background(), name, token); err != nil {
		t.Fatalf("break %q, token %v: %v", name, token, err)
	}
}

func put(l *client.Lock) error {
	_, err := l.KV().Put(context.Background(), "k", []byte(l.Token().String()))
	return err
}

// The victim is fenced before anybody else holds, and learns of it soon; the next
// one gets the lock and works.
func TestBreakFencesItsVictim(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	breaker := member(t, cluster, "breaker")
	held := hold(t, member(t, cluster, "victim"), "orders")
	bare, err := breaker.KV(held.Sequencer())
	if err != nil {
		t.Fatal(err)
	}
	if err := put(held); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	breakLock(t, breaker, "orders", held.Token())
	if got, want := fenceNow(t, etcd, "orders"), keys.Closed(held.Token()); got != want {
		t.Errorf("fence %s, want %s", got, want)
	}
	_, err = bare.Put(t.Context(), "k", nil)
	stale(t, "a put with the victim's sequencer", err, held.Token())
	if err := put(held); !errors.Is(err, client.ErrStale) && !errors.Is(err, client.ErrLost) {
		t.Errorf("a put of the victim: got %v, want ErrStale, or ErrLost if it knows", err)
	}
	receive(t, held.Done(), "Done of the victim")
	if took := time.Since(start); took > 1200*time.Millisecond {
		t.Errorf("the victim learned of it after %v, want about a second", took)
	}
	mustBe(t, "Err of the victim", held.Err(), client.ErrLost)
	mustBe(t, "Unlock of the victim", held.Unlock(t.Context()), client.ErrLost)
	next := hold(t, breaker, "orders")
	if err := put(next); err != nil {
		t.Errorf("a put of the next holder: %v", err)
	}
	unlock(t, next)
}

// The victim does not know yet: the store refuses it as stale, although nobody has
// the lock.
func TestBreakFencesAVictimThatDoesNotKnow(t *testing.T) {
	cluster := oneMember(t)
	breaker, victim := member(t, cluster, "breaker"), member(t, cluster, "victim")
	for range 10 {
		held := hold(t, victim, "orders")
		if err := put(held); err != nil {
			t.Fatal(err)
		}
		breakLock(t, breaker, "orders", held.Token())
		stale(t, "a put of the victim", put(held), held.Token()) // its watch begins after 300 ms
		mustBe(t, "Unlock", held.Unlock(t.Context()), client.ErrLost)
	}
}

func TestNextWaiterGetsABrokenLock(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	breaker := member(t, cluster, "breaker")
	held := hold(t, member(t, cluster, "victim"), "orders")
	next := waitFor(t, etcd, member(t, cluster, "next"), "orders", 2)
	breakLock(t, breaker, "orders", held.Token())
	l := granted(t, next)
	if err := put(l); err != nil {
		t.Errorf("a put of the next holder: %v", err)
	}
	if got, want := fenceNow(t, etcd, "orders"), keys.Claimed(l.Token()); got != want {
		t.Errorf("fence %s, want %s", got, want)
	}
	err := put(held)
	if !errors.Is(err, client.ErrStale) && !errors.Is(err, client.ErrLost) {
		t.Errorf("a put of the victim: got %v, want a refusal", err)
	}
	unlock(t, l)
}

// A waiter, or a shared holder, is broken: those who hold are not fenced.
func TestBreakFencesNobodyElse(t *testing.T) {
	t.Run("a waiter", func(t *testing.T) {
		cluster := oneMember(t)
		etcd := cluster.Client(t)
		breaker := member(t, cluster, "breaker")
		held := hold(t, member(t, cluster, "holder"), "orders")
		waiting := waitFor(t, etcd, member(t, cluster, "victim"), "orders", 2)
		last := waitFor(t, etcd, member(t, cluster, "last"), "orders", 3)
		breakLock(t, breaker, "orders", fencing.Token(queueOf(t, etcd, "orders")[1].CreateRevision))
		mustBe(t, "Lock of the victim", receiveWithin(t, 2*time.Second, waiting, "the victim").err, client.ErrLost)
		if got := fenceNow(t, etcd, "orders"); got != "" {
			t.Errorf("fence %s, want none", got)
		}
		if err := put(held); err != nil {
			t.Errorf("a put of the holder: %v", err)
		}
		unlock(t, held)
		l := granted(t, last)
		if err := put(l); err != nil {
			t.Errorf("a put of the next holder: %v", err)
		}
	})
	t.Run("a shared holder", func(t *testing.T) {
		cluster := oneMember(t)
		etcd := cluster.Client(t)
		breaker := member(t, cluster, "breaker")
		first, second := share(t, member(t, cluster, "victim"), "orders"), share(t, breaker, "orders")
		for _, l := range []*client.SharedLock{first, second} {
			if _, err := l.KV().Get(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
		}
		fence := fenceNow(t, etcd, "orders")
		breakLock(t, breaker, "orders", first.Token())
		if got := fenceNow(t, etcd, "orders"); got != fence {
			t.Errorf("fence %s, want %s as before", got, fence)
		}
		if _, err := second.KV().Get(t.Context(), "k"); err != nil {
			t.Errorf("a read of the other holder: %v", err)
		}
		if _, err := first.KV().Get(t.Context(), "k"); !errors.Is(err, client.ErrNotHeld) && !errors.Is(err, client.ErrLost) {
			t.Errorf("a read of the victim: got %v, want ErrNotHeld or ErrLost", err)
		}
		receiveWithin(t, 2*time.Second, first.Done(), "Done of the victim")
		unshare(t, second)
	})
}

// A token that no claim bears changes nothing.
func TestBreakOfAWrongToken(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	breaker := member(t, cluster, "breaker")
	past := hold(t, breaker, "orders")
	unlock(t, past)
	held := hold(t, member(t, cluster, "holder"), "orders")
	if err := put(held); err != nil {
		t.Fatal(err)
	}
	other := hold(t, member(t, cluster, "other"), "other")
	before := revision(t, etcd)
	for _, token := range []fencing.Token{0, -1, 1, past.Token(), held.Token() - 1, held.Token() + 1, other.Token(), 1<<63 - 1} {
		mustBe(t, "Break of "+token.String(), breaker.Break(t.Context(), "orders", token), client.ErrNotHeld)
	}
	mustBe(t, "Break of a bad name", breaker.Break(t.Context(), "a//b", 1), client.ErrInvalidName)
	mustBe(t, "Break of a free lock", breaker.Break(t.Context(), "free", held.Token()), client.ErrNotHeld)
	if got := revision(t, etcd); got != before {
		t.Errorf("they made %d commits, want none", got-before)
	}
	if err := put(held); err != nil {
		t.Errorf("a put of the holder: %v", err)
	}
}

// A foreign client has rewritten its key: the token is when it was created.
func TestBreakOfAForeignClaim(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	breaker := member(t, cluster, "breaker")
	key := queuePrefix("orders") + "foreign"
	lease := newLease(t, etcd)
	for range 2 {
		if _, err := etcd.Put(t.Context(), key, "", clientv3.WithLease(lease)); err != nil {
			t.Fatal(err)
		}
	}
	claim := queueOf(t, etcd, "orders")[0]
	mustBe(t, "Break of when it was rewritten", breaker.Break(t.Context(), "orders", fencing.Token(claim.ModRevision)), client.ErrNotHeld)
	awaitQueue(t, etcd, "orders", 1)
	breakLock(t, breaker, "orders", fencing.Token(claim.CreateRevision))
	awaitQueue(t, etcd, "orders", 0)
	unlock(t, hold(t, breaker, "orders"))
}

// The fence stands higher already, after a restore for one: it is never lowered.
func TestBreakNeverLowersAFence(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	breaker := member(t, cluster, "breaker")
	for _, high := range []keys.FenceValue{keys.Closed(1 << 40), keys.Claimed(1 << 40), keys.Shared(1 << 40)} {
		held := hold(t, member(t, cluster, "victim"), "orders")
		if _, err := etcd.Put(t.Context(), "fencelock/fence/orders", string(high)); err != nil {
			t.Fatal(err)
		}
		breakLock(t, breaker, "orders", held.Token())
		if got := fenceNow(t, etcd, "orders"); got != high {
			t.Errorf("fence %s, want %s as before", got, high)
		}
	}
}

// The token of a waiter that was cancelled is higher than the one that is broken:
// the closed fence must not admit it.
func TestBreakDoesNotAdmitACancelledWaiter(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	breaker := member(t, cluster, "breaker")
	held := hold(t, member(t, cluster, "victim"), "orders")
	ctx, cancel := context.WithCancel(t.Context())
	waiting := goLock(ctx, member(t, cluster, "waiter"), "orders")
	awaitQueue(t, etcd, "orders", 2)
	cancelled := fencing.Sequencer{Lock: "orders", Token: fencing.Token(queueOf(t, etcd, "orders")[1].CreateRevision)}
	if cancelled.Token != held.Token()+1 {
		t.Errorf("the waiter's token is %v, want the one after %v", cancelled.Token, held.Token())
	}
	cancel()
	receive(t, waiting, "the cancelled waiter")
	breakLock(t, breaker, "orders", held.Token())
	handle, err := breaker.KV(cancelled)
	if err != nil {
		t.Fatal(err)
	}
	_, err = handle.Put(t.Context(), "k", nil)
	mustBe(t, "a put with its token", err, client.ErrNotHeld)
	if got, want := fenceNow(t, etcd, "orders"), keys.Closed(held.Token()); got != want {
		t.Errorf("fence %s, want %s", got, want)
	}
}

// Two breaks at once: one of them does it. A break and an unlock: the lock is free,
// and whoever comes next works.
func TestBreakRaces(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	breakers := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b")}
	holder := member(t, cluster, "holder")
	for range 20 {
		held := hold(t, holder, "orders")
		var breaking sync.WaitGroup
		errs := make([]error, 2)
		for i, c := range breakers {
			breaking.Go(func() { errs[i] = c.Break(context.Background(), "orders", held.Token()) })
		}
		breaking.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), client.ErrNotHeld) {
			t.Errorf("two breaks: %v and %v, want one nil and one ErrNotHeld", errs[0], errs[1])
		}
		mustBe(t, "Unlock", held.Unlock(t.Context()), client.ErrLost)

		held = hold(t, holder, "orders")
		var broken, unlocked error
		breaking.Go(func() { broken = breakers[0].Break(context.Background(), "orders", held.Token()) })
		unlocked = held.Unlock(t.Context())
		breaking.Wait()
		if (broken == nil) == (unlocked == nil) {
			t.Errorf("break: %v, unlock: %v, want one of them to find the claim gone", broken, unlocked)
		}
		next := hold(t, holder, "orders")
		if err := put(next); err != nil {
			t.Errorf("a put of the next holder: %v", err)
		}
		unlock(t, next)
	}
	awaitQueue(t, etcd, "orders", 0)
}

// A waiter becomes the holder while it is broken: then its fence is closed too.
func TestBreakOfAWaiterThatIsGrantedMeanwhile(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	var f faults
	breaker := connect(t, client.Config{Etcd: f.client(t, cluster)})
	held := hold(t, member(t, cluster, "holder"), "orders")
	waiting := waitFor(t, etcd, member(t, cluster, "victim"), "orders", 2)
	token := fencing.Token(queueOf(t, etcd, "orders")[1].CreateRevision)
	var victim *client.Lock
	f.set(1, claimDelete("orders"), func(send func() error, _ context.Context) error {
		unlock(t, held)
		victim = granted(t, waiting)
		return send()
	})
	breakLock(t, breaker, "orders", token)
	if got, want := fenceNow(t, etcd, "orders"), keys.Closed(token); got != want {
		t.Errorf("fence %q, want %s: it held when it was broken", got, want)
	}
	if err := put(victim); !errors.Is(err, client.ErrStale) && !errors.Is(err, client.ErrLost) {
		t.Errorf("a put of the victim: got %v, want a refusal", err)
	}
}

// A waiter leaves while it is broken, and its session waits again, with a claim at
// the same key: that one bears another token, and stays.
func TestBreakOfAClaimWhoseKeyCameBack(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	var f faults
	breaker := connect(t, client.Config{Etcd: f.client(t, cluster)})
	held := hold(t, member(t, cluster, "holder"), "orders")
	victim := member(t, cluster, "victim")
	ctx, cancel := context.WithCancel(t.Context())
	leaving := goLock(ctx, victim, "orders")
	awaitQueue(t, etcd, "orders", 2)
	old := queueOf(t, etcd, "orders")[1]
	var waiting <-chan result
	f.set(1, claimDelete("orders"), func(send func() error, _ context.Context) error {
		cancel()
		mustBe(t, "Lock", receive(t, leaving, "the waiter that leaves").err, context.Canceled)
		waiting = waitFor(t, etcd, victim, "orders", 2)
		if again := queueOf(t, etcd, "orders")[1]; string(again.Key) != string(old.Key) {
			t.Errorf("the second claim lies at %s, want %s again", again.Key, old.Key)
		}
		return send()
	})
	mustBe(t, "Break", breaker.Break(t.Context(), "orders", fencing.Token(old.CreateRevision)), client.ErrNotHeld)
	unlock(t, held)
	unlock(t, granted(t, waiting))
}

// The holder moves the fence between the look and the break, or somebody moves it
// higher than the break would: then it is not lowered.
func TestBreakWhileTheFenceMoves(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	for _, higher := range []bool{false, true} {
		var f faults
		breaker := connect(t, client.Config{Etcd: f.client(t, cluster)})
		held := hold(t, member(t, cluster, "holder"), "orders")
		want := keys.Closed(held.Token())
		f.set(1, claimDelete("orders"), func(send func() error, _ context.Context) error {
			var err error
			if higher {
				want = keys.Claimed(1 << 40)
				_, err = etcd.Put(context.Background(), "fencelock/fence/orders", string(want))
			} else {
				err = put(held)
			}
			if err != nil {
				t.Error(err)
			}
			return send()
		})
		breakLock(t, breaker, "orders", held.Token())
		if got := fenceNow(t, etcd, "orders"); got != want {
			t.Errorf("fence %s, want %s", got, want)
		}
	}
}

// No answer: the outcome is unknown, and the break that lands late harms nobody.
func TestBreakWithoutAnAnswer(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	var f faults
	breaker := connect(t, client.Config{Etcd: f.client(t, cluster)})
	held := hold(t, member(t, cluster, "victim"), "orders")
	late := f.set(1, claimDelete("orders"), loseUnsent)
	mustBe(t, "Break", breaker.Break(t.Context(), "orders", held.Token()), client.ErrUncertain)
	request := receive(t, late.Taken, "the break")
	unlock(t, held)
	next := hold(t, breaker, "orders")
	if err := put(next); err != nil {
		t.Fatal(err)
	}
	if land(t, etcd, request) {
		t.Error("the late break was applied to a newer claim")
	}
	if err := put(next); err != nil {
		t.Errorf("a put of the next holder: %v", err)
	}
	if err := breaker.Close(); err != nil {
		t.Error(err)
	}
	mustBe(t, "Break after Close", breaker.Break(t.Context(), "orders", next.Token()), client.ErrClosed)
}
