package fences

import (
	"context"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/redisfence"
)

// The client must send a script once: redis.Options{MaxRetries: -1}.
func viaGoRedis(rdb *redis.Client) redisfence.Eval {
	return func(ctx context.Context, script string, keys, args []string) (any, error) {
		return redis.NewScript(script).Run(ctx, rdb, keys, args).Result()
	}
}

func inRedis(ctx context.Context, locks *client.Client, eval redisfence.Eval) error {
	fence, err := redisfence.New(redisfence.Config{Eval: eval, Verify: locks.Check})
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

// With rueidis it is this Eval. NewLuaScript sends a script once, and again only
// when the server has answered that it does not know it; NewLuaScriptRetryable
// is not for fences.
func viaRueidis(rdb rueidis.Client) redisfence.Eval {
	return func(ctx context.Context, script string, keys, args []string) (any, error) {
		return rueidis.NewLuaScript(script).Exec(ctx, rdb, keys, args).ToAny()
	}
}
