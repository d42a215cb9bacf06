package interop

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/namespace"

	"github.com/fencelock/fencelock/client"
)

// over returns a client of ours on top of a ready one.
func over(t *testing.T, etcd *clientv3.Client) *client.Client {
	t.Helper()
	return connect(t, client.Config{Etcd: etcd, Endpoints: []string{"127.0.0.1:1"}})
}

// A service's own etcd client serves, whatever the endpoints beside it; it is not
// closed, and several of ours can share it.
func TestReadyClient(t *testing.T) {
	onBoth(t, func(t *testing.T, s server) {
		etcd := s.etcd(t)
		a, b := over(t, etcd), over(t, etcd)
		if a.Etcd() != etcd {
			t.Error("Etcd is another client than the one given")
		}
		for _, f := range flows {
			t.Run(f.name, func(t *testing.T) { f.run(t, etcd, a, b, "orders/") })
		}
		must(t, "close", a.Close())
		mustBe(t, "lock after Close", second(a.Lock(soon(t), "orders/1")), client.ErrClosed)
		must(t, "get, after our client's Close", second(etcd.Get(soon(t), "k")))
		unlock(t, hold(t, b, "orders/1"))
	})
}

// One that has logged in does too.
func TestReadyClientOfAUser(t *testing.T) {
	onBothEtcds(t, func(t *testing.T, s server) {
		etcd := withUsers(t, s)
		a, b := over(t, s.etcdAs(t, clerk)), over(t, s.etcdAs(t, clerk))
		for _, f := range flows {
			t.Run(f.name, func(t *testing.T) { f.run(t, etcd, a, b, "orders/") })
		}
	})
}

// One that is confined to a prefix of its own, by etcd's package namespace: all of
// ours lies there, whatever request it came with.
func TestReadyClientInANamespace(t *testing.T) {
	onBoth(t, func(t *testing.T, s server) {
		inside := s.etcd(t)
		inside.KV = namespace.NewKV(inside.KV, "tenant/")
		inside.Watcher = namespace.NewWatcher(inside.Watcher, "tenant/")
		inside.Lease = namespace.NewLease(inside.Lease, "tenant/")
		a, b := over(t, inside), over(t, inside)
		for _, f := range flows {
			t.Run(f.name, func(t *testing.T) { f.run(t, inside, a, b, "orders/") })
		}
		all, err := s.etcd(t).Get(soon(t), "", clientv3.WithFromKey())
		must(t, "read everything", err)
		within, err := s.etcd(t).Get(soon(t), "tenant/fencelock/", clientv3.WithPrefix())
		must(t, "read the namespace", err)
		if len(all.Kvs) != len(within.Kvs) || len(all.Kvs) == 0 {
			t.Errorf("%d of %d keys lie in the namespace, want all, and some", len(within.Kvs), len(all.Kvs))
		}
	})
}
