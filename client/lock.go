package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv"
)

// Lock is one acquisition of one lock. It never comes back to life once it has
// ended: locking again gives a new Lock with a new token. Its methods may be
// called from several goroutines.
type Lock struct {
	session *Session
	place   place
	ctx     context.Context // ends with the lock, and carries the sequencer
	cancel  context.CancelCauseFunc
	fence   *mvccpb.KeyValue // as read with the grant
	kv      func() *kv.KV
	guard   *time.Timer // starts the watch for an end from outside

	mu  sync.Mutex
	err error // why it ended: ErrLost or ErrNotHeld with the reason; nil while it is held
}

func newLock(s *Session, p place, fence *mvccpb.KeyValue) *Lock {
	l := &Lock{session: s, place: p, fence: fence}
	l.ctx, l.cancel = context.WithCancelCause(fencing.NewContext(context.Background(), l.Sequencer()))
	l.kv = sync.OnceValue(l.newKV)
	return l
}

// Name is the lock's name.
func (l *Lock) Name() string { return l.place.lock }

// Token is this acquisition's fencing token.
func (l *Lock) Token() fencing.Token { return l.place.token }

// Sequencer names this acquisition. Hand it to every service that works on the
// lock's behalf, so that it can refuse this holder once it has been overtaken.
func (l *Lock) Sequencer() fencing.Sequencer {
	return fencing.Sequencer{Lock: l.place.lock, Token: l.place.token}
}

// Context ends when the lock does, with Err as its cause. It carries the
// sequencer, see fencing.FromContext.
func (l *Lock) Context() context.Context { return l.ctx }

// Done is closed when the lock has ended, by loss or by Unlock.
func (l *Lock) Done() <-chan struct{} { return l.ctx.Done() }

// Err is nil while the lock is held. Then it is ErrLost, or ErrNotHeld after an
// Unlock, with the reason. It looks at the clock, so it is right at once when a
// process wakes from a pause; but the process can pause right after it, so only
// a fence protects a write.
func (l *Lock) Err() error {
	l.mu.Lock()
	err := l.err
	l.mu.Unlock()
	if err != nil {
		return err
	}
	return ofLocks(l.session.Err())
}

// Deadline is until when the lock may be trusted if no renewal succeeds from now
// on. It moves with every renewal.
func (l *Lock) Deadline() time.Time { return time.Now().Add(l.session.life.left()) }

// Bind returns a child of ctx that is cancelled, with the lock's Err as its cause,
// when the lock ends, and that carries the sequencer. Call cancel when the work
// is done.
func (l *Lock) Bind(ctx context.Context) (bound context.Context, cancel context.CancelFunc) {
	bound, end := context.WithCancelCause(fencing.NewContext(ctx, l.Sequencer()))
	stop := context.AfterFunc(l.ctx, func() { end(context.Cause(l.ctx)) })
	return bound, func() {
		stop()
		end(nil)
	}
}

// KV returns the records behind this lock's fence. Every call returns the same
// handle. Once the lock has ended its methods return what Err does; a holder that
// pauses after that check is refused by the store.
func (l *Lock) KV() *kv.KV { return l.kv() }

func (l *Lock) newKV() *kv.KV {
	grant := kv.Grant{Sequencer: l.Sequencer(), Claim: l.place.key, Fence: l.fence, Held: l.Err}
	handle, err := kv.Live(l.session.etcd, grant, l.session.client.kvConfig())
	if err != nil {
		panic("fencelock: handle of a granted lock: " + err.Error()) // its name and token come from the grant
	}
	return handle
}

// Unlock gives the lock back. It returns when the cluster has answered, or after
// the client's DialTimeout; the end of ctx does not stop it.
//
// Errors: ErrLost if the lock had been lost before; ErrNotHeld for a second
// Unlock; ErrUncertain if no answer came, in which case the session goes on
// trying until the claim is gone.
func (l *Lock) Unlock(context.Context) error {
	if err := l.session.Err(); err != nil {
		l.end(ofLocks(err))
	}
	if already := l.end(fmt.Errorf("%w: lock %q was unlocked", ErrNotHeld, l.place.lock)); already != nil {
		return fmt.Errorf("unlock %q: %w", l.place.lock, already)
	}
	done, err := l.session.giveUp(l.place)
	switch {
	case err != nil && errors.Is(l.session.Err(), ErrLost):
		return l.lostBefore(l.session.Err())
	case err != nil:
		return fmt.Errorf("unlock %q: %w: %w; the session goes on trying", l.place.lock, ErrUncertain, err)
	case !done.mine:
		return l.lostBefore(fmt.Errorf("%w: the claim was gone already: it was broken, or the session's lease ended", ErrLost))
	}
	return nil
}

// lostBefore is the answer to an Unlock that came too late.
func (l *Lock) lostBefore(cause error) error {
	l.mu.Lock()
	l.err = cause
	l.mu.Unlock()
	l.session.life.renewNow()
	return fmt.Errorf("unlock %q: %w", l.place.lock, cause)
}

// end ends the lock, for the cause given, and returns nil; or, if it has ended
// before, what ended it.
func (l *Lock) end(cause error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	l.err = cause
	l.cancel(cause)
	if l.guard != nil {
		l.guard.Stop()
	}
	l.session.drop(l)
	return nil
}
