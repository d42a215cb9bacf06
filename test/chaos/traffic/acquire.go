package traffic

import (
	"context"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/test/chaos/history"
)

// way is how a lock is taken.
type way struct {
	names []string
	mode  string
	wait  time.Duration
	take  func(ctx context.Context, c *client.Client) (handle, error)
}

// handle is what a lock of any kind is.
type handle interface {
	Context() context.Context
	Done() <-chan struct{}
	Deadline() time.Time
	Unlock(ctx context.Context) error
}

// choose picks a way: mostly Lock with a long wait.
func (t *task) choose() way {
	w := t.waiting(longWait)
	n := t.rand.IntN(100)
	switch onKV := history.Target(t.lock) == kvTarget; {
	case n < 5:
		w.take = func(ctx context.Context, c *client.Client) (handle, error) {
			return granted(c.TryLock(ctx, t.lock))
		}
	case n < 8:
		w.wait = t.upTo(shortWait)
	case onKV && n < 24:
		w.mode = history.Shared
		w.take = func(ctx context.Context, c *client.Client) (handle, error) {
			return granted(c.LockShared(ctx, t.lock))
		}
	case onKV && n < 30 && t.inPair():
		w.mode, w.names = history.All, pair()
		w.take = func(ctx context.Context, c *client.Client) (handle, error) {
			return granted(c.LockAll(ctx, pair()...))
		}
	case onKV && n < 54:
		w.mode = history.Bare
	}
	return w
}

// waiting is the usual way.
func (t *task) waiting(wait time.Duration) way {
	return way{
		names: []string{t.lock},
		wait:  wait,
		take: func(ctx context.Context, c *client.Client) (handle, error) {
			return granted(c.Lock(ctx, t.lock))
		},
	}
}

// pair is the two locks that are taken together.
func pair() []string { return []string{lockName(kvTarget, "counter"), lockName(kvTarget, "set")} }

func (t *task) inPair() bool {
	workload := history.Workload(t.lock)
	return (workload == "counter" || workload == "set") && t.has(kvTarget, "counter") && t.has(kvTarget, "set")
}

// granted makes an interface without a nil pointer in it.
func granted[H handle](h H, err error) (handle, error) {
	if err != nil {
		return nil, err
	}
	return h, nil
}

// acquire takes locks, and writes one event for each. It returns nil if they were not
// granted.
func (t *task) acquire(ctx context.Context, w way) *hold {
	var calls []history.Event
	for _, name := range w.names {
		e, ok := t.log.call(history.Event{Kind: history.Acquire, Lock: name, Mode: w.mode})
		if !ok {
			return nil
		}
		calls = append(calls, e)
	}
	waiting, cancel := context.WithTimeout(ctx, w.wait)
	defer cancel()
	got, err := w.take(waiting, t.client)
	var h *hold
	if err == nil {
		h = t.newHold(got, w, calls)
	}
	for _, e := range calls {
		settle(&e, err)
		if h != nil {
			e.Token, e.Deadline = h.token, h.deadline
		}
		t.log.end(e)
	}
	if h != nil {
		h.follow()
	}
	return h
}
