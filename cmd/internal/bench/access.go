package bench

import (
	"context"
	"strconv"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/kv"
)

// valueSize is what put writes, in bytes: about as much as a balance or a pointer to
// something larger.
const valueSize = 100

func put(ctx context.Context, store *kv.KV) error {
	_, err := store.Put(ctx, "key", make([]byte, valueSize))
	return err
}

func get(ctx context.Context, store *kv.KV) error {
	_, err := store.Get(ctx, "key")
	return err
}

// access uses the store behind the fence of a lock that the client holds meanwhile;
// closing the client gives it back.
func (b *bench) access(work string, f func(context.Context, *kv.KV) error) player {
	return func(ctx context.Context, c *client.Client, i int, repeat func(step) error) error {
		l, err := c.Lock(ctx, b.guard(work, i))
		if err != nil {
			return err
		}
		store := l.KV()
		return repeat(timed(func(ctx context.Context) error { return f(ctx, store) }))
	}
}

// guard is the lock of client i. Records are left behind it.
func (b *bench) guard(work string, i int) string {
	name := b.prefix + work + "/" + strconv.Itoa(i)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guards = append(b.guards, name)
	return name
}
