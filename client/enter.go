package client

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// enter gets a claim into the queue. An attempt whose answer does not come is
// given up to the sweeper, and the next one puts a new claim: a claim that may or
// may not exist is never adopted.
//
// The requests do not end with the caller's context: a put that was cut short
// would have an unknown outcome, one that is waited for is simply taken back.
func (a *acquisition) enter() (place, standing, error) {
	ctx, cancel := outcome.Bound(a.session.ctx, a.session.client.config.DialTimeout)
	defer cancel()
	for {
		p, now, err := a.attempt(ctx)
		if err == nil {
			return p, now, nil
		}
		if !a.again(ctx, err) {
			return place{}, standing{}, a.enterError(ctx, err)
		}
	}
}

// attempt puts one claim, or finds that it must not. An error means that there is
// no claim of this attempt, or that the sweeper has it.
func (a *acquisition) attempt(ctx context.Context) (place, standing, error) {
	ctx, cancel := outcome.ThirdOf(ctx)
	defer cancel()
	if a.req.Try {
		if err := a.refuseIfLocked(ctx); err != nil {
			return place{}, standing{}, err
		}
	}
	s := a.session
	enqueue := s.enqueue
	if a.req.Try {
		enqueue = s.enqueueIfFree
	}
	p, now, err := enqueue(ctx, s.newPlace(a.req.Name), a.value)
	if err != nil {
		s.forsake(p, err)
		return p, now, err
	}
	if !now.mine {
		s.slots.giveBack(p.lock, p.slot, true)
		return p, now, a.locked(now.ahead)
	}
	return p, now, nil
}

// forsake gives up a claim whose put failed: for good if it was refused, else to
// the sweeper.
func (s *Session) forsake(p place, err error) {
	uncertain := errors.Is(err, errUncertain)
	if uncertain {
		s.sweep.add(p.key)
	}
	s.slots.giveBack(p.lock, p.slot, !uncertain)
}

// refuseIfLocked reads the holder before anything is written: a refused try must
// not cost every member a transaction.
func (a *acquisition) refuseIfLocked(ctx context.Context) error {
	resp, err := a.session.etcd.Do(ctx, a.session.oldest(a.req.Name))
	if err != nil {
		return err
	}
	if held := a.session.claimOf(a.req.Name, resp.Get().Kvs); held != nil {
		return a.locked(held)
	}
	return nil
}

// locked is the answer to a try: who holds the lock, if that could be read. A
// claim that this very session has given up is nobody's: it will be swept.
func (a *acquisition) locked(holder *Claim) error {
	if holder == nil {
		return &LockedError{name: a.req.Name}
	}
	if a.session.sweep.has(holder.Key) {
		return fmt.Errorf("%w: an earlier claim of this session is being removed", errUncertain)
	}
	return &LockedError{Holder: *holder, name: a.req.Name}
}

// again reports whether another attempt makes sense, and pauses before it.
func (a *acquisition) again(ctx context.Context, err error) bool {
	passing := errors.Is(err, errUncertain) || outcome.Passing(err)
	return passing && a.ctx.Err() == nil && outcome.Pause(ctx, enterPause)
}

// errNoLease marks an acquisition whose session's lease was gone before it had a
// claim: it has neither held nor waited, so another session can begin again.
var errNoLease = errors.New("no claim could be put")

// enterError words why no claim could be put.
func (a *acquisition) enterError(ctx context.Context, err error) error {
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		a.session.life.end(fmt.Errorf("%w: %w", ErrLost, errLeaseGone))
	}
	if lost := a.session.Err(); errors.Is(lost, errLeaseGone) {
		return fmt.Errorf("%w: %w", errNoLease, lost)
	} else if lost != nil {
		return lost
	}
	switch {
	case errors.Is(err, ErrLocked):
		return err
	case errors.Is(err, errUncertain), outcome.Passing(err):
		return fmt.Errorf("%w: no answer from %v (%w)", ErrUnavailable, a.session.etcd.Endpoints(), err)
	}
	return outcome.Refused("put a claim", err)
}
