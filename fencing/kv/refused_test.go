package kv_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv"
)

// rights gives and takes what the user "u" may do, once enable has been called.
type rights struct {
	t    *testing.T
	root *clientv3.Client
}

// enable turns authentication on; "u" may read and write everything of fencelock's.
func enable(t *testing.T, s *store) rights {
	t.Helper()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []string{"root", "u"} {
		must(s.etcd.UserAdd(s.ctx(), user, user))
		must(s.etcd.RoleAdd(s.ctx(), user))
		must(s.etcd.UserGrantRole(s.ctx(), user, user))
	}
	must(s.etcd.RoleGrantPermission(s.ctx(), "u", "fencelock/", clientv3.GetPrefixRangeEnd("fencelock/"), clientv3.PermissionType(clientv3.PermReadWrite)))
	must(s.etcd.AuthEnable(s.ctx()))
	return rights{t, (&wire{}).connectAs(t, s.cluster.Endpoints(), "root")}
}

// set changes what "u" may do.
func (r rights) set(s *store, may clientv3.PermissionType) {
	r.t.Helper()
	if _, err := r.root.RoleGrantPermission(s.ctx(), "u", "fencelock/", clientv3.GetPrefixRangeEnd("fencelock/"), may); err != nil {
		r.t.Error(err)
	}
}

// The user loses the right to write while a write's fate is unknown: the handle
// cannot rule out that it lands late. It says so at once, to readers and writers,
// sends nothing, and goes on when the right is back.
func TestRefusedBarrierSaysSo(t *testing.T) {
	s, w := newStore(t, 1), &wire{}
	a := s.hold()
	rights := enable(t, s)
	handle, err := kv.New(w.connectAs(t, s.cluster.Endpoints(), "u"), a.sequencer(), kv.Config{Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, handle, "k", "0")
	w.hold(1)
	w.onHeld(func() { rights.set(s, clientv3.PermissionType(clientv3.PermRead)) })
	start := time.Now()
	if _, err := handle.Put(t.Context(), "k", []byte("lost")); !errors.Is(err, fencing.ErrUncertain) {
		t.Fatalf("the lost write: got %v, want ErrUncertain", err)
	}
	_, read := handle.Get(t.Context(), "k")
	_, write := handle.Put(t.Context(), "k", []byte("1"))
	for what, err := range map[string]error{"read": read, "write": write} {
		if !errors.Is(err, rpctypes.ErrPermissionDenied) || errors.Is(err, fencing.ErrUncertain) || !strings.Contains(err.Error(), "earlier write") {
			t.Errorf("a %s behind the barrier: got %v, want the refusal, and that nothing was done", what, err)
		}
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("the refusals took %v, want them at once", took)
	}
	rights.set(s, clientv3.PermissionType(clientv3.PermReadWrite))
	mustPut(t, handle, "k", "acknowledged")
	if w.land(t) {
		t.Error("the lost write was applied after a later one")
	}
}

// The barrier is refused, but the claim has ended: that decides as well.
func TestRefusedBarrierEndsWithTheClaim(t *testing.T) {
	s, w := newStore(t, 1), &wire{}
	a := s.hold()
	rights := enable(t, s)
	handle, err := kv.New(w.connectAs(t, s.cluster.Endpoints(), "u"), a.sequencer(), kv.Config{Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, handle, "k", "0")
	w.hold(1)
	w.onHeld(func() {
		rights.set(s, clientv3.PermissionType(clientv3.PermRead))
		if _, err := rights.root.Delete(s.ctx(), a.key); err != nil {
			t.Error(err)
		}
	})
	if _, err := handle.Put(t.Context(), "k", []byte("lost")); !errors.Is(err, fencing.ErrUncertain) {
		t.Fatalf("the lost write: got %v, want ErrUncertain", err)
	}
	if _, err := handle.Get(t.Context(), "k"); !errors.Is(err, fencing.ErrNotHeld) {
		t.Errorf("after the claim has ended: got %v, want ErrNotHeld", err)
	}
}
