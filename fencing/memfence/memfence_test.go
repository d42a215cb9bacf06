package memfence_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/fencingtest"
	"github.com/fencelock/fencelock/fencing/memfence"
)

// store is a resource of this process.
type store struct {
	fence *memfence.Fence
	mu    sync.Mutex
	data  map[string]string
}

func (s *store) Do(ctx context.Context, op fencingtest.Op) (string, error) {
	held, leave, err := s.fence.Enter(ctx, op.Guard, op.Sequencer)
	if err != nil {
		return "", err
	}
	defer leave()
	if held.Err() != nil {
		return "", context.Cause(held)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	place := op.Guard + " " + op.Key
	switch op.Kind {
	case fencingtest.Write:
		s.data[place] = op.Value
	case fencingtest.Delete:
		delete(s.data, place)
	case fencingtest.Read:
		return s.data[place], nil
	}
	return "", nil
}

func TestConformance(t *testing.T) {
	fencingtest.Run(t, fencingtest.Harness{
		Open: func(_ testing.TB, verify fencingtest.Verify) fencingtest.Resource {
			return &store{fence: memfence.New(memfence.Config{Verify: verify}), data: map[string]string{}}
		},
		Without: map[fencingtest.Capability]string{
			fencingtest.Restarts: "the fence dies with the process, see the package comment",
			fencingtest.Texts:    "it takes a fencing.Sequencer",
		},
	})
}

const guard = "accounts/42"

func seq(token fencing.Token) fencing.Sequencer { return fencing.Sequencer{Lock: guard, Token: token} }

// visit is a piece of work that waits until the test lets it end.
type visit struct {
	held  context.Context
	leave func()
	err   error
	in    bool
}

// enter begins to enter in a goroutine; in a bubble, after synctest.Wait, in says
// whether it has succeeded.
func enter(ctx context.Context, f *memfence.Fence, token fencing.Token) *visit {
	v := &visit{}
	go func() {
		v.held, v.leave, v.err = f.Enter(ctx, guard, seq(token))
		v.in = v.err == nil
	}()
	synctest.Wait()
	return v
}

func TestNewerWaitsForOlderWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := memfence.New(memfence.Config{})
		a, b := enter(t.Context(), f, 33), enter(t.Context(), f, 33)
		if !a.in || !b.in {
			t.Fatalf("equal tokens: %v, %v, want both at work", a.err, b.err)
		}
		newer := enter(t.Context(), f, 34)
		a.leave()
		a.leave()
		synctest.Wait()
		if newer.in || newer.err != nil {
			t.Fatalf("newer is in (%v, %v) while older work goes on", newer.in, newer.err)
		}
		b.leave()
		synctest.Wait()
		if !newer.in {
			t.Fatalf("older work is done, and newer is not in: %v", newer.err)
		}
		newer.leave()
	})
}

// Case 2: from the moment at which a newer token was heard no older one comes in,
// and none that waits is let past a newer one.
func TestOlderIsRefusedWhileNewerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := memfence.New(memfence.Config{})
		at := enter(t.Context(), f, 33)
		middle, newest := enter(t.Context(), f, 34), enter(t.Context(), f, 35)
		wantStale(t, enter(t.Context(), f, 33).err, 33, 35)
		at.leave()
		synctest.Wait()
		wantStale(t, middle.err, 34, 35)
		if !newest.in {
			t.Errorf("newest: %v, want it in", newest.err)
		}
		newest.leave()
	})
}

func TestOvertakenWorkIsToldToHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := memfence.New(memfence.Config{})
		at, done := enter(t.Context(), f, 33), enter(t.Context(), f, 33)
		done.leave()
		if at.held.Err() != nil {
			t.Fatal("told to hurry with nobody waiting")
		}
		newer := enter(t.Context(), f, 34)
		wantStale(t, context.Cause(at.held), 33, 34)
		if errors.Is(context.Cause(done.held), fencing.ErrStale) {
			t.Error("work that was done is told to hurry")
		}
		at.leave()
		synctest.Wait()
		newer.leave()
	})
}

// Whoever gives up waiting was heard: its token may have begun to work elsewhere.
func TestGivingUpKeepsTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := memfence.New(memfence.Config{})
		at := enter(t.Context(), f, 33)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, _, err := f.Enter(ctx, guard, seq(34))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("got %v after %v, want DeadlineExceeded after 1s", err, time.Since(start))
		}
		wantStale(t, enter(t.Context(), f, 33).err, 33, 34)
		at.leave()
		if again := enter(t.Context(), f, 34); !again.in {
			t.Errorf("34 comes back: %v, want it in", again.err)
		}
	})
}

// A slow lock service holds up nobody whose token is known.
func TestVerifyIsAskedOutsideTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan error)
		f := memfence.New(memfence.Config{Verify: func(_ context.Context, s fencing.Sequencer) error {
			if s.Token == 33 {
				return nil
			}
			return <-answer
		}})
		enter(t.Context(), f, 33).leave()
		slow := enter(t.Context(), f, 34)
		if known := enter(t.Context(), f, 33); !known.in {
			t.Fatalf("known token: %v, want it in", known.err)
		} else {
			known.leave()
		}
		answer <- fencing.ErrUnavailable
		synctest.Wait()
		if !errors.Is(slow.err, fencing.ErrUnavailable) {
			t.Errorf("got %v, want what verify said", slow.err)
		}
		if still := enter(t.Context(), f, 33); !still.in {
			t.Errorf("33 after a refused 34: %v, want it in", still.err)
		}
	})
}

func wantStale(t *testing.T, err error, token, highest fencing.Token) {
	t.Helper()
	var got *fencing.StaleError
	want := fencing.StaleError{Guard: guard, Token: token, Highest: highest}
	if !errors.As(err, &got) || *got != want {
		t.Errorf("got %v, want %+v", err, want)
	}
}
