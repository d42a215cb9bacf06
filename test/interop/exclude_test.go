package interop

import (
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/fencelock/fencelock/client"
)

// eachForeign runs a test for every foreign way, with a lock for each.
func eachForeign(t *testing.T, test func(t *testing.T, w way, name string)) {
	for i, w := range foreign {
		t.Run(w.name, func(t *testing.T) { test(t, w, fmt.Sprintf("orders/%d", i)) })
	}
}

func TestForeignHolderExcludesOurs(t *testing.T) {
	onBoth(t, func(t *testing.T, s server) {
		etcd, c := s.etcd(t), s.client(t)
		eachForeign(t, func(t *testing.T, w way, name string) {
			holder := contend(t, s, w, name)
			holder.mustHold(t)
			mustBeRefused(t, etcd, c, name)
			waiting := contend(t, s, ours, name)
			awaitQueue(t, etcd, name, 2)
			waiting.mustWait(t)
			holder.release(t)
			waiting.mustHold(t)
			waiting.release(t)
		})
	})
}

// mustBeRefused tries every kind of lock while a foreign claim holds: each says who is
// in the way, as far as the claim tells, and leaves nothing behind.
func mustBeRefused(t *testing.T, etcd *clientv3.Client, c *client.Client, name string) {
	t.Helper()
	key := string(claimsOf(t, etcd, name)[0].Key)
	for what, err := range map[string]error{
		"TryLock":       second(c.TryLock(soon(t), name)),
		"TryLockShared": second(c.TryLockShared(soon(t), name)),
		"TryLockAll":    second(c.TryLockAll(soon(t), name, name+"/free")),
	} {
		mustBe(t, what, err, client.ErrLocked)
		if err != nil && !strings.Contains(err.Error(), key) {
			t.Errorf("%s: got %q, want it to name the key %s: its owner has no name", what, err, key)
		}
	}
	info, err := c.Inspect(soon(t), name)
	must(t, "inspect", err)
	if len(info.Holders) != 1 || info.Holders[0].Key != key || !info.Holders[0].Exclusive() || len(info.Waiters) != 0 {
		t.Errorf("Inspect: got %+v, want %s to hold it exclusively, and nobody to wait", info, key)
	}
}

func TestOurHolderExcludesForeign(t *testing.T) {
	onBoth(t, func(t *testing.T, s server) {
		etcd, c := s.etcd(t), s.client(t)
		eachForeign(t, func(t *testing.T, w way, name string) {
			held := hold(t, c, name)
			waiting := contend(t, s, w, name)
			awaitQueue(t, etcd, name, 2)
			waiting.mustWait(t)
			unlock(t, held)
			waiting.mustHold(t)
			waiting.release(t)
		})
	})
}

// The one foreign way that can try without waiting.
func TestOurHolderRefusesForeignTry(t *testing.T) {
	onBoth(t, func(t *testing.T, s server) {
		held := hold(t, s.client(t), "orders")
		session, err := concurrency.NewSession(s.etcd(t))
		must(t, "etcd's session", err)
		defer session.Close()
		m := concurrency.NewMutex(session, queueOf("orders"))
		mustBe(t, "etcd's TryLock", m.TryLock(soon(t)), concurrency.ErrLocked)
		unlock(t, held)
		must(t, "etcd's TryLock of a free lock", m.TryLock(soon(t)))
	})
}

// Shared holders of ours exclude foreign clients, who know no such thing; and those
// of ours who come later wait behind them.
func TestSharedHolderExcludesForeign(t *testing.T) {
	onBoth(t, func(t *testing.T, s server) {
		etcd, c := s.etcd(t), s.client(t)
		eachForeign(t, func(t *testing.T, w way, name string) {
			first, err := c.LockShared(soon(t), name)
			must(t, "lock shared", err)
			second, err := c.LockShared(soon(t), name)
			must(t, "lock shared, together with another", err)
			waiting := contend(t, s, w, name)
			awaitQueue(t, etcd, name, 3)
			later := contend(t, s, ourShared, name)
			awaitQueue(t, etcd, name, 4)
			waiting.mustWait(t)
			unlock(t, second)
			waiting.mustWait(t)
			unlock(t, first)
			waiting.mustHold(t)
			later.mustWait(t)
			waiting.release(t)
			later.mustHold(t)
			later.release(t)
		})
	})
}

// One foreign holder holds up a caller that wants several locks together.
func TestForeignHolderExcludesLockAll(t *testing.T) {
	onBoth(t, func(t *testing.T, s server) {
		etcd := s.etcd(t)
		eachForeign(t, func(t *testing.T, w way, name string) {
			holder := contend(t, s, w, name+"/b")
			holder.mustHold(t)
			waiting := contend(t, s, ourPair, name)
			awaitQueue(t, etcd, name+"/b", 2)
			awaitQueue(t, etcd, name+"/a", 1)
			waiting.mustWait(t)
			next := contend(t, s, w, name+"/a")
			awaitQueue(t, etcd, name+"/a", 2)
			holder.release(t)
			waiting.mustHold(t)
			next.mustWait(t)
			waiting.release(t)
			next.mustHold(t)
			next.release(t)
		})
	})
}

// A break works on foreign claims too: whoever waits behind one gets in.
func TestBreakEndsForeignHolder(t *testing.T) {
	onBoth(t, func(t *testing.T, s server) {
		etcd, c := s.etcd(t), s.client(t)
		eachForeign(t, func(t *testing.T, w way, name string) {
			contend(t, s, w, name).mustHold(t)
			waiting := contend(t, s, ours, name)
			awaitQueue(t, etcd, name, 2)
			info, err := c.Inspect(soon(t), name)
			must(t, "inspect", err)
			must(t, "break", c.Break(soon(t), name, info.Holders[0].Token))
			waiting.mustHold(t)
			waiting.release(t)
		})
	})
}
