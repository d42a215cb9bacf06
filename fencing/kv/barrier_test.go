package kv_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv"
)

// A write that timed out lands after the holder's next, acknowledged one, under
// the same token and the same claim. The barrier has made sure that it cannot.
func TestLostWriteCannotLandLate(t *testing.T) {
	for name, handleOf := range map[string]func(claim, *clientv3.Client) *kv.KV{
		"live": claim.live,
		"bare": func(c claim, etcd *clientv3.Client) *kv.KV {
			handle, err := kv.New(etcd, c.sequencer(), kv.Config{Timeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			return handle
		},
	} {
		for _, operation := range []string{"put", "delete", "txn"} {
			t.Run(name+" "+operation, func(t *testing.T) {
				s, w := newStore(t, 1), &wire{}
				handle := handleOf(s.hold(), w.connect(t, s.cluster.Endpoints()))
				mustPut(t, handle, "k", "0")
				w.hold(1)
				if err := lostWrite(t.Context(), handle, operation); !errors.Is(err, fencing.ErrUncertain) {
					t.Fatalf("the lost write: got %v, want ErrUncertain", err)
				}
				mustPut(t, handle, "k", "acknowledged")
				if w.land(t) {
					t.Error("the lost write was applied after a later one")
				}
				if got, want := s.value("k"), "acknowledged"; got != want {
					t.Errorf("k is %q, want %q", got, want)
				}
			})
		}
	}
}

func lostWrite(ctx context.Context, handle *kv.KV, operation string) error {
	switch operation {
	case "put":
		_, err := handle.Put(ctx, "k", []byte("lost"))
		return err
	case "delete":
		_, err := handle.Delete(ctx, "k")
		return err
	}
	_, err := handle.Txn(ctx, kv.Txn{Then: []kv.Op{kv.Put("k", []byte("lost")), kv.Put("other", nil)}})
	return err
}

// The first write claims the fence, so it needs no barrier: the next claim moves it.
func TestLostClaimingWriteCannotLandLate(t *testing.T) {
	s, w := newStore(t, 1), &wire{}
	a := s.hold()
	handle := a.live(w.connect(t, s.cluster.Endpoints()))
	w.hold(1)
	if _, err := handle.Put(t.Context(), "k", []byte("lost")); !errors.Is(err, fencing.ErrUncertain) {
		t.Fatalf("got %v, want ErrUncertain", err)
	}
	mustPut(t, a.live(s.etcd), "k", "by another handle of the same token")
	if w.land(t) {
		t.Error("the lost write was applied after a later one")
	}
	mustPut(t, handle, "k", "acknowledged")
}

// The other way round: the lost write lands first. Then it counts, and the handle
// goes on under the fence as it is.
func TestLostWriteMayLandAtOnce(t *testing.T) {
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprintf("claiming %v", first), func(t *testing.T) {
			s, w := newStore(t, 1), &wire{}
			handle := s.hold().live(w.connect(t, s.cluster.Endpoints()))
			if !first {
				mustPut(t, handle, "k", "0")
			}
			w.hold(1)
			ctx, cancel := context.WithCancel(t.Context())
			cancelled := w.onHeld(cancel) // so that the barrier runs behind the call
			if _, err := handle.Put(ctx, "k", []byte("landed")); !errors.Is(err, fencing.ErrUncertain) {
				t.Fatalf("got %v, want ErrUncertain", err)
			}
			<-cancelled
			applied := w.land(t)
			if got := string(mustGet(t, handle, "k").Value) == "landed"; got != applied {
				t.Errorf("applied: %v, but a read sees it: %v", applied, got)
			}
			mustPut(t, handle, "k", "next")
			if got, want := s.value("k"), "next"; got != want {
				t.Errorf("k is %s, want %s", got, want)
			}
		})
	}
}

// The barrier needs no further call of the handle: another handle of the same
// token may write meanwhile.
func TestBarrierRunsInTheBackground(t *testing.T) {
	s, w := newStore(t, 1), &wire{}
	a := s.hold()
	handle, other := a.live(w.connect(t, s.cluster.Endpoints())), a.live(s.etcd)
	mustPut(t, handle, "k", "0")
	moved := s.etcd.Watch(s.ctx(), s.space.Fence(guard), clientv3.WithCreatedNotify())
	<-moved

	w.hold(1)
	w.lose(true) // the barrier itself gets no answer at first
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := handle.Put(ctx, "k", []byte("lost"))
	if !errors.Is(err, fencing.ErrUncertain) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want ErrUncertain and DeadlineExceeded", err)
	}
	w.lose(false)
	select {
	case <-moved:
	case <-time.After(10 * time.Second):
		t.Fatal("the barrier did not move the fence")
	}
	mustPut(t, other, "k", "acknowledged")
	if w.land(t) {
		t.Error("the lost write was applied after another handle's")
	}
}

// While a write's fate is unknown nothing else of the handle goes out.
func TestOperationsWaitForTheBarrier(t *testing.T) {
	s, w := newStore(t, 1), &wire{}
	handle := s.hold().live(w.connect(t, s.cluster.Endpoints()))
	mustPut(t, handle, "k", "0")
	w.hold(1)
	w.lose(true)
	if _, err := handle.Put(t.Context(), "k", []byte("lost")); !errors.Is(err, fencing.ErrUncertain) {
		t.Fatalf("got %v, want ErrUncertain", err)
	}
	sent := w.transactions()
	if _, err := handle.Get(t.Context(), "k"); !errors.Is(err, fencing.ErrUnavailable) {
		t.Errorf("a read before the barrier: got %v, want ErrUnavailable", err)
	}
	if got := w.transactions(); got != sent {
		t.Errorf("%d transactions got through", got-sent)
	}
	if n := w.lostReads(); n != 0 { // they would have been answered from before the write
		t.Errorf("the read was sent %d times before the barrier", n)
	}
	w.lose(false)
	mustPut(t, handle, "k", "1")
}

// A claim that ends, or a newer holder, is as good as the barrier's own commit.
func TestBarrierEndsWithTheClaim(t *testing.T) {
	s, w := newStore(t, 1), &wire{}
	a := s.hold()
	handle := a.live(w.connect(t, s.cluster.Endpoints()))
	mustPut(t, handle, "k", "0")
	w.hold(1)
	w.lose(true)
	if _, err := handle.Put(t.Context(), "k", []byte("lost")); !errors.Is(err, fencing.ErrUncertain) {
		t.Fatalf("got %v, want ErrUncertain", err)
	}
	a.end()
	b := s.hold()
	mustPut(t, b.live(s.etcd), "k", "b")
	w.lose(false)
	_, err := handle.Get(t.Context(), "k")
	wantStale(t, err, a.token, b.token)
	if w.land(t) {
		t.Error("the lost write was applied after the next holder's")
	}
}

// A read that gets no answer has changed nothing that matters: no barrier, and the
// error says that a retry is safe.
func TestLostReadIsUnavailable(t *testing.T) {
	s, w := newStore(t, 1), &wire{}
	handle := s.hold().live(w.connect(t, s.cluster.Endpoints()))
	for _, claiming := range []bool{true, false} {
		w.lose(true)
		if _, err := handle.Get(t.Context(), "k"); !errors.Is(err, fencing.ErrUnavailable) || errors.Is(err, fencing.ErrUncertain) {
			t.Errorf("claiming %v: got %v, want ErrUnavailable", claiming, err)
		}
		w.lose(false)
		mustPut(t, handle, "k", "1")
	}
}

// A claiming read whose first attempt lands late is sent again meanwhile.
func TestClaimingReadIsRepeated(t *testing.T) {
	s, w := newStore(t, 1), &wire{}
	handle := s.hold().live(w.connect(t, s.cluster.Endpoints()))
	w.hold(1)
	mustGet(t, handle, "k")
	if w.land(t) {
		t.Error("the first attempt claimed the fence a second time")
	}
	mustPut(t, handle, "k", "1")
}

func TestEndedContextSendsNothing(t *testing.T) {
	s := newStore(t, 1)
	handle := s.hold().live(s.etcd)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := s.revision()
	if _, err := handle.Put(ctx, "k", []byte("1")); !errors.Is(err, context.Canceled) || errors.Is(err, fencing.ErrUncertain) {
		t.Errorf("got %v, want Canceled and not ErrUncertain", err)
	}
	if after := s.revision(); after != before {
		t.Errorf("revision went from %d to %d", before, after)
	}
}
