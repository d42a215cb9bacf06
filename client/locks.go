package client

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv"
)

// MaxLocks is how many locks one LockAll may name.
const MaxLocks = 100

// Locks is one acquisition of several locks together. Their claims were put at one
// revision, so one token serves all of them. Losing one loses them all.
type Locks struct {
	*holding
	names []string // sorted
	mu    sync.Mutex
	kvs   map[string]*kv.KV
}

// LockAll takes several locks together and waits for them as long as ctx allows.
// Their claims enter all queues at once, so callers that hold nothing else cannot
// block each other in a circle. Names that occur twice count once; at most
// MaxLocks. Errors as for [Client.Lock].
func (c *Client) LockAll(ctx context.Context, names ...string) (*Locks, error) {
	return acquireAll(ctx, c, names, false)
}

// TryLockAll takes several locks together if all of them are free. Errors as for
// [Client.TryLock].
func (c *Client) TryLockAll(ctx context.Context, names ...string) (*Locks, error) {
	return acquireAll(ctx, c, names, true)
}

// LockAll is [Client.LockAll] through this session.
func (s *Session) LockAll(ctx context.Context, names ...string) (*Locks, error) {
	return acquireAll(ctx, s, names, false)
}

// TryLockAll is [Client.TryLockAll] through this session.
func (s *Session) TryLockAll(ctx context.Context, names ...string) (*Locks, error) {
	return acquireAll(ctx, s, names, true)
}

func acquireAll(ctx context.Context, by acquirer, names []string, try bool) (*Locks, error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(names)))
	if len(sorted) == 0 || len(sorted) > MaxLocks {
		return nil, fmt.Errorf("lock %d names together: want 1 to %d", len(sorted), MaxLocks)
	}
	held, err := by.acquire(ctx, goal{names: sorted, try: try})
	if err != nil {
		return nil, err
	}
	return &Locks{holding: held, names: sorted, kvs: map[string]*kv.KV{}}, nil
}

// Names are the locks that are held, sorted.
func (l *Locks) Names() []string { return slices.Clone(l.names) }

// Token is the fencing token of every one of the locks.
func (l *Locks) Token() fencing.Token { return l.places[0].token }

// Sequencer names this acquisition of one of the locks. For a name that is not
// among them it is the zero Sequencer, which every fence refuses.
func (l *Locks) Sequencer(name string) fencing.Sequencer {
	if _, ok := slices.BinarySearch(l.names, name); !ok {
		return fencing.Sequencer{}
	}
	return fencing.Sequencer{Lock: name, Token: l.Token()}
}

// KV returns the records behind one of the locks' fences, nil for a name that is
// not among them. Every call for a name returns the same handle.
func (l *Locks) KV(name string) *kv.KV {
	i, ok := slices.BinarySearch(l.names, name)
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kvs[name] == nil {
		l.kvs[name] = l.live(i)
	}
	return l.kvs[name]
}

// Unlock gives all of the locks back, as [Lock.Unlock] does.
func (l *Locks) Unlock(context.Context) error {
	return l.release("unlock " + l.what)
}
