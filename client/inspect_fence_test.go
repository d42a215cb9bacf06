package client_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// Where the fence stands, and who moved it last.
func TestInspectShowsTheFence(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a := member(t, cluster, "a")
	wantFence := func(what string, token fencing.Token, shared, closed bool) {
		t.Helper()
		info, err := a.Inspect(t.Context(), "orders")
		if err != nil || info.Fence != token || info.FenceShared != shared || info.FenceClosed != closed {
			t.Errorf("%s: fence %v, shared %t, closed %t, %v, want %v, %t, %t", what,
				info.Fence, info.FenceShared, info.FenceClosed, err, token, shared, closed)
		}
	}
	reader := share(t, a, "orders")
	wantFence("before the first fenced operation", 0, false, false)
	if err := reader.KV().Advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantFence("a shared holder has read", reader.Token(), true, false)
	unshare(t, reader)
	l := hold(t, a, "orders")
	wantFence("an exclusive holder has done nothing yet", reader.Token(), true, false)
	if err := put(l); err != nil {
		t.Fatal(err)
	}
	wantFence("an exclusive holder has written", l.Token(), false, false)
	breakLock(t, a, "orders", l.Token())
	wantFence("it was broken", l.Token(), false, true)

	if _, err := etcd.Put(t.Context(), "fencelock/fence/orders", "7"); err != nil {
		t.Fatal(err)
	}
	next := hold(t, a, "orders")
	info, err := a.Inspect(t.Context(), "orders")
	if err == nil || !strings.Contains(err.Error(), `"7"`) || len(info.Holders) != 1 || info.Holders[0].Token != next.Token() {
		t.Errorf("a fence that cannot be read: %+v, %v, want an error that shows it, beside the holder", info, err)
	}
}

func TestTTLLeft(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "c")
	s := session(t, c, 100*time.Second)
	hold(t, s, "orders")
	putClaim(t, etcd, 0, "stuck", 0, keys.ClaimValue{Mode: keys.Exclusive})
	claimOn := func(name string) client.Claim {
		info, err := c.Inspect(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return info.Holders[0]
	}
	of := claimOn("orders")
	if left, err := c.TTLLeft(t.Context(), of); err != nil || left < 60*time.Second || left > 100*time.Second {
		t.Errorf("time left %v, %v, want nearly 100 s", left, err)
	}
	revoke(t, etcd, s)
	if left, err := c.TTLLeft(t.Context(), of); err != nil || left != 0 {
		t.Errorf("time left of a lease that has ended: %v, %v, want 0", left, err)
	}
	if left, err := c.TTLLeft(t.Context(), claimOn("stuck")); err == nil || !strings.Contains(err.Error(), "no lease") {
		t.Errorf("time left of a key without a lease: %v, %v, want an error that says so", left, err)
	}
}
