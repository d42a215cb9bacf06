package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/fencelock/fencelock/client"
)

// waiters is what a crowd on one lock costs.
type waiters struct {
	Waiters          int     `json:"waiters"`
	HandoversPerS    float64 `json:"handovers_per_s"`
	EventsPerHand    float64 `json:"events_per_handover"` // watch events that the members have sent
	ClientMiB        int     `json:"client_mib"`          // this process, every client in it
	MembersMiB       int     `json:"members_mib"`
	MembersMiBBefore int     `json:"members_mib_before"`
}

// crowds are the sizes of the crowds, each waiter with a session of its own.
func crowds() []int { return []int{10, 100, 1000} }

func measureWaiters(ctx context.Context, m *members) ([]waiters, error) {
	var list []waiters
	for _, n := range crowds() {
		w, err := crowd(ctx, m, n)
		if err != nil {
			return nil, fmt.Errorf("%d waiters: %w", n, err)
		}
		list = append(list, w)
	}
	return list, nil
}

// crowd lets n sessions wait for one lock, and then lets each hold it once.
func crowd(ctx context.Context, m *members, n int) (waiters, error) {
	w := waiters{Waiters: n, MembersMiBBefore: m.memory()}
	c, err := client.New(client.Config{Endpoints: m.endpoints, TTL: time.Minute})
	if err != nil {
		return w, err
	}
	defer c.Close()
	lock := fmt.Sprintf("crowd/%d", n)
	first, err := c.Lock(ctx, lock)
	if err != nil {
		return w, err
	}
	var serving sync.WaitGroup
	errs := make(chan error, n)
	for range n {
		serving.Go(func() { errs <- waitOnce(ctx, c, lock) })
	}
	if err := awaitWaiters(ctx, c, lock, n); err != nil {
		return w, err
	}
	w.ClientMiB, w.MembersMiB = residentMiB(os.Getpid()), m.memory()
	before, err := m.events(ctx)
	if err != nil {
		return w, err
	}
	begin := time.Now()
	if err := first.Unlock(ctx); err != nil {
		return w, err
	}
	serving.Wait()
	w.HandoversPerS = float64(n) / time.Since(begin).Seconds()
	after, err := m.events(ctx)
	if err != nil {
		return w, err
	}
	w.EventsPerHand = (after - before) / float64(n)
	for range n {
		if err := <-errs; err != nil {
			return w, err
		}
	}
	return w, nil
}

// waitOnce takes the lock through a session of its own, and gives it back.
func waitOnce(ctx context.Context, c *client.Client, lock string) error {
	s, err := c.NewSession(ctx, time.Minute)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := s.Lock(ctx, lock)
	if err != nil {
		return err
	}
	return l.Unlock(ctx)
}

func awaitWaiters(ctx context.Context, c *client.Client, lock string, n int) error {
	for {
		info, err := c.Inspect(ctx, lock)
		if err != nil {
			return err
		}
		if len(info.Waiters) == n {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
