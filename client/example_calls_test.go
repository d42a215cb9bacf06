package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/fencelock/fencelock/client"
)

// New does not dial: whether a cluster can be reached shows at the first request.
func ExampleNew() {
	c, err := client.New(client.Config{
		Endpoints:   []string{"127.0.0.1:1"}, // nobody is there
		TTL:         30 * time.Second,
		Owner:       "worker-7",
		DialTimeout: 300 * time.Millisecond,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = c.Lock(context.Background(), "orders")
	fmt.Println(errors.Is(err, client.ErrUnavailable))
	// Output: true
}

// Lock waits as long as its context allows. A handle says how long it may be
// trusted, and ends once.
func ExampleClient_Lock() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	a, b := newClient(endpoints, "a"), newClient(endpoints, "b")
	defer a.Close()
	defer b.Close()

	first := check(a.Lock(ctx, "orders"))
	fmt.Println("trusted:", first.Err() == nil && time.Until(first.Deadline()) > 10*time.Second)
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := b.Lock(short, "orders")
	fmt.Println("out of time:", errors.Is(err, client.ErrLocked), errors.Is(err, context.DeadlineExceeded))

	check(0, first.Unlock(ctx))
	<-first.Done()
	next := check(b.Lock(ctx, first.Name()))
	fmt.Println("a higher token:", next.Token() > first.Token())
	fmt.Println("twice:", errors.Is(first.Unlock(ctx), client.ErrNotHeld))
	// Output:
	// trusted: true
	// out of time: true true
	// a higher token: true
	// twice: true
}

// Acquire takes labels and a value, for those who look at the lock.
func ExampleClient_Acquire() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "a")
	defer c.Close()

	l := check(c.Acquire(ctx, client.Request{Name: "deploy", Try: true, Labels: map[string]string{"version": "7"}, Value: []byte("10.0.0.1")}))
	defer l.Unlock(ctx)
	holder := check(c.Inspect(ctx, "deploy")).Holders[0]
	fmt.Printf("%s %v %s %t\n", holder.Owner, holder.Labels, holder.Value, holder.Exclusive())
	// Output: a map[version:7] 10.0.0.1 true
}

// A reader that must not wait.
func ExampleClient_TryLockShared() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "a")
	defer c.Close()

	reader := check(c.TryLockShared(ctx, "catalog"))
	check(0, reader.Unlock(ctx))
	check(c.TryLock(ctx, "catalog"))
	_, err := c.TryLockShared(ctx, "catalog")
	fmt.Println("a writer holds it:", errors.Is(err, client.ErrLocked))
	// Output: a writer holds it: true
}

// All or none, at once.
func ExampleClient_TryLockAll() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "a")
	defer c.Close()

	check(c.TryLock(ctx, "b"))
	_, err := c.TryLockAll(ctx, "a", "b", "c")
	var locked *client.LockedError
	if errors.As(err, &locked) {
		fmt.Println("in the way:", locked.Holder.Lock)
	}
	fmt.Println("holders of a:", len(check(c.Inspect(ctx, "a")).Holders))
	// Output:
	// in the way: b
	// holders of a: 0
}

// A job that does not wait for a place.
func ExampleSemaphore_TryAcquire() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "worker")
	defer c.Close()

	one := c.Semaphore("license", 1)
	permit := check(one.TryAcquire(ctx))
	_, err := one.TryAcquire(ctx)
	fmt.Println("taken:", errors.Is(err, client.ErrLocked))
	check(0, permit.Release(ctx))
	// Output: taken: true
}

// Who works on one of the licensed machines, and who waits for one?
func ExampleClient_InspectSemaphore() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "worker@host-1")
	defer c.Close()

	permit := check(c.Semaphore("license", 2).Acquire(ctx))
	info := check(c.InspectSemaphore(ctx, "license"))
	fmt.Printf("%d of %d permits, one by %s; %d wait\n", len(info.Holders), info.Limit, info.Holders[0].Owner, len(info.Waiters))
	check(0, permit.Release(ctx))
	// Output: 1 of 2 permits, one by worker@host-1; 0 wait
}

// Leader asks who leads, without a part in the election.
func ExampleClient_Leader() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "scheduler@host-1")
	defer c.Close()

	_, err := c.Leader(ctx, "scheduler")
	fmt.Println(err)
	check(c.Campaign(ctx, "scheduler", []byte("10.0.0.1:8080")))
	fmt.Printf("%s\n", check(c.Leader(ctx, "scheduler")).Value)
	// Output:
	// leader of "scheduler": no leader
	// 10.0.0.1:8080
}

// A session of its own, for locks that must be free soon after their holder dies.
func ExampleClient_NewSession() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "a")
	defer c.Close()

	s := check(c.NewSession(ctx, 3*time.Second))
	l := check(s.Lock(ctx, "orders"))
	fmt.Println(s.TTL(), s.Lease() != 0, s.Err())
	check(0, s.Close()) // gives its locks back
	<-s.Done()
	fmt.Println(errors.Is(l.Err(), client.ErrNotHeld))
	// Output:
	// 3s true <nil>
	// true
}

// A service that was handed a sequencer works behind the fence on the holder's
// behalf, until somebody newer has claimed it.
func ExampleClient_KV() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	holder, service := newClient(endpoints, "holder"), newClient(endpoints, "service")
	defer holder.Close()
	defer service.Close()

	l := check(holder.Lock(ctx, "accounts/42"))
	handed := l.Sequencer() // with a request, as text: accounts/42#…
	records := check(service.KV(handed))
	check(records.Put(ctx, "balance", []byte("10")))
	check(0, l.Unlock(ctx))
	_, err := records.Put(ctx, "balance", []byte("20"))
	fmt.Println(errors.Is(err, client.ErrNotHeld))
	// Output: true
}

// Check refuses work early. It protects nothing: only a fence does.
func ExampleClient_Check() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "a")
	defer c.Close()

	l := check(c.Lock(ctx, "orders"))
	fmt.Println(c.Check(ctx, l.Sequencer()))
	check(0, l.Unlock(ctx))
	fmt.Println(errors.Is(c.Check(ctx, l.Sequencer()), client.ErrNotHeld))
	// Output:
	// <nil>
	// true
}

// Locks lists the locks that somebody claims.
func ExampleClient_Locks() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "a")
	defer c.Close()

	l := check(c.LockAll(ctx, "jobs/1", "jobs/2", "other"))
	fmt.Println("one token:", l.Token() == l.Sequencer("other").Token)
	var names []string
	for info, err := range c.Locks(ctx, "jobs/") {
		if err != nil {
			log.Fatal(err)
		}
		names = append(names, info.Name)
	}
	slices.Sort(names)
	fmt.Println(names)
	// Output:
	// one token: true
	// [jobs/1 jobs/2]
}

// How long a lock would last if its holder were dead.
func ExampleClient_TTLLeft() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "a")
	defer c.Close()

	check(c.Lock(ctx, "orders"))
	holder := check(c.Inspect(ctx, "orders")).Holders[0]
	left := check(c.TTLLeft(ctx, holder))
	fmt.Println(left > 0 && left <= client.DefaultTTL)
	// Output: true
}

// Etcd gives access to everything else that the cluster can do.
func ExampleClient_Etcd() {
	endpoints, stop := startMember()
	defer stop()
	c := newClient(endpoints, "a")
	defer c.Close()

	members := check(c.Etcd().MemberList(context.Background()))
	fmt.Println(len(members.Members))
	// Output: 1
}

// Close gives back everything that the client holds.
func ExampleClient_Close() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "a")

	l := check(c.Lock(ctx, "orders"))
	check(0, c.Close())
	fmt.Println("given back:", errors.Is(l.Err(), client.ErrNotHeld))
	_, err := c.Lock(ctx, "orders")
	fmt.Println("closed:", errors.Is(err, client.ErrClosed))
	// Output:
	// given back: true
	// closed: true
}

// CauseOf sorts losses, for metrics.
func ExampleCauseOf() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "a")
	defer c.Close()

	l := check(c.Lock(ctx, "orders"))
	check(0, c.Break(ctx, "orders", l.Token()))
	fmt.Println(client.CauseOf(l.Unlock(ctx)))
	// Output: claim
}
