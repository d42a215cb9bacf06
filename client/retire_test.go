package client_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
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

// A session of the user's own is not replaced, so what its sweeper remembers must
// not grow where it need not: of claims whose put was answered, by a full store say,
// or whose delete alone was not, nothing is left once they are gone. A put that
// was not answered is remembered to the end.
func TestDecidedClaimsAreForgotten(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, 600*time.Millisecond)
	for i := range 20 {
		full := f.faults.set(1, claimPut("orders"), func(send func() error, _ context.Context) error {
			if i%2 == 0 {
				_ = send()
			}
			return rpctypes.ErrGRPCNoSpace
		})
		_, err := f.Lock(t.Context(), "orders")
		mustBe(t, "Lock in a full store", err, rpctypes.ErrNoSpace)
		receive(t, full.Taken, "the put")
	}
	awaitQueue(t, f.etcd, "orders", 0)
	eventually(t, limit, "refused claims are forgotten", func() bool { return f.Swept() == 0 })

	l := hold(t, f, "orders")
	f.faults.set(-1, claimDelete("orders"), swallow)
	mustBe(t, "Unlock without an answer", l.Unlock(t.Context()), client.ErrUncertain)
	f.faults.disarm()
	awaitQueue(t, f.etcd, "orders", 0)
	eventually(t, limit, "the claim is forgotten", func() bool { return f.Swept() == 0 })

	late := f.faults.set(1, claimPut("orders"), swallow)
	unlock(t, hold(t, f, "orders"))
	land(t, f.etcd, receive(t, late.Taken, "the first put"))
	awaitQueue(t, f.etcd, "orders", 0)
	if got := f.Swept(); got != 1 {
		t.Errorf("%d keys are swept, want the one whose put was not answered", got)
	}
}

// A hand-over in a store that is full is decided as well: it was applied, or never
// will be.
func TestDecidedHandOversAreForgotten(t *testing.T) {
	t.Parallel()
	for how, applied := range map[string]bool{"applied": true, "refused": false} {
		t.Run(how, func(t *testing.T) {
			f := newFaulty(t, 3*time.Second)
			held := hold(t, f, "orders")
			next := goLock(t.Context(), f, "orders")
			awaitLine(t, f.Session, 1)
			full := f.faults.set(1, handOver("orders"), func(send func() error, _ context.Context) error {
				if applied {
					_ = send()
				}
				return rpctypes.ErrGRPCNoSpace
			})
			unlock(t, held)
			receive(t, full.Taken, "the hand-over")
			unlock(t, granted(t, next))
			awaitQueue(t, f.etcd, "orders", 0)
			eventually(t, limit, "the claim of the hand-over is forgotten", func() bool { return f.Swept() == 0 })
		})
	}
}
