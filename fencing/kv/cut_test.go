package kv_test

import (
	"errors"
	"testing"
	"time"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv"
)

// A member that is cut off from the others still answers transactions that it
// takes for read-only and local. None of the handle's operations is one.
func TestMemberThatIsCutOffAdmitsNothing(t *testing.T) {
	s := newStore(t, 3)
	leader := s.cluster.Leader(t.Context())
	follower := (leader + 1) % 3
	s.etcd = s.cluster.MemberClient(t, leader)
	a := s.hold()
	there := s.cluster.MemberClient(t, follower)
	live := a.live(there)
	mustPut(t, live, "k", "1") // the fence is claimed: from here on reads are read-only
	bare, err := kv.New(there, a.sequencer(), kv.Config{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	s.cluster.Isolate(follower)
	a.end()
	b := s.hold()
	mustPut(t, b.live(s.etcd), "k", "2")

	for name, operate := range operations() {
		for kind, handle := range map[string]*kv.KV{"live": live, "bare": bare} {
			if err := operate(t.Context(), handle); err == nil {
				t.Errorf("%s of a %s handle was admitted by a member that is cut off", name, kind)
			}
		}
	}
	if err := kv.Check(t.Context(), there, a.sequencer(), kv.Config{Timeout: time.Second}); !errors.Is(err, fencing.ErrUnavailable) {
		t.Errorf("check: got %v, want ErrUnavailable", err)
	}
	s.cluster.Heal(follower)
	s.cluster.WaitHealthy()
	_, err = live.Get(t.Context(), "k")
	wantStale(t, err, a.token, b.token)
}
