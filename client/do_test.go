package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

var errOfFn = errors.New("fn's own error")

func TestDoHoldsTheLockWhileFnRuns(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "a")
	type doer interface {
		Do(ctx context.Context, name string, fn func(ctx context.Context, l *client.Lock) error) error
	}
	for how, do := range map[string]doer{"client": c, "session": session(t, c, time.Minute)} {
		for _, want := range []error{nil, errOfFn} {
			var held *client.Lock
			var bound context.Context
			err := do.Do(bounded(t), "orders", func(ctx context.Context, l *client.Lock) error {
				held, bound = l, ctx
				claimOf(t, etcd, l)
				if seq, ok := fencing.FromContext(ctx, "orders"); !ok || seq != l.Sequencer() {
					t.Errorf("%s: ctx carries %v, %t, want %v", how, seq, ok, l.Sequencer())
				}
				if err := ctx.Err(); err != nil {
					t.Errorf("%s: ctx has ended: %v", how, err)
				}
				return want
			})
			if err != want {
				t.Errorf("%s: Do: got %v, want %v", how, err, want)
			}
			mustBe(t, how+": the lock after Do", held.Err(), client.ErrNotHeld)
			receive(t, bound.Done(), "Done of fn's context after Do")
			if got := queueOf(t, etcd, "orders"); len(got) != 0 {
				t.Errorf("%s: queue %v after Do, want none", how, keysOf(got))
			}
		}
	}
}

func TestDoUnlocksWhenFnPanics(t *testing.T) {
	cluster := oneMember(t)
	c := member(t, cluster, "a")
	func() {
		defer func() {
			if got := recover(); got != "boom" {
				t.Errorf("recovered %v, want fn's own panic", got)
			}
		}()
		_ = c.Do(bounded(t), "orders", func(context.Context, *client.Lock) error { panic("boom") })
	}()
	if got := queueOf(t, cluster.Client(t), "orders"); len(got) != 0 {
		t.Errorf("queue %v after the panic, want none", keysOf(got))
	}
}

func TestDoReportsALossBesideFnsOwnError(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	for _, own := range []error{nil, errOfFn} {
		s := session(t, member(t, cluster, "a"), time.Minute)
		err := s.Do(bounded(t), "orders", func(ctx context.Context, l *client.Lock) error {
			revoke(t, etcd, s)
			receive(t, ctx.Done(), "Done of fn's context after the loss")
			mustBe(t, "its cause", context.Cause(ctx), client.ErrLost)
			return own
		})
		mustBe(t, "Do", err, client.ErrLost)
		if own != nil {
			mustBe(t, "Do", err, own)
		}
	}
}

// A loss that fn has not noticed is reported too.
func TestDoReportsALossThatFnHasNotNoticed(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	err := member(t, cluster, "a").Do(bounded(t), "orders", func(_ context.Context, l *client.Lock) error {
		_, err := etcd.Delete(t.Context(), string(claimOf(t, etcd, l).Key))
		return err
	})
	mustBe(t, "Do", err, client.ErrLost)
}

// When the client was closed, fn was not under the lock to its end.
func TestDoReportsThatTheClientWasClosed(t *testing.T) {
	cluster := oneMember(t)
	c := member(t, cluster, "a")
	err := c.Do(bounded(t), "orders", func(ctx context.Context, _ *client.Lock) error {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		receive(t, ctx.Done(), "Done of fn's context after Close")
		return nil
	})
	mustBe(t, "Do", err, client.ErrClosed)
}

func TestFnMayUnlockByItself(t *testing.T) {
	cluster := oneMember(t)
	c := member(t, cluster, "a")
	err := c.Do(bounded(t), "orders", func(ctx context.Context, l *client.Lock) error { return l.Unlock(ctx) })
	if err != nil {
		t.Errorf("Do: got %v, want nil", err)
	}
}

func TestDoEndsFnsContextWithItsOwn(t *testing.T) {
	cluster := oneMember(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	err := member(t, cluster, "a").Do(ctx, "orders", func(bound context.Context, l *client.Lock) error {
		cancel(errOfFn)
		receive(t, bound.Done(), "Done of fn's context")
		if err := l.Err(); err != nil {
			t.Errorf("the lock: got %v, want it held until fn returns", err)
		}
		return context.Cause(bound)
	})
	if err != errOfFn {
		t.Errorf("Do: got %v, want %v alone: the lock was given back in order", err, errOfFn)
	}
}

func TestDoWithoutTheLockDoesNotRunFn(t *testing.T) {
	cluster := oneMember(t)
	hold(t, member(t, cluster, "a"), "orders")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := member(t, cluster, "b").Do(ctx, "orders", func(context.Context, *client.Lock) error {
		t.Error("fn ran without the lock")
		return nil
	})
	mustBe(t, "Do", err, client.ErrLocked, context.DeadlineExceeded)
}

// Waiting for oneself would never end.
func TestLockDoesNotReenter(t *testing.T) {
	cluster := oneMember(t)
	c, other := member(t, cluster, "a"), member(t, cluster, "b")
	err := c.Do(bounded(t), "orders", func(ctx context.Context, l *client.Lock) error {
		start := time.Now()
		for who, via := range map[string]locker{"the client": c, "another": other, "a session": session(t, c, time.Minute)} {
			mustBe(t, "Lock through "+who, second(via.Lock(ctx, "orders")), client.ErrReentrant)
			mustBe(t, "TryLock through "+who, second(via.TryLock(ctx, "orders")), client.ErrReentrant)
		}
		mustBe(t, "Lock with the lock's own context", second(c.Lock(l.Context(), "orders")), client.ErrReentrant)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("refusals took %v, want them at once", took)
		}
		return c.Do(ctx, "orders/1", func(ctx context.Context, inner *client.Lock) error {
			for _, l := range []*client.Lock{l, inner} {
				if seq, ok := fencing.FromContext(ctx, l.Name()); !ok || seq != l.Sequencer() {
					t.Errorf("the inner ctx carries %v, %t for %s, want %v", seq, ok, l.Name(), l.Sequencer())
				}
			}
			mustBe(t, "Lock of the outer one", second(c.Lock(ctx, "orders")), client.ErrReentrant)
			return nil
		})
	})
	if err != nil {
		t.Errorf("Do: %v", err)
	}
}

func TestBindEndsWithTheLock(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	for how, end := range map[string]struct {
		act  func(*client.Session, *client.Lock)
		want error
	}{
		"unlock": {func(_ *client.Session, l *client.Lock) { unlock(t, l) }, client.ErrNotHeld},
		"loss":   {func(s *client.Session, _ *client.Lock) { revoke(t, etcd, s) }, client.ErrLost},
		"close":  {func(s *client.Session, _ *client.Lock) { _ = s.Close() }, client.ErrClosed},
	} {
		t.Run(how, func(t *testing.T) {
			s := session(t, member(t, cluster, "a"), time.Minute)
			l := hold(t, s, "orders/"+how)
			type key struct{}
			parent, endParent := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
			bound, cancel := l.Bind(parent)
			defer cancel()
			if got := bound.Value(key{}); got != "kept" {
				t.Errorf("value of the parent: got %v, want it kept", got)
			}
			if seq, ok := fencing.FromContext(bound, l.Name()); !ok || seq != l.Sequencer() {
				t.Errorf("bound context carries %v, %t, want %v", seq, ok, l.Sequencer())
			}
			child, cancelChild := l.Bind(parent)
			cancelChild()
			receive(t, child.Done(), "Done after cancel")
			byParent, cancelByParent := l.Bind(parent)
			defer cancelByParent()
			if err := errors.Join(bound.Err(), l.Err(), byParent.Err()); err != nil {
				t.Errorf("another bound context and the lock: got %v, want them to last", err)
			}
			end.act(s, l)
			receive(t, bound.Done(), "Done of the bound context")
			mustBe(t, "its cause", context.Cause(bound), end.want)
			endParent()
			late, cancelLate := l.Bind(t.Context())
			defer cancelLate()
			receive(t, late.Done(), "Done of a context bound to an ended lock")
			mustBe(t, "its cause", context.Cause(late), end.want)
		})
	}
}
