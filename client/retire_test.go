package client_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
)

// A default session with many uncertain claims behind it is replaced quietly: what
// it holds stays held, and it ends when that has been given back.
func TestBurdenedSessionIsReplaced(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := connect(t, client.Config{Endpoints: cluster.Endpoints(), TTL: time.Minute})
	held := hold(t, c, "held")
	old := c.Burden(client.MaxSwept)
	other := hold(t, c, "other")
	if a, b := claimOf(t, etcd, held).Lease, claimOf(t, etcd, other).Lease; a == b {
		t.Errorf("both locks have lease %x, want a new session for the second", a)
	}
	waiting := goLock(context.Background(), c, "held") // behind a lock of the old session
	awaitQueue(t, etcd, "held", 2)
	if err := held.Err(); err != nil {
		t.Errorf("the lock of the old session: %v, want it held", err)
	}
	unlock(t, held)
	next := granted(t, waiting)
	receive(t, old.Done(), "the end of the old session")
	eventually(t, limit, "the old lease is gone", func() bool {
		left, err := etcd.TimeToLive(t.Context(), clientv3.LeaseID(old.Lease()))
		return err == nil && left.TTL < 0
	})
	unlock(t, next)
	unlock(t, other)
}

// Sessions are retired amid calls: no call notices.
func TestSessionsRetireAmidCalls(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	c := connect(t, client.Config{Endpoints: cluster.Endpoints(), TTL: time.Minute})
	unlock(t, hold(t, c, "first"))
	var working sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		working.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				l, err := c.Lock(bounded(t), strings.Repeat("x", i/2+1))
				if err != nil {
					t.Errorf("lock: %v", err)
					return
				}
				if err := l.Unlock(context.Background()); err != nil {
					t.Errorf("unlock: %v", err)
				}
			}
		})
	}
	for range 10 {
		old := c.Burden(client.MaxSwept)
		receive(t, old.Done(), "the end of a retired session")
		eventually(t, limit, "there is a new session", c.HasSession)
	}
	close(stop)
	working.Wait()
}
