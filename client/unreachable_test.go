package client_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/test/netfault"
)

// unreachable checks that err comes in time and says what could not be reached.
func unreachable(t *testing.T, what string, err error, took, bound time.Duration, endpoints []string) {
	t.Helper()
	mustBe(t, what, err, client.ErrUnavailable)
	if took > bound {
		t.Errorf("%s took %v, want at most %v", what, took, bound)
	}
	for _, endpoint := range endpoints {
		if err != nil && !strings.Contains(err.Error(), endpoint) {
			t.Errorf("%s: got %q, want it to name %s", what, err, endpoint)
		}
	}
}

func TestNoClusterReachable(t *testing.T) {
	t.Parallel()
	const timeout = 500 * time.Millisecond
	hole := netfault.New(t, "127.0.0.1:1")
	hole.Stall()
	for how, endpoints := range map[string][]string{
		"refused": {"127.0.0.1:1", "127.0.0.1:2"},
		"silent":  {hole.Addr()},
	} {
		t.Run(how, func(t *testing.T) {
			start := time.Now()
			_, err := client.New(client.Config{Endpoints: endpoints, DialTimeout: timeout, Username: "u", Password: "p"})
			unreachable(t, "New with a login", err, time.Since(start), timeout+time.Second, endpoints)
			start = time.Now()
			c := connect(t, client.Config{Endpoints: endpoints, DialTimeout: timeout})
			if took := time.Since(start); took > timeout/2 {
				t.Errorf("New took %v, want it not to dial", took)
			}
			for what, call := range map[string]func(context.Context) error{
				"Lock":       func(ctx context.Context) error { return second(c.Lock(ctx, "orders")) },
				"TryLock":    func(ctx context.Context) error { return second(c.TryLock(ctx, "orders")) },
				"NewSession": func(ctx context.Context) error { return second(c.NewSession(ctx, 5*time.Second)) },
				"Inspect":    func(ctx context.Context) error { return second(c.Inspect(ctx, "orders")) },
			} {
				start := time.Now()
				err := call(t.Context())
				unreachable(t, what, err, time.Since(start), timeout+time.Second, endpoints)
			}
		})
	}
}

// The majority is gone while a session is there: a new claim cannot be put.
func TestNoMajority(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Start(t, 3)
	const timeout = 2 * time.Second
	c := connect(t, client.Config{Endpoints: cluster.Endpoints(), DialTimeout: timeout, TTL: time.Minute})
	held := hold(t, c, "held")
	cluster.Kill(0)
	cluster.Kill(1)
	for what, call := range map[string]func(context.Context, string) (*client.Lock, error){"Lock": c.Lock, "TryLock": c.TryLock} {
		start := time.Now()
		_, err := call(t.Context(), "orders")
		unreachable(t, what, err, time.Since(start), timeout+time.Second, cluster.Endpoints())
	}
	if err := held.Err(); err != nil {
		t.Errorf("the lock that is held: got %v, want it trusted until its deadline", err)
	}
	cluster.Restart(0, 1)
	unlock(t, hold(t, c, "orders"))
	unlock(t, held)
	awaitQueue(t, cluster.Client(t), "orders", 0)
}
