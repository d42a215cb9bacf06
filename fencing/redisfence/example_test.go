package redisfence_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/redisfence"
)

// viaGoRedis is an Eval for go-redis: rdb is a *redis.Client or a *redis.ClusterClient
// with MaxRetries: -1.
func viaGoRedis(rdb redis.Scripter) redisfence.Eval {
	return func(ctx context.Context, script string, keys, args []string) (any, error) {
		return redis.NewScript(script).Run(ctx, rdb, keys, args).Result()
	}
}

// viaRueidis is an Eval for rueidis, which sends a script once as it is.
func viaRueidis(client rueidis.Client) redisfence.Eval {
	return func(ctx context.Context, script string, keys, args []string) (any, error) {
		return rueidis.NewLuaScript(script).Exec(ctx, client, keys, args).ToAny()
	}
}

// With go-redis. The sequencer comes from Lock.Bind, or with a request; here from
// "fencelock lock accounts/42 -- …", which puts it into the environment.
func Example_goRedis() {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379", MaxRetries: -1})
	defer rdb.Close()
	fence, err := redisfence.New(redisfence.Config{Eval: viaGoRedis(rdb)})
	if err != nil {
		log.Fatal(err)
	}
	seq, err := fencing.ParseSequencer(os.Getenv("FENCELOCK_SEQUENCER"))
	if err != nil {
		log.Fatal(err)
	}
	ctx := fencing.NewContext(context.Background(), seq)
	account, err := fence.Open(ctx, "accounts/42")
	if err != nil {
		log.Fatal(err)
	}
	balance, _, err := account.Get(ctx, "balance")
	if err != nil {
		log.Fatal(err)
	}
	err = account.Set(ctx, "balance", append(balance, '0'), 0)
	switch {
	case errors.Is(err, fencing.ErrStale):
		fmt.Println("overtaken: take the lock again, and begin with a fresh read")
	case errors.Is(err, fencing.ErrUncertain):
		fmt.Println("perhaps written: read before you repeat it")
	}
}

// With rueidis, and a script of one's own under the fence.
func Example_rueidis() {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fence, err := redisfence.New(redisfence.Config{Eval: viaRueidis(client)})
	if err != nil {
		log.Fatal(err)
	}
	ctx := fencing.NewContext(context.Background(), fencing.Sequencer{Lock: "accounts/42", Token: 1234})
	account, err := fence.Open(ctx, "accounts/42")
	if err != nil {
		log.Fatal(err)
	}
	left, err := account.Run(ctx, "return redis.call('DECRBY', KEYS[1], ARGV[1])", []string{"balance"}, []string{"10"})
	fmt.Println(left, err)
}

// Open says what is wrong with a sequencer, and asks nobody.
func ExampleFence_Open() {
	fence, err := redisfence.New(redisfence.Config{Eval: viaGoRedis(nil)})
	if err != nil {
		log.Fatal(err)
	}
	_, err = fence.Open(context.Background(), "accounts/42")
	fmt.Println(err)
	other := fencing.NewContext(context.Background(), fencing.Sequencer{Lock: "accounts/43", Token: 1234})
	_, err = fence.Open(other, "accounts/42")
	fmt.Println(errors.Is(err, fencing.ErrWrongGuard))
	// Output:
	// sequencer for "accounts/42": missing
	// true
}
