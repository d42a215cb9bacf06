package fences

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/redisfence"
)

// The client must send a script once: redis.Options{MaxRetries: -1}.
func inRedis(ctx context.Context, locks *client.Client, rdb *redis.Client) error {
	fence, err := redisfence.New(redisfence.Config{
		Verify: locks.Check,
		Eval: func(ctx context.Context, script string, keys, args []string) (any, error) {
			return redis.NewScript(script).Run(ctx, rdb, keys, args).Result()
		},
	})
	if err != nil {
		return err
	}
	setBalance := func(ctx context.Context) error {
		handle, err := fence.Open(ctx, "accounts/42") // one for as long as the work takes
		if err != nil {
			return err
		}
		if _, _, err := handle.Get(ctx, "balance"); err != nil { // raises the fence
			return err
		}
		return handle.Set(ctx, "balance", []byte("90"), 0)
	}
	return overtaken(ctx, locks, "accounts/42", setBalance) // a *fencing.StaleError
}
