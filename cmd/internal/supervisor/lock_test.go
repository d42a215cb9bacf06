//go:build linux

package supervisor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// ttl is the shortest that a member with the default election time grants.
const ttl = 2 * time.Second

// other is another client of the same member.
type other struct {
	*client.Client
	t        *testing.T
	endpoint string
}

// newMember starts one member and a client of it.
func newMember(t *testing.T) (*clustertest.Cluster, other) {
	t.Helper()
	member := clustertest.Start(t, 1)
	c, err := client.New(client.Config{Endpoints: member.Endpoints(), TTL: ttl, Owner: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return member, other{c, t, member.Endpoint(0)}
}

func (o other) context() context.Context {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), testTime)
	o.t.Cleanup(cancel)
	return ctx
}

func (o other) lock(name string) *client.Lock {
	o.t.Helper()
	lock, err := o.Lock(o.context(), name)
	if err != nil {
		o.t.Fatal(err)
	}
	return lock
}

func (o other) inspect(name string) client.LockInfo {
	o.t.Helper()
	info, err := o.Inspect(o.context(), name)
	if err != nil {
		o.t.Fatal(err)
	}
	return info
}

// isFree fails the test if anybody claims the lock.
func (o other) isFree(name string) {
	o.t.Helper()
	if info := o.inspect(name); len(info.Holders)+len(info.Waiters) > 0 {
		o.t.Errorf("lock %q is held by %+v and awaited by %+v, want nobody", name, info.Holders, info.Waiters)
	}
}

// isHeld fails the test if nobody holds the lock.
func (o other) isHeld(name string) client.Claim {
	o.t.Helper()
	info := o.inspect(name)
	if len(info.Holders) != 1 {
		o.t.Fatalf("lock %q has %d holders, want one", name, len(info.Holders))
	}
	return info.Holders[0]
}

// revoke takes the lease of a lock's holder away.
func (o other) revoke(name string) {
	o.t.Helper()
	if _, err := o.Etcd().Revoke(o.context(), clientv3.LeaseID(o.isHeld(name).Lease)); err != nil {
		o.t.Fatal(err)
	}
}

// breakLock removes the holder's claim, and leaves its session.
func (o other) breakLock(name string) {
	o.t.Helper()
	if _, err := o.Etcd().Delete(o.context(), o.isHeld(name).Key); err != nil {
		o.t.Fatal(err)
	}
}

// seesLocked fails the test unless the lock is held at this moment.
func (o other) seesLocked(name string) {
	o.t.Helper()
	lock, err := o.TryLock(o.context(), name)
	if !errors.Is(err, client.ErrLocked) {
		o.t.Errorf("TryLock(%q) = %v, %v, want %v", name, lock, err, client.ErrLocked)
	}
}
