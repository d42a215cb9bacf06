package redisfence_test

import (
	"context"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/redisfence"
	"github.com/fencelock/fencelock/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

const guard, otherGuard = "accounts/42", "accounts/43"

// clients are the ways to a Redis, each with connections of its own.
var clients = map[string]func(t testing.TB, url string) redisfence.Eval{
	"go-redis": func(t testing.TB, url string) redisfence.Eval { return viaGoRedis(dial(t, url)) },
	"rueidis": func(t testing.TB, url string) redisfence.Eval {
		options, err := rueidis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		options.DisableCache = true
		client, err := rueidis.NewClient(options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		return viaRueidis(client)
	},
}

// dial connects to a Redis, by a proxy if its address is given.
func dial(t testing.TB, url string, via ...string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries = -1
	options.ContextTimeoutEnabled = true
	options.DisableIdentity = true
	if len(via) > 0 {
		options.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, via[0])
		}
	}
	rdb := redis.NewClient(options)
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

func newFence(t testing.TB, cfg redisfence.Config) *redisfence.Fence {
	t.Helper()
	f, err := redisfence.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// fresh is an empty Redis with a fence, by go-redis.
func fresh(t testing.TB) (*redis.Client, *redisfence.Fence) {
	t.Helper()
	rdb := dial(t, servers.Redis(t))
	return rdb, newFence(t, redisfence.Config{Eval: viaGoRedis(rdb)})
}

// holder is a handle of guard.
func holder(t testing.TB, f *redisfence.Fence, token fencing.Token) *redisfence.Handle {
	t.Helper()
	h, err := f.Open(fencing.NewContext(t.Context(), fencing.Sequencer{Lock: guard, Token: token}), guard)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
