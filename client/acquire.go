package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fencelock/fencelock/fencing/keys"
)

// abandonTime is how long a call whose context has ended waits for its claim to
// be taken back. Within it a healthy cluster answers, and nothing is left when
// the call returns; beyond it the claim is taken back in the background.
const abandonTime = 250 * time.Millisecond

// shownNames is how many names an error message lists.
const shownNames = 5

// goal is what an acquisition is after.
type goal struct {
	names  []string // one, or several to be held together
	kind   kind
	limit  int  // of a semaphore
	try    bool // do not wait
	labels map[string]string
	value  []byte
}

// what words the goal for an error message.
func (g goal) what() string {
	switch {
	case len(g.names) > shownNames:
		return fmt.Sprintf("locks %q and %d more", g.names[:shownNames], len(g.names)-shownNames)
	case len(g.names) > 1:
		return fmt.Sprintf("locks %q", g.names)
	}
	return g.kind.what(g.names[0])
}

// acquirer is a session, or a client that brings its default session.
type acquirer interface {
	acquire(context.Context, goal) (*holding, error)
}

// check refuses what can be refused before any request.
func (g goal) check(ctx context.Context) error {
	for _, name := range g.names {
		if err := keys.CheckName(name); err != nil {
			return err
		}
		if token := carried(ctx, name); token != 0 && g.kind != permit {
			return fmt.Errorf("lock %q: %w, token %v: pass the handle on, or lock with a context that is not bound to it", name, ErrReentrant, token)
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", g.what(), err)
	}
	return nil
}

// acquire carries out an acquisition.
func (s *Session) acquire(ctx context.Context, g goal) (*holding, error) {
	return s.client.observed(ctx, g, s.pursue)
}

// acquire carries out an acquisition through the default session.
func (c *Client) acquire(ctx context.Context, g goal) (*holding, error) {
	return c.observed(ctx, g, c.pursue)
}

// observed tells the observer of an acquisition that can be tried.
func (c *Client) observed(ctx context.Context, g goal, pursue func(context.Context, goal) (*holding, error)) (*holding, error) {
	if err := g.check(ctx); err != nil {
		return nil, err
	}
	asked := time.Now()
	held, err := pursue(ctx, g)
	c.config.Observer.Acquired(time.Since(asked), err)
	return held, err
}

// pursue brings an acquisition to its end through the default session. If that had
// been lost, and nobody knew, there is another one.
func (c *Client) pursue(ctx context.Context, g goal) (*holding, error) {
	for {
		s, err := c.session(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.what(), err)
		}
		if held, err := s.pursue(ctx, g); !errors.Is(err, errNoLease) && !c.hasRetired(s, err) {
			return held, err
		}
	}
}

// pursue brings an acquisition to its end, or leaves it when ctx ends.
func (s *Session) pursue(ctx context.Context, g goal) (*holding, error) {
	leave := s.use()
	defer leave()
	value, err := s.valueOf(g)
	if err != nil {
		return nil, fmt.Errorf("%s: describe the claim: %w", g.what(), err)
	}
	t := &turn{} // belongs to no line
	if g.queuesLocally() {
		if t, err = s.lines.await(ctx, s, g, value); err != nil {
			return nil, fmt.Errorf("%s: %w", g.what(), err)
		}
	}
	a := newAcquisition(s, g, value, t)
	if err := s.start(a.run); err != nil {
		a.cancel()
		return nil, fmt.Errorf("%s: %w", g.what(), err)
	}
	select {
	case <-a.done:
		return a.held, a.err
	case <-ctx.Done():
		return a.abandon(ctx)
	}
}

// acquisition is one attempt to get a lock, on a goroutine of its session: the
// caller may leave at any moment, and the claims must still be taken back.
//
//	enter ──▶ wait ──▶ granted ──▶ the caller's handle
//	  │         │         │
//	  └─────────┴─────────┴── abandoned, or lost: the claims are removed
type acquisition struct {
	session *Session
	goal    goal
	value   string  // of the claims
	turn    *turn   // in the local queue
	places  []place // where its claims stand, once they do
	ctx     context.Context
	cancel  context.CancelFunc // ends the wait

	done chan struct{} // closed when held and err are set and claims that were given up are gone
	held *holding
	err  error

	mu        sync.Mutex
	abandoned bool   // the caller has left: what is granted now is given back
	outOfTime bool   // it has left at its deadline, and wants to know who holds the lock
	granted   bool   // a handle is on its way to the caller: it is too late to leave
	holder    *Claim // who stood in the way when last seen
	failed    error  // why the wait cannot succeed any more
}

func newAcquisition(s *Session, g goal, value string, t *turn) *acquisition {
	a := &acquisition{session: s, goal: g, value: value, turn: t, done: make(chan struct{})}
	a.ctx, a.cancel = context.WithCancel(s.ctx)
	return a
}

// abandon is the caller leaving since its ctx has ended. If the lock was granted
// first, the caller gets it after all.
func (a *acquisition) abandon(ctx context.Context) (*holding, error) {
	a.mu.Lock()
	a.abandoned = !a.granted
	abandoned := a.abandoned
	a.outOfTime = errors.Is(ctx.Err(), context.DeadlineExceeded)
	a.mu.Unlock()
	if !abandoned {
		<-a.done
		return a.held, a.err
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
		return fmt.Errorf("%s: %w", a.goal.what(), ctx.Err())
	}
	if a.holder == nil {
		return fmt.Errorf("%s: %w: no answer from %v in time: %w", a.goal.what(), ErrUnavailable, a.session.etcd.Endpoints(), ctx.Err())
	}
	return fmt.Errorf("%w; gave up waiting: %w", &LockedError{Holder: *a.holder, what: a.goal.kind.what(a.holder.Lock)}, ctx.Err())
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
	places, now, err := a.enter()
	if err != nil {
		a.err = a.word(err)
		a.turn.pass()
		return
	}
	a.places = places
	stop := a.lookAhead(now)
	defer stop()
	if err = a.waitForAll(places, now); err == nil {
		a.held, err = a.grant(places, now)
	}
	if err != nil {
		a.err = a.word(err)
		a.leave(places)
	}
}

// word puts the goal before an error that does not name it.
func (a *acquisition) word(err error) error {
	if locked := (*LockedError)(nil); errors.As(err, &locked) {
		return err
	}
	return fmt.Errorf("%s: %w", a.goal.what(), err)
}

// grant makes the handle, unless the caller has left or the session has ended.
func (a *acquisition) grant(places []place, now []standing) (*holding, error) {
	h := newHolding(a.session, a.goal.what(), places, now, a.turn)
	if err := a.session.keep(h); err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.granted = !a.abandoned
	granted := a.granted
	a.mu.Unlock()
	if !granted {
		a.session.drop(h)
		return nil, context.Canceled
	}
	h.guardLater()
	return h, nil
}

// leave takes the claims out of their queues, unless the next goroutine in line
// can use them, and learns who holds the lock.
func (a *acquisition) leave(places []place) {
	a.mu.Lock()
	left, ask := a.abandoned && a.failed == nil, a.outOfTime
	a.mu.Unlock()
	if left && a.turn.passClaim(entered{place: places[0], labels: a.goal.labels}) {
		if ask {
			a.saw(a.session.holderNow(places[0].lock))
		}
		return
	}
	if done, err := a.session.giveUp(places, ask); err == nil {
		a.saw(done.oldest)
	}
	a.turn.pass()
}
