package client

import (
	"context"
	"fmt"
	"sync"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv"
)

// SharedLock is one acquisition of one lock together with other shared holders,
// and with no exclusive one. It is for reading: it has no sequencer, since shared
// holders do not exclude each other and must not fence each other.
type SharedLock struct {
	*holding
	kv func() *kv.Reader
}

// LockShared waits until no exclusive claim stands before this one, as long as ctx
// allows. Exclusive claims that come later wait for it; shared ones that come
// after those wait for them. Errors as for [Client.Lock].
func (c *Client) LockShared(ctx context.Context, name string) (*SharedLock, error) {
	return acquireShared(ctx, c, name, false)
}

// TryLockShared takes the lock if no exclusive claim stands in its queue. Errors
// as for [Client.TryLock].
func (c *Client) TryLockShared(ctx context.Context, name string) (*SharedLock, error) {
	return acquireShared(ctx, c, name, true)
}

// LockShared is [Client.LockShared] through this session.
func (s *Session) LockShared(ctx context.Context, name string) (*SharedLock, error) {
	return acquireShared(ctx, s, name, false)
}

// TryLockShared is [Client.TryLockShared] through this session.
func (s *Session) TryLockShared(ctx context.Context, name string) (*SharedLock, error) {
	return acquireShared(ctx, s, name, true)
}

func acquireShared(ctx context.Context, by acquirer, name string, try bool) (*SharedLock, error) {
	held, err := by.acquire(ctx, goal{names: []string{name}, kind: shared, try: try})
	if err != nil {
		return nil, err
	}
	return &SharedLock{holding: held, kv: sync.OnceValue(held.reader)}, nil
}

// Name is the lock's name.
func (l *SharedLock) Name() string { return l.places[0].lock }

// Token tells the order in which claims were put. It is no fencing token.
func (l *SharedLock) Token() fencing.Token { return l.places[0].token }

// KV reads the records behind this lock's fence, while no exclusive holder that
// came later has claimed it.
func (l *SharedLock) KV() *kv.Reader { return l.kv() }

// Unlock gives the lock back, as [Lock.Unlock] does.
func (l *SharedLock) Unlock(context.Context) error {
	return l.release(fmt.Sprintf("unlock shared %q", l.Name()))
}

func (h *holding) reader() *kv.Reader {
	handle, err := kv.Shared(h.session.etcd, h.grant(0), h.session.client.kvConfig())
	if err != nil {
		panic("fencelock: handle of a granted lock: " + err.Error()) // its name and token come from the grant
	}
	return handle
}
