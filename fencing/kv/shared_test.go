package kv_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv"
)

// share enqueues a shared claim.
func (s *store) share() claim {
	s.t.Helper()
	return s.enqueue(keys.SharedMode)
}

// reader returns the handle that a shared claim's own client would have, granted
// now.
func (c claim) reader(etcd *clientv3.Client) *kv.Reader {
	c.store.t.Helper()
	seen, err := etcd.Txn(c.store.ctx()).Then(
		clientv3.OpGet(c.store.space.Fence(guard)),
		clientv3.OpGet(c.store.space.Queue(guard), clientv3.WithFirstCreate()...)).Commit()
	if err != nil {
		c.store.t.Fatal(err)
	}
	grant := kv.Grant{Sequencer: c.sequencer(), Claim: c.key, Held: func() error { return nil }}
	grant.Oldest = fencing.Token(seen.Responses[1].GetResponseRange().Kvs[0].CreateRevision)
	if fence := seen.Responses[0].GetResponseRange().Kvs; len(fence) > 0 {
		grant.Fence = fence[0]
	}
	handle, err := kv.Shared(etcd, grant, kv.Config{Timeout: 5 * time.Second})
	if err != nil {
		c.store.t.Fatal(err)
	}
	return handle
}

// readings are all that a reader can do.
func readings() map[string]func(context.Context, *kv.Reader) error {
	return map[string]func(context.Context, *kv.Reader) error{
		"get":     func(ctx context.Context, r *kv.Reader) error { _, err := r.Get(ctx, "k"); return err },
		"list":    func(ctx context.Context, r *kv.Reader) error { _, err := r.List(ctx, ""); return err },
		"advance": func(ctx context.Context, r *kv.Reader) error { return r.Advance(ctx) },
	}
}

// Co-holders, old ones and new ones, all read: none of them fences another.
func TestSharedReadersDoNotFenceEachOther(t *testing.T) {
	s := newStore(t, 1)
	writer := s.hold()
	mustPut(t, writer.live(s.etcd), "k", "1")
	writer.end()
	first, second := s.share(), s.share()
	old, middle := first.reader(s.etcd), second.reader(s.etcd)
	read := func(who string, r *kv.Reader) {
		t.Helper()
		for what, operate := range readings() {
			if err := operate(t.Context(), r); err != nil {
				t.Errorf("%s: %s: %v", who, what, err)
			}
		}
		if got, err := r.Get(t.Context(), "k"); err != nil || string(got.Value) != "1" {
			t.Errorf("%s reads %s, %v, want 1", who, got.Value, err)
		}
	}
	read("the second", middle)
	if got, want := s.fence(), keys.Shared(first.token); got != want {
		t.Errorf("fence %s, want %s, of the oldest claim", got, want)
	}
	read("the first", old)
	first.end()
	third := s.share()
	young := third.reader(s.etcd)
	read("the third", young)
	if got, want := s.fence(), keys.Shared(second.token); got != want {
		t.Errorf("fence %s, want %s, of the oldest claim", got, want)
	}
	read("the second", middle)
	for what, operate := range readings() { // it has left, and a newer one has claimed the fence since
		if err := operate(t.Context(), old); !errors.Is(err, fencing.ErrStale) && !errors.Is(err, fencing.ErrNotHeld) {
			t.Errorf("the first, after it left: %s: got %v, want a refusal", what, err)
		}
	}
}

// Many co-holders come, read and leave at once.
func TestManySharedReaders(t *testing.T) {
	s := newStore(t, 1)
	writer := s.hold()
	mustPut(t, writer.live(s.etcd), "k", "1")
	writer.end()
	const readers, reads = 64, 30
	var mu sync.Mutex // makes claims one after the other
	var reading sync.WaitGroup
	for range readers {
		reading.Go(func() {
			mu.Lock()
			c := s.share()
			r := c.reader(s.etcd)
			mu.Unlock()
			for range reads {
				if got, err := r.Get(context.Background(), "k"); err != nil || string(got.Value) != "1" {
					t.Errorf("token %v reads %q, %v, want 1", c.token, got.Value, err)
					return
				}
			}
			c.end()
		})
	}
	reading.Wait()
}

// Steady reads of a shared holder cost no entry in the Raft log.
func TestSteadySharedReadsAreReadOnly(t *testing.T) {
	s := newStore(t, 1)
	r := s.share().reader(s.etcd)
	if err := r.Advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := s.revision()
	for range 20 {
		for what, operate := range readings() {
			if err := operate(t.Context(), r); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if after := s.revision(); after != before {
		t.Errorf("steady reads moved the revision from %d to %d", before, after)
	}
}

// Case 2 with a reader: the older holder's write lands after the reader's read.
func TestSharedReadFencesTheHolderBefore(t *testing.T) {
	for what, operate := range readings() {
		t.Run(what, func(t *testing.T) {
			s := newStore(t, 1)
			a := s.hold()
			crossing := a.live(s.etcd)
			mustPut(t, crossing, "k", "1")
			a.end()
			shared := s.share()
			if err := operate(t.Context(), shared.reader(s.etcd)); err != nil {
				t.Fatal(err)
			}
			_, err := crossing.Put(t.Context(), "k", []byte("late"))
			wantStale(t, err, a.token, shared.token)
			_, err = a.bare().Put(t.Context(), "k", []byte("late"))
			wantStale(t, err, a.token, shared.token)
			if got, want := s.value("k"), "1"; got != want {
				t.Errorf("k is %s, want %s", got, want)
			}
		})
	}
}

// A holder that came after a reader fences it, and works under a fence that readers
// have claimed.
func TestExclusiveHolderFencesReadersBefore(t *testing.T) {
	s := newStore(t, 1)
	first, second := s.share(), s.share()
	claimed, idle := first.reader(s.etcd), second.reader(s.etcd)
	if err := claimed.Advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.end()
	second.end()
	writer := s.hold()
	mustPut(t, writer.live(s.etcd), "k", "1")
	if got, want := s.fence(), keys.Claimed(writer.token); got != want {
		t.Errorf("fence %s, want %s", got, want)
	}
	for what, operate := range readings() {
		wantStale(t, operate(t.Context(), claimed), first.token, writer.token)
		if err := operate(t.Context(), idle); !errors.Is(err, fencing.ErrStale) {
			t.Errorf("%s of a reader that comes late: got %v, want ErrStale", what, err)
		}
	}
	if got, want := s.fence(), keys.Claimed(writer.token); got != want {
		t.Errorf("readers moved the fence to %s, want %s", got, want)
	}
}

// A reader whose claim is gone is refused though nobody newer has come.
func TestReaderWithoutAClaimIsRefused(t *testing.T) {
	s := newStore(t, 1)
	c := s.share()
	r := c.reader(s.etcd)
	if err := r.Advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.end()
	for what, operate := range readings() {
		if err := operate(t.Context(), r); !errors.Is(err, fencing.ErrNotHeld) || errors.Is(err, fencing.ErrStale) {
			t.Errorf("%s: got %v, want ErrNotHeld", what, err)
		}
	}
}

// The claiming read lands twice, or its answer is lost: no harm in either.
func TestClaimingSharedReadIsRepeated(t *testing.T) {
	s, w := newStore(t, 1), &wire{}
	c := s.share()
	r := c.reader(w.connect(t, s.cluster.Endpoints()))
	w.hold(1)
	if _, err := r.Get(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if w.land(t) {
		t.Error("the first attempt claimed the fence a second time")
	}
	if err := r.Advance(t.Context()); err != nil {
		t.Error(err)
	}
	if got, want := s.fence(), keys.Shared(c.token); got != want {
		t.Errorf("fence %s, want %s", got, want)
	}
}

// A reader's late claim of the fence must not fence a writer that came meanwhile,
// nor lower the fence.
func TestLateSharedClaimOfTheFence(t *testing.T) {
	s, w := newStore(t, 1), &wire{}
	c := s.share()
	r := c.reader(w.connect(t, s.cluster.Endpoints()))
	w.hold(1)
	ctx, cancel := context.WithCancel(t.Context())
	left := w.onHeld(cancel)
	if _, err := r.Get(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want Canceled", err)
	}
	<-left
	c.end()
	writer := s.hold()
	holder := writer.live(s.etcd)
	mustPut(t, holder, "k", "1")
	if w.land(t) {
		t.Error("the reader's late claim of the fence was applied")
	}
	mustPut(t, holder, "k", "2")
}
