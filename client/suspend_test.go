package client

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// jumpyClock is the real one, until the machine is suspended.
type jumpyClock struct {
	clock
	ahead atomic.Int64
}

func (c *jumpyClock) now() time.Duration { return c.clock.now() + time.Duration(c.ahead.Load()) }

// The machine sleeps for three TTLs: whatever is asked first after waking is
// answered from the clock, without waiting for a timer or a reply.
func TestFirstQuestionAfterASuspendIsAnsweredLost(t *testing.T) {
	cluster := clustertest.StartConfig(t, clustertest.Config{Members: 1, Heartbeat: 20 * time.Millisecond, Election: 200 * time.Millisecond})
	ctx := t.Context()
	for what, ask := range map[string]func(*Session, *Lock) error{
		"Lock.Err":    func(_ *Session, l *Lock) error { return l.Err() },
		"Session.Err": func(s *Session, _ *Lock) error { return s.Err() },
		"Unlock":      func(_ *Session, l *Lock) error { return l.Unlock(ctx) },
		"KV.Get":      func(_ *Session, l *Lock) error { _, err := l.KV().Get(ctx, "x"); return err },
		"KV.Put":      func(_ *Session, l *Lock) error { _, err := l.KV().Put(ctx, "x", nil); return err },
		"Lock":        func(s *Session, _ *Lock) error { _, err := s.Lock(ctx, "other"); return err },
		"TryLock":     func(s *Session, _ *Lock) error { _, err := s.TryLock(ctx, "other"); return err },
		"Deadline": func(_ *Session, l *Lock) error {
			if left := time.Until(l.Deadline()); left > 0 {
				return fmt.Errorf("%v left", left)
			}
			return l.Err()
		},
	} {
		t.Run(what, func(t *testing.T) {
			c, err := New(Config{Endpoints: cluster.Endpoints()})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			jumpy := &jumpyClock{clock: c.clock}
			c.clock = jumpy
			s, err := c.NewSession(ctx, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			l, err := s.Lock(ctx, what)
			if err != nil {
				t.Fatal(err)
			}
			jumpy.ahead.Add(int64(3 * time.Minute))
			if err := ask(s, l); !errors.Is(err, ErrLost) {
				t.Errorf("%s after the suspend: got %v, want ErrLost", what, err)
			}
			if err := context.Cause(l.Context()); !errors.Is(err, ErrLost) {
				t.Errorf("cause of the lock's context after %s: got %v, want ErrLost", what, err)
			}
		})
	}
}

// The default session is replaced at once: the next Lock takes a new one.
func TestLockAfterASuspendTakesAFreshSession(t *testing.T) {
	cluster := clustertest.StartConfig(t, clustertest.Config{Members: 1, Heartbeat: 20 * time.Millisecond, Election: 200 * time.Millisecond})
	c, err := New(Config{Endpoints: cluster.Endpoints()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	jumpy := &jumpyClock{clock: c.clock}
	c.clock = jumpy
	old, err := c.Lock(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	jumpy.ahead.Add(int64(time.Hour))
	l, err := c.Lock(t.Context(), "other")
	if err != nil {
		t.Fatalf("Lock after the suspend: got %v, want a lock of a fresh session", err)
	}
	if err := l.Err(); err != nil || l.session == old.session {
		t.Errorf("the new lock: %v, of the old session: %t; want it held, by a fresh one", err, l.session == old.session)
	}
	if !errors.Is(old.Err(), ErrLost) {
		t.Errorf("the old lock: got %v, want ErrLost", old.Err())
	}
}

// The clock runs as fast as time does.
func TestClockRunsWithTime(t *testing.T) {
	c := newClock()
	began, first := time.Now(), c.now()
	timer := time.NewTimer(50 * time.Millisecond)
	<-timer.C
	got, want := c.now()-first, time.Since(began)
	if got < 50*time.Millisecond || got > want+50*time.Millisecond {
		t.Errorf("the clock ran for %v, want about %v", got, want)
	}
}
