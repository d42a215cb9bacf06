package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// Request says which lock is wanted, and how.
type Request struct {
	Name   string
	Try    bool              // do not wait: ErrLocked if somebody else holds it
	Labels map[string]string // shown to people who look at the lock
	Value  []byte            // carried by the claim for others to read; fixed once it is put
}

// abandonTime is how long a call whose context has ended waits for its claim to
// be taken back. Within it a healthy cluster answers, and nothing is left when
// the call returns; beyond it the claim is taken back in the background.
const abandonTime = 250 * time.Millisecond

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
	l, err := c.acquire(ctx, req)
	if errors.Is(err, errNoLease) { // the session had been lost, and nobody knew
		return c.acquire(ctx, req)
	}
	return l, err
}

func (c *Client) acquire(ctx context.Context, req Request) (*Lock, error) {
	if err := check(ctx, req); err != nil {
		return nil, err
	}
	s, err := c.session(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", req.Name, err)
	}
	return s.Acquire(ctx, req)
}

// Lock is [Client.Lock] through this session.
func (s *Session) Lock(ctx context.Context, name string) (*Lock, error) {
	return s.Acquire(ctx, Request{Name: name})
}

// TryLock is [Client.TryLock] through this session.
func (s *Session) TryLock(ctx context.Context, name string) (*Lock, error) {
	return s.Acquire(ctx, Request{Name: name, Try: true})
}

// Acquire takes a lock as req says, through this session.
func (s *Session) Acquire(ctx context.Context, req Request) (*Lock, error) {
	if err := check(ctx, req); err != nil {
		return nil, err
	}
	value, err := s.valueOf(req)
	if err != nil {
		return nil, fmt.Errorf("lock %q: describe the claim: %w", req.Name, err)
	}
	a := newAcquisition(s, req, value)
	if err := s.start(a.run); err != nil {
		a.cancel()
		return nil, fmt.Errorf("lock %q: %w", req.Name, err)
	}
	select {
	case <-a.done:
		return a.lock, a.err
	case <-ctx.Done():
		return a.abandon(ctx)
	}
}

// check refuses what can be refused before any request.
func check(ctx context.Context, req Request) error {
	if err := keys.CheckName(req.Name); err != nil {
		return err
	}
	if held, ok := fencing.FromContext(ctx, req.Name); ok {
		return fmt.Errorf("lock %q: %w, token %v: pass the *Lock on, or lock with a context that is not bound to it", req.Name, ErrReentrant, held.Token)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("lock %q: %w", req.Name, err)
	}
	return nil
}

// acquisition is one attempt to get a lock, on a goroutine of its session: the
// caller may leave at any moment, and the claim must still be taken back.
//
//	enqueue ──▶ wait ──▶ granted ──▶ the caller's Lock
//	   │          │         │
//	   └──────────┴─────────┴── abandoned, or lost: the claim is removed
type acquisition struct {
	session *Session
	req     Request
	value   string // of the claim
	ctx     context.Context
	cancel  context.CancelFunc // ends the wait

	done chan struct{} // closed when lock and err are set and the claim, if given up, is gone
	lock *Lock
	err  error

	mu        sync.Mutex
	abandoned bool   // the caller has left: what is granted now is given back
	granted   bool   // a lock is on its way to the caller: it is too late to leave
	holder    *Claim // who stood in the way when last seen
	failed    error  // why the wait cannot succeed any more
}

func newAcquisition(s *Session, req Request, value string) *acquisition {
	a := &acquisition{session: s, req: req, value: value, done: make(chan struct{})}
	a.ctx, a.cancel = context.WithCancel(s.ctx)
	return a
}

// abandon is the caller leaving since its ctx has ended. If the lock was granted
// first, the caller gets it after all.
func (a *acquisition) abandon(ctx context.Context) (*Lock, error) {
	a.mu.Lock()
	a.abandoned = !a.granted
	abandoned := a.abandoned
	a.mu.Unlock()
	if !abandoned {
		<-a.done
		return a.lock, a.err
	}
	a.cancel()
	timer := time.NewTimer(abandonTime)
	defer timer.Stop()
	select {
	case <-a.done:
	case <-timer.C:
	}
	return nil, a.whyNot(ctx)
}

// whyNot words what a caller is told whose ctx ended before the lock was granted.
func (a *acquisition) whyNot(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("lock %q: %w", a.req.Name, ctx.Err())
	}
	if a.holder == nil {
		return fmt.Errorf("lock %q: %w: no answer from %v in time: %w", a.req.Name, ErrUnavailable, a.session.etcd.Endpoints(), ctx.Err())
	}
	return fmt.Errorf("%w; gave up waiting: %w", &LockedError{Holder: *a.holder, name: a.req.Name}, ctx.Err())
}

// saw remembers who stands in the way, for whyNot.
func (a *acquisition) saw(c *Claim) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c != nil {
		a.holder = c
	}
}

// run brings the acquisition to its end.
func (a *acquisition) run() {
	defer close(a.done)
	defer a.cancel()
	p, now, err := a.enter()
	if err != nil {
		a.err = a.word(err)
		return
	}
	if now, err = a.wait(p, now); err == nil {
		a.lock, err = a.grant(p, now)
	}
	if err != nil {
		a.err = a.word(err)
		a.leave(p)
	}
}

// word puts the lock's name before an error that does not bear it.
func (a *acquisition) word(err error) error {
	if locked := (*LockedError)(nil); errors.As(err, &locked) {
		return err
	}
	return fmt.Errorf("lock %q: %w", a.req.Name, err)
}

// grant makes the lock, unless the caller has left or the session has ended.
func (a *acquisition) grant(p place, now standing) (*Lock, error) {
	lock := newLock(a.session, p, now.fence)
	if err := a.session.keep(lock); err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.granted = !a.abandoned
	granted := a.granted
	a.mu.Unlock()
	if !granted {
		a.session.drop(lock)
		return nil, context.Canceled
	}
	lock.guardLater()
	return lock, nil
}

// leave takes the claim out of the queue, and learns who holds the lock.
func (a *acquisition) leave(p place) {
	done, err := a.session.giveUp(p)
	if err == nil {
		a.saw(done.oldest)
	}
}
