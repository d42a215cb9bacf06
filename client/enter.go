package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// enter gets a claim into each queue, unless one came with the turn. An attempt
// whose answer does not come is given up to the sweeper, and the next one puts new
// claims: a claim that may or may not exist is never adopted.
//
// The requests do not end with the caller's context: a put that was cut short
// would have an unknown outcome, one that is waited for is simply taken back.
func (a *acquisition) enter() ([]place, []standing, error) {
	if e := a.turn.entered; e != nil {
		return []place{e.place}, []standing{e.now}, nil
	}
	ctx, cancel := outcome.Bound(a.session.ctx, a.session.client.config.DialTimeout)
	defer cancel()
	for {
		places, now, err := a.attempt(ctx)
		if err == nil {
			return places, now, nil
		}
		if !a.again(ctx, err) {
			return nil, nil, a.enterError(err)
		}
	}
}

// attempt puts one claim into each queue, or finds that it must not. An error
// means that there is no claim of this attempt, or that the sweeper has it.
func (a *acquisition) attempt(ctx context.Context) ([]place, []standing, error) {
	ctx, cancel := outcome.ThirdOf(ctx)
	defer cancel()
	var since int64
	if a.goal.try {
		var err error
		if since, err = a.refuseIfLocked(ctx); err != nil {
			return nil, nil, err
		}
	}
	s := a.session
	places := make([]place, len(a.goal.names))
	for i, name := range a.goal.names {
		places[i] = s.newPlace(name, a.goal.kind, a.goal.limit)
	}
	now, err := s.enqueue(ctx, places, a.value, since)
	if err != nil {
		s.forsake(places, err)
	}
	if errors.Is(err, errNoLimit) {
		err = s.setLimit(ctx, places[0])
	}
	return places, now, err
}

// forsake gives up claims whose put failed: for good if it was refused, else to
// the sweeper.
func (s *Session) forsake(places []place, err error) {
	uncertain := errors.Is(err, errUncertain)
	for _, p := range places {
		if uncertain {
			s.sweep.add(swept{key: p.key, decided: outcome.Answered(err)})
		}
		s.slots.giveBack(p.queue, p.slot, !uncertain)
	}
}

// setLimit gives a semaphore its limit, unless somebody was faster. Its error asks
// for another attempt, or says why there can be none.
func (s *Session) setLimit(ctx context.Context, p place) error {
	key := s.space.Limit(p.lock)
	_, err := s.etcd.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, strconv.Itoa(p.limit))).Commit()
	if err != nil {
		return err
	}
	return errOvertaken
}

// refuseIfLocked reads the queues before anything is written: a refused try must
// not cost every member a transaction. It returns the revision at which the claims
// would have held at once.
func (a *acquisition) refuseIfLocked(ctx context.Context) (since int64, err error) {
	var reads []clientv3.Op
	for _, name := range a.goal.names {
		reads = append(reads, a.blockers(name))
	}
	if a.goal.kind == permit {
		reads = append(reads, clientv3.OpGet(a.session.space.Limit(a.goal.names[0])))
	}
	resp, err := a.session.etcd.Txn(ctx).Then(reads...).Commit()
	if err != nil {
		return 0, err
	}
	if a.goal.kind == permit {
		if err := mustBeLimit(one(kvs(resp, 1)), a.goal.limit); err != nil && !errors.Is(err, errNoLimit) {
			return 0, err
		}
	}
	for i, name := range a.goal.names {
		if held := a.blockedBy(name, resp, i); held != nil {
			return 0, a.locked(held)
		}
	}
	return resp.Header.Revision, nil
}

// blockers reads the claims of which one may prevent a claim from holding at once.
func (a *acquisition) blockers(name string) clientv3.Op {
	s := a.session
	switch a.goal.kind {
	case permit:
		return clientv3.OpGet(s.space.Permits(name), clientv3.WithPrefix(), clientv3.WithLimit(int64(a.goal.limit)))
	case shared:
		return clientv3.OpGet(s.space.Queue(name), clientv3.WithPrefix())
	}
	return clientv3.OpGet(s.space.Queue(name), clientv3.WithFirstCreate()...)
}

// blockedBy finds the claim that prevents it, nil if there is none.
func (a *acquisition) blockedBy(name string, resp *clientv3.TxnResponse, i int) *Claim {
	found := kvs(resp, i)
	switch a.goal.kind {
	case permit:
		if len(found) < a.goal.limit {
			return nil
		}
	case shared:
		for _, kv := range found {
			if c := claimFrom(name, kv); c.Exclusive() {
				return &c
			}
		}
		return nil
	}
	return place{lock: name}.claimOf(found)
}

// locked is the answer to a try. A claim that this very session has given up is
// nobody's: it will be swept.
func (a *acquisition) locked(holder *Claim) error {
	if a.session.sweep.has(holder.Key) {
		return fmt.Errorf("%w: an earlier claim of this session is being removed", errOvertaken)
	}
	return &LockedError{Holder: *holder, what: a.goal.kind.what(holder.Lock)}
}

// again reports whether another attempt makes sense, and pauses before it.
func (a *acquisition) again(ctx context.Context, err error) bool {
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return false // nor would it be there for another claim
	}
	passing := errors.Is(err, errUncertain) || errors.Is(err, errOvertaken) || outcome.Passing(err)
	return passing && a.ctx.Err() == nil && outcome.Pause(ctx, enterPause)
}

// errNoLease marks an acquisition whose session's lease was gone before it had a
// claim: it has neither held nor waited, so another session can begin again.
var errNoLease = errors.New("no claim could be put")

// endedUnclaimed is why the session has ended, for whom has no claim of it; nil if
// it has not.
func (s *Session) endedUnclaimed() error {
	lost := s.Err()
	if errors.Is(lost, errLeaseGone) {
		return fmt.Errorf("%w: %w", errNoLease, lost)
	}
	return lost
}

// enterError words why no claim could be put.
func (a *acquisition) enterError(err error) error {
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		a.session.life.end(fmt.Errorf("%w: %w", ErrLost, errLeaseGone))
	}
	if lost := a.session.endedUnclaimed(); lost != nil {
		return lost
	}
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return outcome.Refused("put a claim", err) // if it was put after all, the sweeper has it
	case errors.Is(err, ErrLocked):
		return err
	case errors.Is(err, errUncertain), outcome.Passing(err):
		return fmt.Errorf("%w: no answer from %v (%w)", ErrUnavailable, a.session.etcd.Endpoints(), err)
	case errors.Is(err, errOvertaken):
		return &LockedError{what: a.goal.what()}
	}
	return outcome.Refused("put a claim", err)
}
