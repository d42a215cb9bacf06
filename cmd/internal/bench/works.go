package bench

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fencelock/fencelock/client"
)

// work is something that clients do over and over.
type work struct {
	name  string
	least int // clients
	begin func(*bench) player
}

// player is client i of a work. It hands what is to be repeated to repeat, and tidies
// up when that returns.
type player func(ctx context.Context, c *client.Client, i int, repeat func(step) error) error

// step does the work once and returns how long that took.
type step func(context.Context) (time.Duration, error)

// Works are the names of all works, in the order in which they are done.
func Works() []string {
	var names []string
	for _, w := range works() {
		names = append(names, w.name)
	}
	return names
}

func works() []work {
	return []work{
		{"lock", 1, (*bench).lockOwn},
		{"handover", 2, (*bench).handOver},
		{"shared", 1, (*bench).share},
		{"put", 1, func(b *bench) player { return b.access("put", put) }},
		{"get", 1, func(b *bench) player { return b.access("get", get) }},
	}
}

func (b *bench) lockOwn() player {
	return func(_ context.Context, c *client.Client, i int, repeat func(step) error) error {
		name := b.prefix + "own/" + strconv.Itoa(i)
		return repeat(timed(func(ctx context.Context) error {
			l, err := c.Lock(ctx, name)
			if err != nil {
				return err
			}
			return l.Unlock(ctx)
		}))
	}
}

func (b *bench) share() player {
	return func(_ context.Context, c *client.Client, _ int, repeat func(step) error) error {
		return repeat(timed(func(ctx context.Context) error {
			l, err := c.LockShared(ctx, b.prefix+"shared")
			if err != nil {
				return err
			}
			return l.Unlock(ctx)
		}))
	}
}

func timed(f func(context.Context) error) step {
	return func(ctx context.Context) (time.Duration, error) {
		begin := time.Now()
		err := f(ctx)
		return time.Since(begin), err
	}
}

// handOver measures from the moment at which the last holder gives the lock back:
// all of them are in this process, so they have one clock.
func (b *bench) handOver() player {
	base := time.Now()
	var released atomic.Int64 // when, since base
	return func(_ context.Context, c *client.Client, _ int, repeat func(step) error) error {
		return repeat(func(ctx context.Context) (time.Duration, error) {
			l, err := c.Lock(ctx, b.prefix+"one")
			if err != nil {
				return 0, err
			}
			took := time.Since(base) - time.Duration(released.Load())
			released.Store(int64(time.Since(base)))
			return took, l.Unlock(ctx)
		})
	}
}
