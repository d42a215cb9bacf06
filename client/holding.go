package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv"
)

// holding is what every handle is made of: one or several claims that hold, and
// end together.
type holding struct {
	session *Session
	what    string // names what is held, for error messages
	places  []place
	grants  []standing      // of each place, as read when it was granted
	turn    *turn           // in the local line, to be passed when the holding ends
	since   time.Time       // when it was granted
	ctx     context.Context // ends with the holding
	cancel  context.CancelCauseFunc

	mu    sync.Mutex
	err   error       // why it ended: ErrLost or ErrNotHeld with the reason; nil while it is held
	guard *time.Timer // starts the watch for an end from outside
}

func newHolding(s *Session, what string, places []place, now []standing, t *turn) *holding {
	h := &holding{session: s, what: what, places: places, turn: t, grants: now, since: time.Now()}
	h.ctx, h.cancel = context.WithCancelCause(h.carry(context.Background()))
	return h
}

// sharedKey is under what a context carries the token of a shared lock. It is not
// for services, who would take a sequencer for more than it is.
type sharedKey struct{ lock string }

// carry returns a child of ctx that carries what is held.
func (h *holding) carry(ctx context.Context) context.Context {
	for _, p := range h.places {
		switch p.kind {
		case exclusive:
			ctx = fencing.NewContext(ctx, fencing.Sequencer{Lock: p.lock, Token: p.token})
		case shared:
			ctx = context.WithValue(ctx, sharedKey{p.lock}, p.token)
		}
	}
	return ctx
}

// carried is the token with which ctx carries a lock already, exclusively or
// shared; 0 if it does not.
func carried(ctx context.Context, lock string) fencing.Token {
	if seq, ok := fencing.FromContext(ctx, lock); ok {
		return seq.Token
	}
	token, _ := ctx.Value(sharedKey{lock}).(fencing.Token)
	return token
}

// grant is what the store needs to know of the i-th claim.
func (h *holding) grant(i int) kv.Grant {
	p := h.places[i]
	return kv.Grant{
		Sequencer: fencing.Sequencer{Lock: p.lock, Token: p.token},
		Claim:     p.key,
		Fence:     h.grants[i].fence,
		Unread:    h.grants[i].unread,
		Held:      h.Err,
		Oldest:    h.grants[i].oldest,
	}
}

// Context ends when the lock does, with Err as its cause. It carries the
// sequencer, if the lock has one: see fencing.FromContext.
func (h *holding) Context() context.Context { return h.ctx }

// Done is closed when the lock has ended, by loss or because it was given back.
func (h *holding) Done() <-chan struct{} { return h.ctx.Done() }

// Err is nil while the lock is held. Then it is ErrLost, or ErrNotHeld once it was
// given back, with the reason. It looks at the clock, so it is right at once when
// a process wakes from a pause; but the process can pause right after it, so only
// a fence protects a write.
func (h *holding) Err() error {
	h.mu.Lock()
	err := h.err
	h.mu.Unlock()
	if err != nil {
		return err
	}
	return ofLocks(h.session.Err())
}

// Deadline is until when the lock may be trusted if no renewal succeeds from now
// on. It moves with every renewal.
func (h *holding) Deadline() time.Time { return time.Now().Add(h.session.life.left()) }

// Bind returns a child of ctx that is cancelled, with the lock's Err as its cause,
// when the lock ends, and that carries its sequencer, if it has one. Call cancel
// when the work is done.
func (h *holding) Bind(ctx context.Context) (bound context.Context, cancel context.CancelFunc) {
	bound, end := context.WithCancelCause(h.carry(ctx))
	stop := context.AfterFunc(h.ctx, func() { end(context.Cause(h.ctx)) })
	return bound, func() {
		stop()
		end(nil)
	}
}

// release gives the holding back.
func (h *holding) release(doing string) error {
	leave := h.session.use()
	defer leave()
	if err := h.session.Err(); err != nil {
		h.lose(ofLocks(err))
	}
	if already := h.end(fmt.Errorf("%w: %s was given back", ErrNotHeld, h.what)); already != nil {
		return fmt.Errorf("%s: %w", doing, already)
	}
	held := time.Since(h.since)
	cause, err := h.outcomeOf(h.settle(h.giveBack()))
	h.session.client.config.Observer.Ended(held, cause)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// settle clears up a release that is in doubt.
func (h *holding) settle(done release, err error) (release, error) {
	switch {
	case err != nil:
		err = fmt.Errorf("%w; the session goes on trying", err)
	case done.inDoubt:
		done.mine, err = h.session.gaveBack(h.places)
	}
	return done, err
}

// outcomeOf says how a holding has ended that was given back, and what its holder
// is told.
func (h *holding) outcomeOf(done release, err error) (cause, told error) {
	lost := h.session.Err()
	switch {
	case err != nil && !errors.Is(lost, ErrLost):
		return h.Err(), fmt.Errorf("%w: %w", ErrUncertain, err)
	case err == nil && done.mine && (done.certain || !errors.Is(lost, ErrLost)):
		return h.Err(), nil
	case err == nil:
		lost = fmt.Errorf("%w: a claim was gone already: it was broken, or the session's lease ended", ErrLost)
	}
	h.mu.Lock()
	h.err = lost
	h.mu.Unlock()
	h.session.life.renewNow()
	return lost, lost
}

// giveBack removes the claims, and serves the next goroutine of this process.
func (h *holding) giveBack() (release, error) {
	if next := h.turn.next(); next != nil {
		return h.session.handOver(h.places[0], next)
	}
	return h.session.giveUp(h.places, false)
}

// lose ends the holding without a release, and lets the next goroutine of this
// process try. Claims that are still there, of several, are given up. It reports
// false if the holding had ended before.
func (h *holding) lose(cause error) bool {
	if h.end(cause) != nil {
		return false
	}
	h.session.client.config.Observer.Ended(time.Since(h.since), cause)
	h.turn.pass()
	if len(h.places) > 1 && h.session.Err() == nil {
		_ = h.session.start(func() { _, _ = h.session.giveUp(h.places, false) })
	}
	return true
}

// end ends the holding, for the cause given, and returns nil; or, if it has ended
// before, what ended it.
func (h *holding) end(cause error) error {
	if already := h.markEnded(cause); already != nil {
		return already
	}
	h.session.drop(h)
	return nil
}

func (h *holding) markEnded(cause error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return h.err
	}
	h.err = cause
	h.cancel(cause)
	if h.guard != nil {
		h.guard.Stop()
	}
	return nil
}
