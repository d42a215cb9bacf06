package interop

import (
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
)

const (
	// shortTTL is that of processes that will be killed.
	shortTTL = 3 * time.Second

	// slack is how long after its TTL a dead holder's lock may stay taken: servers look
	// for expired leases twice a second, and this machine may be busy.
	slack = 2 * time.Second
)

// heldByEtcdctl starts an etcdctl that holds a lock, with a short TTL.
func heldByEtcdctl(t *testing.T, s server, name string) *process {
	t.Helper()
	p, err := lockWithEtcdctl(soon(t), s, name, shortTTL)
	must(t, "etcdctl lock", err)
	p.endWith(t)
	return p
}

// A foreign holder that dies lets ours in when its lease has ended, not before.
func TestDeadForeignHolderLetsOursIn(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s server) {
		etcd := s.etcd(t)
		dead := heldByEtcdctl(t, s, "orders")
		lease := clientv3.LeaseID(claimsOf(t, etcd, "orders")[0].Lease)
		waiting := contend(t, s, ours, "orders")
		awaitQueue(t, etcd, "orders", 2)
		dead.kill()
		killed := time.Now()
		waiting.mustHold(t)
		after := time.Since(killed)
		t.Logf("the lock came %v after the kill, with a TTL of %v", after.Round(time.Millisecond), shortTTL)
		if after > shortTTL+slack {
			t.Errorf("the lock came %v after the kill, want at most the TTL of %v and %v", after, shortTTL, slack)
		}
		if left, err := etcd.TimeToLive(soon(t), lease); err != nil || left.TTL > 0 {
			t.Errorf("the dead holder's lease: %+v, %v, want it to have ended", left, err)
		}
	})
}

// A foreign waiter that dies is passed over; and whoever stood behind it goes on
// waiting for the holder.
func TestDeadForeignWaiterIsPassedOver(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s server) {
		etcd := s.etcd(t)
		held := hold(t, s.client(t), "orders")
		p, err := startEtcdctl(s, "lock", "--ttl=3", queueOf("orders"))
		must(t, "etcdctl lock", err)
		p.endWith(t)
		awaitQueue(t, etcd, "orders", 2)
		waiting := contend(t, s, ours, "orders")
		awaitQueue(t, etcd, "orders", 3)
		p.kill()
		awaitQueue(t, etcd, "orders", 2)
		waiting.mustWait(t)
		unlock(t, held)
		waiting.mustHold(t)
	})
}

// The holder that is let go is let go for foreign waiters too.
func TestLostHolderLetsForeignIn(t *testing.T) {
	onBoth(t, func(t *testing.T, s server) {
		etcd := s.etcd(t)
		eachForeign(t, func(t *testing.T, w way, name string) {
			session, err := s.client(t).NewSession(soon(t), time.Minute)
			must(t, "new session", err)
			held, err := session.Lock(soon(t), name)
			must(t, "lock", err)
			waiting := contend(t, s, w, name)
			awaitQueue(t, etcd, name, 2)
			must(t, "revoke", second(etcd.Revoke(soon(t), clientv3.LeaseID(session.Lease()))))
			waiting.mustHold(t)
			<-held.Done()
			mustBe(t, "the holder", held.Err(), client.ErrLost)
			mustBe(t, "unlock after the loss", held.Unlock(soon(t)), client.ErrLost)
			waiting.release(t)
		})
	})
}

// Close gives locks back to foreign waiters at once, and leaves no lease.
func TestClosedClientLetsForeignIn(t *testing.T) {
	onBoth(t, func(t *testing.T, s server) {
		etcd := s.etcd(t)
		eachForeign(t, func(t *testing.T, w way, name string) {
			c := s.client(t)
			hold(t, c, name)
			lease := clientv3.LeaseID(claimsOf(t, etcd, name)[0].Lease)
			waiting := contend(t, s, w, name)
			awaitQueue(t, etcd, name, 2)
			must(t, "close", c.Close())
			waiting.mustHold(t)
			_, err := etcd.KeepAliveOnce(soon(t), lease)
			mustBe(t, "renewal of the closed client's lease", err, rpctypes.ErrLeaseNotFound)
			waiting.release(t)
		})
	})
}
