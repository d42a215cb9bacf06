package kv_test

import (
	"context"
	"errors"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv"
)

// Case 1: A pauses past its lease, B writes, A wakes and writes.
func TestLateWriterIsRefused(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	late := a.live(s.etcd)
	mustPut(t, late, "balance", "100")
	a.end()
	b := s.hold()
	mustPut(t, b.live(s.etcd), "balance", "120")

	_, err := late.Put(t.Context(), "balance", []byte("110"))
	wantStale(t, err, a.token, b.token)
	if got, want := s.value("balance"), "120"; got != want {
		t.Errorf("balance is %s, want %s", got, want)
	}
}

// Case 2: A's write lands after B's read and before B's first write.
func TestReadClaimsTheFence(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	crossing := a.live(s.etcd)
	mustPut(t, crossing, "balance", "100")
	a.end()
	b := s.hold()
	holder := b.live(s.etcd)
	if got, want := string(mustGet(t, holder, "balance").Value), "100"; got != want {
		t.Fatalf("B reads %s, want %s", got, want)
	}

	_, err := crossing.Put(t.Context(), "balance", []byte("110"))
	wantStale(t, err, a.token, b.token)
	mustPut(t, holder, "balance", "120")
}

// Every kind of operation claims the fence when it is the first, and every kind is
// refused to an overtaken holder: reads too.
func TestEveryOperationIsFenced(t *testing.T) {
	s := newStore(t, 1)
	for name, operate := range operations() {
		t.Run(name, func(t *testing.T) {
			a := s.hold()
			old := a.live(s.etcd)
			if err := operate(t.Context(), old); err != nil {
				t.Fatalf("as the holder: %v", err)
			}
			if got, want := s.fence(), keys.Claimed(a.token); got != want {
				t.Fatalf("after the first operation the fence is %s, want %s", got, want)
			}
			a.end()
			b := s.hold()
			if err := b.live(s.etcd).Advance(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := s.revision()
			wantStale(t, operate(t.Context(), old), a.token, b.token)
			wantStale(t, operate(t.Context(), a.bare()), a.token, b.token)
			if after := s.revision(); after != before {
				t.Errorf("refused operations moved the store from revision %d to %d", before, after)
			}
			b.end()
		})
	}
}

func operations() map[string]func(context.Context, *kv.KV) error {
	return map[string]func(context.Context, *kv.KV) error{
		"get":     func(ctx context.Context, h *kv.KV) error { _, err := h.Get(ctx, "k"); return err },
		"list":    func(ctx context.Context, h *kv.KV) error { _, err := h.List(ctx, ""); return err },
		"put":     func(ctx context.Context, h *kv.KV) error { _, err := h.Put(ctx, "k", []byte("v")); return err },
		"delete":  func(ctx context.Context, h *kv.KV) error { _, err := h.Delete(ctx, "k"); return err },
		"advance": func(ctx context.Context, h *kv.KV) error { return h.Advance(ctx) },
		"txn of reads": func(ctx context.Context, h *kv.KV) error {
			_, err := h.Txn(ctx, kv.Txn{Then: []kv.Op{kv.Get("k")}})
			return err
		},
		"txn that is not met": func(ctx context.Context, h *kv.KV) error {
			_, err := h.Txn(ctx, kv.Txn{If: []kv.Compare{kv.ValueIs("k", []byte("never"))}})
			return err
		},
	}
}

// The next holder comes right before one of the requests that an operation is made
// of, whichever that is: the older one's operation is refused, and has done nothing.
func TestNextHolderComesAtAnyMoment(t *testing.T) {
	s, w := newStore(t, 1), &wire{}
	etcd := w.connect(t, s.cluster.Endpoints())
	for name, operate := range operations() {
		for _, first := range []bool{true, false} {
			for n := 1; ; n++ {
				a := s.hold()
				old := a.live(etcd)
				if !first {
					mustPut(t, old, "k", "never")
				}
				var b claim
				met := w.meet(n, func() {
					a.end()
					b = s.hold()
					mustPut(t, b.live(s.etcd), "k", "b")
				})
				err := operate(t.Context(), old)
				if !met() { // it has sent no more than n-1
					if err != nil {
						t.Errorf("%s, first: %v: got %v, want it done with %d transactions", name, first, err, n-1)
					}
					a.end()
					break
				}
				wantStale(t, err, a.token, b.token)
				if got := s.value("k"); got != "b" {
					t.Errorf("%s, first: %v: k is %q after a newer holder came before transaction %d, want b", name, first, got, n)
				}
				b.end()
			}
		}
	}
}

// The claim is gone and nobody newer has come: not held, which is not stale.
func TestEndedClaimIsNotHeld(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	old := a.live(s.etcd)
	mustPut(t, old, "k", "1")
	a.end()
	for name, handle := range map[string]*kv.KV{"live": old, "bare": a.bare()} {
		if _, err := handle.Put(t.Context(), "k", []byte("2")); !errors.Is(err, fencing.ErrNotHeld) || errors.Is(err, fencing.ErrStale) {
			t.Errorf("%s: got %v, want ErrNotHeld", name, err)
		}
	}
	if got, want := s.value("k"), "1"; got != want {
		t.Errorf("k is %s, want %s", got, want)
	}
}

// The holder's client knows that the lock is lost: no request is needed.
func TestLostLockIsRefusedLocally(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	lost := errors.New("lost")
	handle, err := kv.Live(s.etcd, kv.Grant{Sequencer: a.sequencer(), Claim: a.key, Held: func() error { return lost }}, kv.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := handle.Get(t.Context(), "k"); !errors.Is(err, lost) {
		t.Errorf("got %v, want the lock's own error", err)
	}
	if got := s.fence(); got != "" {
		t.Errorf("the fence was claimed: %s", got)
	}
}

// Handles of the same token share the fence: each goes on after the other.
func TestHandlesOfOneTokenShareTheFence(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	one, two, three := a.live(s.etcd), a.live(s.etcd), a.bare()
	for i, handle := range []*kv.KV{one, two, three, one, three, two} {
		mustPut(t, handle, "k", string(rune('a'+i)))
	}
	if got, want := s.value("k"), "f"; got != want {
		t.Errorf("k is %s, want %s", got, want)
	}
}

func TestDeletingEverythingKeepsTheFence(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	handle := a.live(s.etcd)
	mustPut(t, handle, "k", "1")
	if deleted, err := handle.Delete(t.Context(), "k"); err != nil || !deleted {
		t.Fatalf("delete: %v, %v", deleted, err)
	}
	if deleted, err := handle.Delete(t.Context(), "k"); err != nil || deleted {
		t.Errorf("delete again: %v, %v, want false", deleted, err)
	}
	if got, want := s.fence(), keys.Claimed(a.token); got != want {
		t.Errorf("fence is %s, want %s", got, want)
	}
}

// Steady reads cost no entry in the Raft log.
func TestSteadyReadsAreReadOnly(t *testing.T) {
	s := newStore(t, 1)
	handle := s.hold().live(s.etcd)
	mustPut(t, handle, "k", "1")
	before := s.revision()
	index := s.raftIndex()
	for range 100 {
		mustGet(t, handle, "k")
	}
	if err := handle.Advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := s.revision(); after != before {
		t.Errorf("100 reads moved the revision from %d to %d", before, after)
	}
	if after := s.raftIndex(); after-index > 20 { // lease checkpoints and the like, not 100
		t.Errorf("100 reads made %d entries in the Raft log", after-index)
	}
}

func (s *store) raftIndex() uint64 {
	s.t.Helper()
	status, err := s.etcd.Status(s.ctx(), s.cluster.Endpoints()[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return status.RaftIndex
}

// A fence that was closed by a break or a restore refuses the token it was closed
// above, and lets the next one in.
func TestClosedFence(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	handle := a.live(s.etcd)
	mustPut(t, handle, "k", "1")
	if _, err := s.etcd.Put(t.Context(), s.space.Fence(guard), string(keys.Closed(a.token))); err != nil {
		t.Fatal(err)
	}
	_, err := handle.Put(t.Context(), "k", []byte("2"))
	wantStale(t, err, a.token, a.token)
	a.end()
	mustPut(t, s.hold().live(s.etcd), "k", "3")
}

// Somebody wrote rubbish under the fence's key: nothing is admitted.
func TestUnreadableFenceAdmitsNothing(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	if _, err := s.etcd.Put(t.Context(), s.space.Fence(guard), "rubbish"); err != nil {
		t.Fatal(err)
	}
	for name, handle := range map[string]*kv.KV{"live": a.live(s.etcd), "bare": a.bare()} {
		if _, err := handle.Put(t.Context(), "k", []byte("1")); err == nil {
			t.Errorf("%s: admitted", name)
		}
	}
	if got := s.value("k"); got != "" {
		t.Errorf("k is %s, want nothing", got)
	}
}

func wantStale(t *testing.T, err error, token, highest fencing.Token) {
	t.Helper()
	var stale *fencing.StaleError
	if !errors.As(err, &stale) {
		t.Errorf("got %v, want a StaleError", err)
		return
	}
	if want := (fencing.StaleError{Guard: guard, Token: token, Highest: highest}); *stale != want {
		t.Errorf("got %+v, want %+v", *stale, want)
	}
}
