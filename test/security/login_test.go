package security

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// withLogins is a cluster whose logins are signed and good for ttl, with the user
// clerk. Zero: etcd's simple tokens.
func withLogins(t *testing.T, members int, ttl time.Duration) *clustertest.Cluster {
	t.Helper()
	files := newFolder(t)
	c := clustertest.StartConfig(t, clustertest.Config{
		Members: members,
		Edit: func(_ int, cfg *cluster.Config) {
			cfg.PasswordCost = 4 // a login takes seconds on a busy machine under -race otherwise
			if ttl != 0 {
				cfg.Tokens = cluster.Tokens{KeyFile: files.path("jwt.key"), PublicKeyFile: files.path("jwt.pub"), TTL: ttl}
			}
		},
	})
	enableAuth(t, etcd(t, c, clientv3.Config{}), "clerk", true)
	return c
}

func asClerk() client.Config { return client.Config{Username: "clerk", Password: "clerk"} }

// awaitExpiry returns when a login made now has expired, n times in a row.
func awaitExpiry(t *testing.T, c *clustertest.Cluster, n int) {
	t.Helper()
	for range n {
		login, err := etcd(t, c, clientv3.Config{}).Authenticate(soon(t), "clerk", "clerk")
		must(t, "log in", err)
		old := etcd(t, c, clientv3.Config{Token: login.Token})
		for deadline := time.Now().Add(testTime); ; {
			_, err := old.Get(soon(t), "fencelock/lock/orders/1")
			if errors.Is(err, rpctypes.ErrInvalidAuthToken) {
				break
			}
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("get under an old login: %v, want it refused in time", err)
			}
		}
	}
}

// A login that expires again and again while a client holds, waits and watches is
// noticed by none of them.
func TestLoginExpiresWhileWaiting(t *testing.T) {
	c := withLogins(t, 3, 2*time.Second)
	holder, waiter, watcher := connect(t, c, asClerk()), connect(t, c, asClerk()), connect(t, c, asClerk())
	session, err := holder.NewSession(soon(t), 2*time.Second) // renewed every 0.7 s
	must(t, "open a session", err)
	held, err := session.Lock(soon(t), "orders/1")
	must(t, "lock", err)
	got := make(chan *client.Lock, 1)
	go func() {
		l, err := waiter.Lock(soon(t), "orders/1")
		if err != nil {
			t.Errorf("wait: %v", err)
		}
		got <- l
	}()
	ctx, stop := context.WithCancel(t.Context())
	events, watched := make(chan client.Event, 100), make(chan error, 1)
	go func() {
		defer close(watched)
		for e, err := range watcher.Watch(ctx, "orders/") {
			if err != nil {
				watched <- err
				return
			}
			events <- e
		}
	}()
	awaitExpiry(t, c, 3)
	must(t, "the lock after three logins", held.Err())
	must(t, "put after three logins", second(held.KV().Put(soon(t), "k", []byte("v"))))
	must(t, "unlock", held.Unlock(soon(t)))
	next := <-got
	if next == nil || next.Token() <= held.Token() {
		t.Fatalf("the waiter got %v, want a lock with a higher token", next)
	}
	select {
	case <-events:
	case err := <-watched:
		t.Fatalf("watch ended: %v", err)
	case <-time.After(testTime):
		t.Fatal("the watch showed nothing")
	}
	must(t, "new lock under an expired stream", second(watcher.Lock(soon(t), "orders/2")))
	stop()
	for range watched { // its end
	}
}

// Renewals and waits log in now and then, and not each time.
func TestLoginsAreFew(t *testing.T) {
	for name, ttl := range map[string]time.Duration{"simple": 0, "signed": time.Minute} {
		t.Run(name, func(t *testing.T) {
			c := withLogins(t, 1, ttl)
			a, b := connect(t, c, asClerk()), connect(t, c, asClerk())
			session, err := a.NewSession(soon(t), 10*time.Second)
			must(t, "open a session", err)
			before := logins(t)
			if before == 0 {
				t.Fatal("no login was counted: does this test still read the right metric?")
			}
			for range 20 {
				l, err := session.Lock(soon(t), "orders/1")
				must(t, "lock", err)
				got := make(chan error, 1)
				go func() {
					got <- b.Do(soon(t), "orders/1", func(context.Context, *client.Lock) error { return nil })
				}()
				awaitWaiter(t, a, "orders/1")
				must(t, "unlock", l.Unlock(soon(t)))
				must(t, "wait", <-got)
			}
			if n := logins(t) - before; n > 4 {
				t.Errorf("20 hand-overs and their renewals cost %v logins, want at most 4", n)
			}
		})
	}
}

func awaitWaiter(t *testing.T, c *client.Client, name string) {
	t.Helper()
	for deadline := time.Now().Add(testTime); ; {
		info, err := c.Inspect(soon(t), name)
		must(t, "inspect", err)
		if len(info.Waiters) > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody waits")
		}
	}
}

// logins counts the logins that the members of this process have answered.
func logins(t *testing.T) (n float64) {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	must(t, "gather metrics", err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == "grpc_server_handled_total" && l.GetValue() == "Authenticate" {
					n += m.GetCounter().GetValue()
				}
			}
		}
	}
	return n
}

// A login that has become void is made anew: its user's rights change, and its
// member restarts. One whose password has changed is over.
func TestVoidLogins(t *testing.T) {
	for name, ttl := range map[string]time.Duration{"simple": 0, "signed": time.Minute} {
		t.Run(name, func(t *testing.T) {
			c := withLogins(t, 1, ttl)
			root := etcd(t, c, clientv3.Config{Username: "root", Password: "root"})
			own := connect(t, c, asClerk())
			must(t, "lock", own.Do(soon(t), "orders/1", func(context.Context, *client.Lock) error { return nil }))
			must(t, "add a role", second(root.RoleAdd(soon(t), "another")))
			must(t, "grant it", second(root.UserGrantRole(soon(t), "clerk", "another")))
			must(t, "lock with other rights", own.Do(soon(t), "orders/1", func(context.Context, *client.Lock) error { return nil }))
			c.Kill(0) // with it, the simple tokens that only it knew
			c.Restart(0)
			must(t, "lock after a restart", own.Do(soon(t), "orders/1", func(context.Context, *client.Lock) error { return nil }))
			must(t, "change the password", second(root.UserChangePassword(soon(t), "clerk", "new")))
			if _, err := client.New(client.Config{Endpoints: c.Endpoints(), Username: "clerk", Password: "clerk"}); !errors.Is(err, rpctypes.ErrAuthFailed) {
				t.Errorf("log in with the old password: %v, want %v", err, rpctypes.ErrAuthFailed)
			}
			err := own.Do(soon(t), "orders/1", func(context.Context, *client.Lock) error { return nil })
			if !errors.Is(err, rpctypes.ErrAuthFailed) {
				t.Errorf("lock with a password that was changed: %v, want %v", err, rpctypes.ErrAuthFailed)
			}
		})
	}
}
