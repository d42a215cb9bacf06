package interop

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

const (
	// admin may do everything, and gives others their rights.
	admin = "root"

	// clerk has the rights on the locks that begin with "orders/", and no others.
	clerk = "clerk"
)

// ordersKeys are the three prefixes that the locks beginning with "orders/" need.
var ordersKeys = []string{"fencelock/lock/orders/", "fencelock/fence/orders/", "fencelock/kv/orders/"}

// withUsers turns authentication on, with an admin and a clerk, and returns the
// admin's client. Everybody's password is the own name.
func withUsers(t *testing.T, s server) *clientv3.Client {
	t.Helper()
	ctx, etcd := soon(t), s.etcd(t)
	for _, user := range []string{admin, clerk} {
		must(t, "add role", second(etcd.RoleAdd(ctx, user)))
		must(t, "add user", second(etcd.UserAdd(ctx, user, user)))
		must(t, "grant role", second(etcd.UserGrantRole(ctx, user, user)))
	}
	for _, prefix := range ordersKeys {
		must(t, "grant rights", second(etcd.RoleGrantPermission(ctx, clerk, prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermReadWrite))))
	}
	must(t, "turn authentication on", second(etcd.AuthEnable(ctx)))
	return s.etcdAs(t, admin)
}

// clientAs returns a client of ours that logs in as a user.
func (s server) clientAs(t *testing.T, user string) *client.Client {
	t.Helper()
	return connect(t, client.Config{Endpoints: []string{s.endpoint}, Username: user, Password: user})
}

// Rights on a prefix's locks, fences and records are enough for all that a client
// does there.
func TestRightsOnTheLocksAreEnough(t *testing.T) {
	onBothEtcds(t, func(t *testing.T, s server) {
		etcd := withUsers(t, s)
		a, b := s.clientAs(t, clerk), s.clientAs(t, clerk)
		for _, f := range flows {
			t.Run(f.name, func(t *testing.T) { f.run(t, etcd, a, b, "orders/") })
		}
		must(t, "close", a.Close()) // revokes a lease that has had keys
	})
}

// They are good for nothing next to it: everything there is refused, by an error
// that says so and names what was refused, and leaves nothing behind.
func TestRightsEndWithTheLocks(t *testing.T) {
	onBothEtcds(t, func(t *testing.T, s server) {
		etcd := withUsers(t, s)
		theirs := hold(t, s.clientAs(t, admin), "bills/7")
		must(t, "put", second(theirs.KV().Put(soon(t), "k", []byte("v"))))
		before := everything(t, etcd)
		c := s.clientAs(t, clerk)
		for _, name := range []string{"bills/7", "bills/free", "orders", "orders2/1"} {
			for what, err := range attempts(t, c, name, theirs.Token()) {
				mustBeDenied(t, fmt.Sprintf("%s of %q", what, name), err, name)
			}
			if name == "orders" {
				continue // its queue lies below the prefix, its fence and its records do not
			}
			for what, err := range looks(t, c, name) {
				mustBeDenied(t, fmt.Sprintf("%s of %q", what, name), err, name)
			}
		}
		mustBeDenied(t, "LockAll of one lock with and one without rights", second(c.LockAll(soon(t), "orders/1", "bills/free")), "bills/free")
		mustBeDenied(t, "Acquire of a semaphore", second(c.Semaphore("orders/1", 2).Acquire(soon(t))), "orders/1")
		mustBeDenied(t, "Locks of all names", firstError(c.Locks(soon(t), "")), "")
		mustBeDenied(t, "Watch of all names", firstError(c.Watch(soon(t), "")), "")
		must(t, "the holder meanwhile", theirs.Err())
		if after := everything(t, etcd); after != before {
			t.Errorf("keys after it all:\n%s\nwant those of before:\n%s", after, before)
		}
	})
}

// attempts tries all that can be tried with a lock.
func attempts(t *testing.T, c *client.Client, name string, token fencing.Token) map[string]error {
	t.Helper()
	store, err := c.KV(fencing.Sequencer{Lock: name, Token: token})
	must(t, "handle of a sequencer", err)
	return map[string]error{
		"Lock":          second(c.Lock(soon(t), name)),
		"TryLock":       second(c.TryLock(soon(t), name)),
		"LockShared":    second(c.LockShared(soon(t), name)),
		"TryLockShared": second(c.TryLockShared(soon(t), name)),
		"LockAll":       second(c.LockAll(soon(t), name, name+"/more")),
		"Campaign":      second(c.Campaign(soon(t), name, nil)),
		"Locks":         firstError(c.Locks(soon(t), name)),
		"Watch":         firstError(c.Watch(soon(t), name)),
		"Break":         c.Break(soon(t), name, token),
		"Check":         c.Check(soon(t), store.Sequencer()),
		"Get":           second(store.Get(soon(t), "k")),
		"Put":           second(store.Put(soon(t), "k", nil)),
	}
}

// looks are the attempts that need no more than the lock's queue.
func looks(t *testing.T, c *client.Client, name string) map[string]error {
	t.Helper()
	return map[string]error{
		"Inspect": second(c.Inspect(soon(t), name)),
		"Leader":  second(c.Leader(soon(t), name)),
		"Observe": firstError(c.Observe(soon(t), name)),
	}
}

// firstError is the first error that a sequence yields, nil if there is none.
func firstError[T any](seq func(func(T, error) bool)) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

func mustBeDenied(t *testing.T, what string, err error, name string) {
	t.Helper()
	mustBe(t, what, err, rpctypes.ErrPermissionDenied)
	if err != nil && !(strings.Contains(err.Error(), "permission denied") && strings.Contains(err.Error(), name)) {
		t.Errorf("%s: got %q, want it to say that permission was denied, and to name %q", what, err, name)
	}
}

// everything is every key that there is, and its revision.
func everything(t *testing.T, etcd *clientv3.Client) string {
	t.Helper()
	resp, err := etcd.Get(soon(t), "", clientv3.WithPrefix())
	must(t, "read everything", err)
	var list strings.Builder
	for _, kv := range resp.Kvs {
		fmt.Fprintf(&list, "%s %d\n", kv.Key, kv.ModRevision)
	}
	return list.String()
}

// Rights that change while a client waits do not keep it from the lock.
func TestRightsThatChangeWhileWaiting(t *testing.T) {
	onBothEtcds(t, func(t *testing.T, s server) {
		etcd := withUsers(t, s)
		held := hold(t, s.clientAs(t, clerk), "orders/1")
		waiting := goLock(s.clientAs(t, clerk), "orders/1")
		awaitQueue(t, etcd, "orders/1", 2)
		must(t, "add role", second(etcd.RoleAdd(soon(t), "another")))
		must(t, "grant role", second(etcd.UserGrantRole(soon(t), clerk, "another")))
		must(t, "put under changed rights", second(held.KV().Put(soon(t), "k", nil)))
		unlock(t, held)
		unlock(t, receive(t, waiting))
	})
}

// A waiter whose rights are taken away is told so: it could wait for ever.
func TestRightsTakenAwayWhileWaiting(t *testing.T) {
	t.Parallel()
	onBothEtcds(t, func(t *testing.T, s server) {
		etcd := withUsers(t, s)
		hold(t, s.clientAs(t, admin), "orders/1")
		c := s.clientAs(t, clerk)
		got := make(chan error, 1)
		go func() { got <- second(c.Lock(context.Background(), "orders/1")) }()
		awaitQueue(t, etcd, "orders/1", 2)
		must(t, "take the role away", second(etcd.UserRevokeRole(soon(t), clerk, clerk)))
		mustBeDenied(t, "Lock without rights any more", receive(t, got), "orders/1")
	})
}

// Who cannot log in learns it from New, and who does not from the first request.
func TestLogin(t *testing.T) {
	onBothEtcds(t, func(t *testing.T, s server) {
		withUsers(t, s)
		_, err := client.New(client.Config{Endpoints: []string{s.endpoint}, Username: clerk, Password: "wrong"})
		mustBe(t, "New with a wrong password", err, rpctypes.ErrAuthFailed)
		_, err = s.client(t).Lock(soon(t), "orders/1")
		mustBe(t, "Lock without a login", err, rpctypes.ErrUserEmpty)
	})
}
