package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"sync/atomic"

	"github.com/fencelock/fencelock/client"
)

// newClient makes a client for an example.
func newClient(endpoints []string, owner string) *client.Client {
	c, err := client.New(client.Config{Endpoints: endpoints, Owner: owner})
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// check ends an example that does not go well.
func check[V any](v V, err error) V {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// Read-mostly data: readers hold together, a writer holds alone, and a reader that
// has been overtaken by a writer is refused.
func ExampleClient_LockShared() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "catalog")
	defer c.Close()

	if err := c.Do(ctx, "catalog", func(ctx context.Context, l *client.Lock) error {
		_, err := l.KV().Put(ctx, "price/apple", []byte("3"))
		return err
	}); err != nil {
		log.Fatal(err)
	}

	one, other := check(c.LockShared(ctx, "catalog")), check(c.LockShared(ctx, "catalog"))
	price := check(one.KV().Get(ctx, "price/apple"))
	fmt.Printf("%s %s\n", price.Key, price.Value)
	_, err := c.TryLock(ctx, "catalog")
	fmt.Println("a writer has to wait:", errors.Is(err, client.ErrLocked))
	for _, l := range []*client.SharedLock{one, other} {
		if err := l.Unlock(ctx); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// price/apple 3
	// a writer has to wait: true
}

// A batch over several accounts: all locks or none, in whatever order they are
// named, without a deadlock.
func ExampleClient_LockAll() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "transfers")
	defer c.Close()

	transfer := func(from, to string) error {
		l, err := c.LockAll(ctx, from, to)
		if err != nil {
			return err
		}
		defer l.Unlock(ctx)
		for _, account := range l.Names() {
			if _, err := l.KV(account).Put(ctx, "moved", []byte(l.Sequencer(account).Lock)); err != nil {
				return err // *fencing.StaleError if somebody has overtaken this batch there
			}
		}
		return nil
	}
	var both sync.WaitGroup
	both.Go(func() { check(0, transfer("accounts/1", "accounts/2")) })
	both.Go(func() { check(0, transfer("accounts/2", "accounts/1")) })
	both.Wait()

	l := check(c.LockAll(ctx, "accounts/2", "accounts/1", "accounts/2"))
	fmt.Println(l.Names(), l.Sequencer("accounts/1").Token == l.Sequencer("accounts/2").Token)
	// Output: [accounts/1 accounts/2] true
}

// At most two jobs at once, in all processes together.
func ExampleClient_Semaphore() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "worker")
	defer c.Close()

	var running, most atomic.Int64
	var jobs sync.WaitGroup
	for range 6 {
		jobs.Go(func() {
			permit := check(c.Semaphore("reports", 2).Acquire(ctx))
			defer permit.Release(ctx)
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			running.Add(-1) // the work would be done before this
		})
	}
	jobs.Wait()
	fmt.Println("never more than two:", most.Load() <= 2)
	_, err := c.Semaphore("reports", 3).Acquire(ctx)
	fmt.Println(err)
	// Output:
	// never more than two: true
	// semaphore "reports": put a claim: its limit is 2, not 3: all its users must give the same
}

// A leader's loop. Others find the leader by the value that it gave.
func ExampleClient_Campaign() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "scheduler@host-1")
	defer c.Close()

	leader := check(c.Campaign(ctx, "scheduler", []byte("10.0.0.1:8080")))
	claim := check(c.Leader(ctx, "scheduler"))
	fmt.Printf("%s leads at %s\n", claim.Owner, claim.Value)
	for leader.Err() == nil {
		// One round of work. Its writes are fenced: a leader that was overtaken
		// while it did not look is refused.
		check(leader.KV().Put(leader.Context(), "round", []byte("1")))
		if err := leader.Unlock(ctx); err != nil { // resigns
			log.Fatal(err)
		}
	}
	_, err := c.Leader(ctx, "scheduler")
	fmt.Println(err)
	// Output:
	// scheduler@host-1 leads at 10.0.0.1:8080
	// leader of "scheduler": no leader
}

// Observe follows who leads.
func ExampleClient_Observe() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	a, b := newClient(endpoints, "a"), newClient(endpoints, "b")
	defer a.Close()
	defer b.Close()

	first := check(a.Campaign(ctx, "scheduler", []byte("host-a")))
	for leader, err := range b.Observe(ctx, "scheduler") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", leader.Value)
		if string(leader.Value) == "host-b" {
			break
		}
		if err := first.Unlock(ctx); err != nil {
			log.Fatal(err)
		}
		check(b.Campaign(ctx, "scheduler", []byte("host-b")))
	}
	// Output:
	// host-a
	// host-b
}

// Break takes the lock away from a holder that hangs. From then on the store
// refuses it, whether or not it knows.
func ExampleClient_Break() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	stuck, operator := newClient(endpoints, "stuck"), newClient(endpoints, "operator")
	defer stuck.Close()
	defer operator.Close()

	held := check(stuck.Lock(ctx, "deploy"))
	info := check(operator.Inspect(ctx, "deploy"))
	if err := operator.Break(ctx, "deploy", info.Holders[0].Token); err != nil {
		log.Fatal(err)
	}
	service := check(operator.KV(held.Sequencer())) // that works for the one who is stuck
	_, err := service.Put(ctx, "version", []byte("7"))
	fmt.Println("stale:", errors.Is(err, client.ErrStale))
	<-held.Done()
	fmt.Println("lost:", errors.Is(held.Err(), client.ErrLost))
	// Output:
	// stale: true
	// lost: true
}

// Watch tells what happens to locks.
func ExampleClient_Watch() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c := newClient(endpoints, "cook")
	defer c.Close()

	enough, done := make(chan struct{}), make(chan struct{})
	go func() { // a watch begins with its loop, so that this goes on until it has
		defer close(done)
		for {
			select {
			case <-enough:
				return
			default:
				check(0, c.Do(ctx, "kitchen/stove", func(context.Context, *client.Lock) error { return nil }))
			}
		}
	}()
	var before client.EventKind
	for event, err := range c.Watch(ctx, "kitchen/") {
		if err != nil {
			log.Fatal(err)
		}
		if before == client.Acquired {
			fmt.Println(before, "and then", event.Kind, event.Claim.Lock, "by", event.Claim.Owner)
			break
		}
		before = event.Kind
	}
	close(enough)
	<-done
	// Output: acquired and then released kitchen/stove by cook
}

// Inspect shows who holds a lock and who waits, in order.
func ExampleClient_Inspect() {
	endpoints, stop := startMember()
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	a, b := newClient(endpoints, "a"), newClient(endpoints, "b")
	defer a.Close()
	defer b.Close()

	check(a.Acquire(ctx, client.Request{Name: "deploy", Labels: map[string]string{"version": "7"}}))
	waiting := make(chan error)
	go func() {
		_, err := b.Lock(ctx, "deploy")
		waiting <- err
	}()
	info := check(a.Inspect(ctx, "deploy"))
	for len(info.Waiters) == 0 {
		info = check(a.Inspect(ctx, "deploy"))
	}
	fmt.Println("held by", info.Holders[0].Owner, info.Holders[0].Labels)
	fmt.Println("awaited by", info.Waiters[0].Owner)
	cancel()
	fmt.Println(errors.Is(<-waiting, context.Canceled))
	// Output:
	// held by a map[version:7]
	// awaited by b
	// true
}
