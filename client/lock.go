package client

import (
	"context"
	"fmt"
	"sync"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv"
)

// Request says which lock is wanted, and how.
type Request struct {
	Name   string
	Try    bool              // do not wait: ErrLocked if somebody else holds it
	Labels map[string]string // shown to people who look at the lock
	Value  []byte            // carried by the claim for others to read; fixed once it is put
}

// Lock is one acquisition of one lock, exclusively. It never comes back to life
// once it has ended: locking again gives a new Lock with a new token. Its methods
// may be called from several goroutines.
type Lock struct {
	*holding
	kv func() *kv.KV
}

// Lock waits for the lock as long as ctx allows. If it runs out of time, the
// error is both ErrLocked (a *LockedError that says who holds it) and
// context.DeadlineExceeded; a cancelled wait leaves no claim behind.
// Other errors: ErrUnavailable, ErrLost if the session ended while waiting,
// ErrReentrant, ErrInvalidName, ErrClosed.
func (c *Client) Lock(ctx context.Context, name string) (*Lock, error) {
	return c.Acquire(ctx, Request{Name: name})
}

// TryLock takes the lock if it is free, and returns ErrLocked (a *LockedError
// that says who holds it) if it is not. Other errors as for Lock.
func (c *Client) TryLock(ctx context.Context, name string) (*Lock, error) {
	return c.Acquire(ctx, Request{Name: name, Try: true})
}

// Acquire takes a lock as req says, through the client's default session.
func (c *Client) Acquire(ctx context.Context, req Request) (*Lock, error) {
	return acquireLock(ctx, c, req)
}

// Lock is [Client.Lock] through this session.
func (s *Session) Lock(ctx context.Context, name string) (*Lock, error) {
	return s.Acquire(ctx, Request{Name: name})
}

// TryLock is [Client.TryLock] through this session.
func (s *Session) TryLock(ctx context.Context, name string) (*Lock, error) {
	return s.Acquire(ctx, Request{Name: name, Try: true})
}

// Acquire is [Client.Acquire] through this session.
func (s *Session) Acquire(ctx context.Context, req Request) (*Lock, error) {
	return acquireLock(ctx, s, req)
}

func acquireLock(ctx context.Context, by acquirer, req Request) (*Lock, error) {
	held, err := by.acquire(ctx, goal{names: []string{req.Name}, try: req.Try, labels: req.Labels, value: req.Value})
	if err != nil {
		return nil, err
	}
	return &Lock{holding: held, kv: sync.OnceValue(func() *kv.KV { return held.live(0) })}, nil
}

// Name is the lock's name.
func (l *Lock) Name() string { return l.places[0].lock }

// Token is this acquisition's fencing token.
func (l *Lock) Token() fencing.Token { return l.places[0].token }

// Sequencer names this acquisition. Hand it to every service that works on the
// lock's behalf, so that it can refuse this holder once it has been overtaken.
func (l *Lock) Sequencer() fencing.Sequencer {
	return fencing.Sequencer{Lock: l.Name(), Token: l.Token()}
}

// KV returns the records behind this lock's fence. Every call returns the same
// handle. Once the lock has ended its methods return what Err does; a holder that
// pauses after that check is refused by the store.
func (l *Lock) KV() *kv.KV { return l.kv() }

// Unlock gives the lock back. It returns when the cluster has answered, or after
// the client's DialTimeout; the end of ctx does not stop it. Where an answer got
// lost and the claim is gone, it asks who removed it, which may take as long again:
// it is nil then unless the lock is known to have been broken or its lease is gone.
//
// Errors: ErrLost if the lock had been lost before; ErrNotHeld for a second
// Unlock; ErrUncertain if no answer came, in which case the session goes on
// trying until the claim is gone.
func (l *Lock) Unlock(context.Context) error {
	return l.release(fmt.Sprintf("unlock %q", l.Name()))
}

// live makes the handle of the store for the i-th claim.
func (h *holding) live(i int) *kv.KV {
	handle, err := kv.Live(h.session.etcd, h.grant(i), h.session.client.kvConfig())
	if err != nil {
		panic("fencelock: handle of a granted lock: " + err.Error()) // its name and token come from the grant
	}
	return handle
}
