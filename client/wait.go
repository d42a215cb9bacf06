package client

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

const (
	// enterPause and watchPause lie between attempts that failed at once.
	enterPause = 20 * time.Millisecond
	watchPause = 100 * time.Millisecond

	// rereadMin and rereadSpread say how often a waiter reads the queue although
	// no event came: a lost event must not mean a lost waiter. At random, so that
	// many waiters do not read together.
	rereadMin    = 3 * time.Second
	rereadSpread = 3 * time.Second
)

// wait returns when the claim holds: nobody stands before it, and it was there
// when that was seen. It watches two keys, the claim ahead and its own, so that
// each hand-over wakes one waiter, however many there are.
func (a *acquisition) wait(p place, now standing) (standing, error) {
	for now.ahead != nil {
		a.saw(now.ahead)
		if now.ahead.Lease == 0 {
			return now, &LockedError{Holder: *now.ahead, name: p.lock}
		}
		next, err := a.awaitEnd(p, *now.ahead)
		if err != nil {
			return now, err
		}
		now = next
	}
	return now, nil
}

// awaitEnd waits until the claim ahead has ended, and returns who is ahead then.
func (a *acquisition) awaitEnd(p place, ahead Claim) (standing, error) {
	for {
		now, err := a.vigil(p, ahead)
		if err == nil {
			return now, nil
		}
		if ended := a.ended(); ended != nil {
			return standing{}, ended
		}
		a.session.log.Debug("waiting for a lock: watch again", zap.String("lock", p.lock), zap.Error(err))
		outcome.Pause(a.ctx, watchPause)
	}
}

// vigil watches once, until the claim ahead has ended. Its errors mean that it has
// to be kept again, unless the acquisition has ended.
func (a *acquisition) vigil(p place, ahead Claim) (standing, error) {
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	ends, err := a.session.client.watchEnds(ctx, ahead.Key, p.key)
	if err != nil {
		return a.lookAfter(p, ahead, err)
	}
	for { // look first: the end may have come before the watches
		now, err := a.look(ctx, p, ahead)
		if err != nil || now.ahead == nil || now.ahead.Token != ahead.Token {
			return now, err
		}
		if err := await(ctx, ends[0], ends[1]); err != nil {
			return a.lookAfter(p, ahead, err)
		}
	}
}

// lookAfter reads the queue although no watch could be had: with the members
// that do answer, the wait may be over.
func (a *acquisition) lookAfter(p place, ahead Claim, watching error) (standing, error) {
	now, err := a.look(a.ctx, p, ahead)
	if err == nil && now.ahead != nil && now.ahead.Token == ahead.Token {
		return now, watching
	}
	return now, err
}

// look reads the queue. That the waiter's own claim is gone is an error.
func (a *acquisition) look(ctx context.Context, p place, ahead Claim) (standing, error) {
	ctx, cancel := outcome.Bound(ctx, a.session.client.config.DialTimeout)
	defer cancel()
	now, err := a.session.look(ctx, p, ahead)
	if err == nil && !now.mine {
		a.session.life.renewNow() // perhaps the lease is gone, and not the claim alone
		a.fail(fmt.Errorf("%w: its claim left the queue while it waited: it was broken, or the session's lease ended", ErrLost))
		err = a.ended()
	}
	return now, err
}

// await returns when one of two watched keys may have ended, or it is time to look
// again; an error means that the watch is over.
func await(ctx context.Context, its, mine clientv3.WatchChan) error {
	timer := time.NewTimer(rereadMin + rand.N(rereadSpread))
	defer timer.Stop()
	var event clientv3.WatchResponse
	ok := true
	select {
	case event, ok = <-its:
	case event, ok = <-mine:
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	if !ok {
		return errWatchClosed
	}
	return event.Err()
}

// fail ends the wait for a reason of its own.
func (a *acquisition) fail(cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil {
		a.failed = cause
	}
}

// ended says why the wait is over, nil while it is not.
func (a *acquisition) ended() error {
	if err := a.session.Err(); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed != nil {
		return a.failed
	}
	return a.ctx.Err()
}
