package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

const (
	// enterPause and watchPause lie between attempts that failed at once.
	enterPause = 20 * time.Millisecond
	watchPause = 100 * time.Millisecond

	// ownWatchAfter is how long a waiter does without a watch for its own claim. A
	// claim that is broken is missed that much later at most.
	ownWatchAfter = 250 * time.Millisecond

	// rereadMin and rereadSpread say how often a waiter reads the queue although
	// no event came: a lost event must not mean a lost waiter. At random, so that
	// many waiters do not read together.
	rereadMin    = 3 * time.Second
	rereadSpread = 3 * time.Second
)

// waitForAll returns when every claim holds. Claims that were put together stand in
// the same order in all their queues, so nobody waits in a circle; the order in
// which they are waited for does not matter.
func (a *acquisition) waitForAll(places []place, now []standing) error {
	for i := range places {
		next, err := a.wait(places[i], now[i])
		if err != nil {
			return err
		}
		now[i] = next
	}
	return a.mustAllStand() // the first may have ended while the last was waited for
}

// wait returns when the claim holds: nobody stands before it, and it was there
// when that was seen. It watches the claim ahead, and in time its own, so that
// each hand-over wakes one waiter, however many there are. (A semaphore's waiters
// watch the whole queue: any of its holders may be the next to go.)
func (a *acquisition) wait(p place, now standing) (standing, error) {
	if now.unsure {
		var err error
		if now, err = a.insist(p); err != nil {
			return now, err
		}
	}
	for now.ahead != nil {
		a.saw(now.ahead)
		if err := p.mustHaveLease(*now.ahead); err != nil {
			return now, err
		}
		next, err := a.awaitEnd(p, now)
		if err != nil {
			return now, err
		}
		now = next
	}
	return now, nil
}

// insist looks at the queue until it gets an answer.
func (a *acquisition) insist(p place) (standing, error) {
	for {
		now, err := a.look(a.ctx, p, nil, 0)
		if err == nil {
			return now, nil
		}
		if over := a.over(err); over != nil {
			return now, over
		}
		outcome.Pause(a.ctx, watchPause)
	}
}

// over says why the wait is over, nil if what failed is worth another attempt.
func (a *acquisition) over(failure error) error {
	if ended := a.ended(); ended != nil {
		return ended
	}
	if errors.Is(failure, rpctypes.ErrPermissionDenied) {
		return outcome.Refused("wait in its queue", failure)
	}
	return nil
}

// awaitEnd waits until the claim ahead has ended, and returns who is ahead then.
func (a *acquisition) awaitEnd(p place, now standing) (standing, error) {
	for {
		next, err := a.vigil(p, now)
		if err == nil {
			return next, nil
		}
		if over := a.over(err); over != nil {
			return standing{}, over
		}
		a.session.log.Debug("waiting for a lock: watch again", zap.String("lock", p.lock), zap.Error(err))
		outcome.Pause(a.ctx, watchPause)
	}
}

// vigil watches once, until the claim ahead has ended. Its errors mean that it has
// to be kept again, unless the acquisition has ended.
func (a *acquisition) vigil(p place, now standing) (standing, error) {
	w, err := a.session.watch(a.ctx, a.watched(p, now))
	if err != nil {
		return a.lookAfter(p, *now.ahead, err)
	}
	next, err := a.untilEnd(p, now, w)
	a.session.doneWith(w, err == nil && p.kind != permit)
	return next, err
}

// untilEnd keeps a vigil with the watch given.
//
// Where locks change hands quickly that is all that it watches: the waiter's own
// claim is there in every look, or covered by the watch. One that waits longer watches
// its own, too, to learn when somebody breaks it, and that a member still answers.
func (a *acquisition) untilEnd(p place, now standing, w *endWatch) (standing, error) {
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	ahead, next := *now.ahead, now.next
	var own clientv3.WatchChan
	patience := time.NewTimer(ownWatchAfter)
	defer patience.Stop()
	since, look := w.from, now.at < w.from // the end may have come before the watch
	for {
		if look {
			var err error
			now, err = a.look(ctx, p, &ahead, since)
			if err != nil || now.ahead == nil || now.ahead.Token != ahead.Token && p.kind != permit {
				return now, err
			}
		}
		heard, err := await(ctx, patience.C, w.end, own)
		if err != nil {
			return a.lookAfter(p, ahead, err)
		}
		if heard != nil {
			ends := p.endsIn(heard, ahead, now.at)
			if ends.ahead && !ends.own && next && w.target.end != "" {
				return standing{mine: true, at: ends.at, oldest: p.token, unread: true}, nil
			}
			since, look = ends.at, ends.ahead || ends.own
			continue
		}
		if err := a.mustAllStand(); err != nil { // a set that cannot be had must not keep others waiting
			return now, err
		}
		patience.Reset(reread())
		since, look = 0, true
		if own == nil && p.kind != permit {
			if own, since, err = a.session.client.watchEnd(ctx, target{key: p.key}); err != nil {
				return a.lookAfter(p, ahead, err)
			}
		}
	}
}

// ends is what an event of a watch means to a waiter.
type ends struct {
	ahead, own bool  // whose claim has ended: the one ahead, or its own
	at         int64 // the revision
}

// endsIn reads an event. What it tells of up to the revision at which the claim ahead
// was last seen was an earlier claim's end.
func (p place) endsIn(event *clientv3.WatchResponse, ahead Claim, seen int64) (e ends) {
	for _, ended := range event.Events {
		key, at := string(ended.Kv.Key), ended.Kv.ModRevision
		if at <= seen {
			continue
		}
		e.own = e.own || key == p.key
		e.ahead = e.ahead || key == ahead.Key || p.kind == permit
		e.at = max(e.at, at)
	}
	return e
}

// watched is what a waiter must learn the end of. One that is next in the queue
// watches its own claim along with the one ahead, and with the keys between the two: see
// keepWatch for what follows from that.
func (a *acquisition) watched(p place, now standing) target {
	switch {
	case p.kind == permit:
		return target{key: p.queue, prefix: true}
	case now.next && len(a.places) == 1:
		return target{key: min(p.key, now.ahead.Key), end: max(p.key, now.ahead.Key) + "\x00"}
	}
	return target{key: now.ahead.Key}
}

// lookAfter reads the queue although no watch could be had: with the members
// that do answer, the wait may be over.
func (a *acquisition) lookAfter(p place, ahead Claim, watching error) (standing, error) {
	now, err := a.look(a.ctx, p, &ahead, 0)
	if err == nil && now.ahead != nil && now.ahead.Token == ahead.Token {
		return now, watching
	}
	return now, err
}

// look reads the queue. That the waiter's own claim is gone is an error.
func (a *acquisition) look(ctx context.Context, p place, ahead *Claim, since int64) (standing, error) {
	ctx, cancel := outcome.Bound(ctx, a.session.client.config.DialTimeout)
	defer cancel()
	now, err := a.session.look(ctx, p, ahead, since)
	if err == nil && !now.mine {
		err = a.claimGone()
	}
	return now, err
}

// claimGone ends the wait of a claim that has left its queue.
func (a *acquisition) claimGone() error {
	a.session.life.renewNow() // perhaps the lease is gone, and not the claim alone
	a.fail(fmt.Errorf("%w: its claim left the queue while it waited: it was broken, or the session's lease ended", ErrLost))
	return a.ended()
}

// mustAllStand reads, at one revision, whether every one of several claims is still
// there. For a single one each look does that.
func (a *acquisition) mustAllStand() error {
	for len(a.places) > 1 {
		ctx, cancel := outcome.Bound(a.ctx, a.session.client.config.DialTimeout)
		gone, err := a.session.anyGone(ctx, a.places)
		cancel()
		if err == nil && gone {
			return a.claimGone()
		}
		if err == nil {
			return nil
		}
		if over := a.over(err); over != nil {
			return over
		}
		outcome.Pause(a.ctx, watchPause)
	}
	return nil
}

// await returns what a watch has told, or nil when patience is at an end; an error
// means that a watch is over. The second watch may be nil.
func await(ctx context.Context, patience <-chan time.Time, first, second clientv3.WatchChan) (*clientv3.WatchResponse, error) {
	select {
	case event, ok := <-first:
		return heard(event, ok)
	case event, ok := <-second:
		return heard(event, ok)
	case <-patience:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func heard(event clientv3.WatchResponse, open bool) (*clientv3.WatchResponse, error) {
	if !open {
		return nil, errWatchClosed
	}
	return &event, event.Err()
}

// reread is the patience of a watch that has been confirmed.
func reread() time.Duration { return rereadMin + rand.N(rereadSpread) }

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
