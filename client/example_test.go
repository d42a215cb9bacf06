package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/fencing"
)

// startMember starts a member for an example: "fencelock server" in real life.
func startMember() (endpoints []string, stop func()) {
	dir, err := os.MkdirTemp("", "fencelock-example-")
	if err != nil {
		log.Fatal(err)
	}
	member, err := cluster.Start(context.Background(), cluster.Config{
		DataDir:       dir,
		ListenClient:  []string{freeAddress()},
		ListenPeer:    []string{freeAddress()},
		Heartbeat:     20 * time.Millisecond, // ready in a moment
		Election:      200 * time.Millisecond,
		UnsafeNoFsync: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	return member.ClientAddrs(), func() {
		_ = member.Kill()
		_ = os.RemoveAll(dir)
	}
}

func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A lock, and a record that only its latest holder can change.
func Example() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()

	c, err := client.New(client.Config{Endpoints: endpoints})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	l, err := c.Lock(ctx, "accounts/42")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := l.KV().Put(ctx, "balance", []byte("10")); err != nil {
		log.Fatal(err) // *fencing.StaleError if this holder has been overtaken
	}
	if err := l.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Err())
	// Output: lock not held: lock "accounts/42" was unlocked
}

// Do locks, runs a function and unlocks. A holder that has been overtaken is
// refused by the fence, even if it has not noticed yet.
func ExampleClient_Do() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c, err := client.New(client.Config{Endpoints: endpoints})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	var old fencing.Sequencer
	add := func(ctx context.Context, l *client.Lock) error {
		balance, err := l.KV().Get(ctx, "balance") // claims the fence: from here on older holders are refused
		if err != nil {
			return err
		}
		old = l.Sequencer()
		_, err = l.KV().Put(ctx, "balance", append(balance.Value, '0'))
		return err
	}
	for range 2 {
		if err := c.Do(ctx, "accounts/42", add); err != nil {
			log.Fatal(err)
		}
	}
	err = c.Do(ctx, "accounts/42", func(ctx context.Context, l *client.Lock) error {
		balance, err := l.KV().Get(ctx, "balance")
		fmt.Printf("balance %s\n", balance.Value)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}

	late, err := c.KV(old) // as a service does that was handed the sequencer
	if err != nil {
		log.Fatal(err)
	}
	_, err = late.Put(ctx, "balance", []byte("1"))
	fmt.Println("stale:", errors.Is(err, client.ErrStale))
	// Output:
	// balance 00
	// stale: true
}

// TryLock does not wait: it says who holds the lock.
func ExampleClient_TryLock() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	a, err := client.New(client.Config{Endpoints: endpoints, Owner: "nightly-report@host-1"})
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	b, err := client.New(client.Config{Endpoints: endpoints, Owner: "nightly-report@host-2"})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()

	if _, err := a.TryLock(ctx, "reports/nightly"); err != nil {
		log.Fatal(err)
	}
	_, err = b.TryLock(ctx, "reports/nightly")
	var locked *client.LockedError
	if errors.As(err, &locked) {
		fmt.Println("held by", locked.Holder.Owner)
	}
	// Output: held by nightly-report@host-1
}

// Bind makes a context for the work under a lock: it ends when the lock does, and
// carries the sequencer to everything that is called with it.
func ExampleLock_Bind() {
	endpoints, stop := startMember()
	defer stop()
	ctx := context.Background()
	c, err := client.New(client.Config{Endpoints: endpoints})
	if err != nil {
		log.Fatal(err)
	}
	l, err := c.Lock(ctx, "accounts/42")
	if err != nil {
		log.Fatal(err)
	}

	work, cancel := l.Bind(ctx)
	defer cancel()
	seq, ok := fencing.FromContext(work, "accounts/42")
	fmt.Println(ok, seq == l.Sequencer())

	_ = c.Close() // gives the lock back
	<-work.Done()
	fmt.Println(errors.Is(context.Cause(work), client.ErrNotHeld))
	// Output:
	// true true
	// true
}
