package client

import (
	"math/rand/v2"
	"time"
)

// A key without a lease never ends by itself, so a lock must not be waited for
// behind one. wait sees it when it is the next ahead; further ahead, behind other
// waiters, it is seen by a look at the head of the queue: after firstLookAhead, and
// then more and more seldom, since each look has to sort the queue; at random, up
// to twice as late, so that many waiters do not look together. Whoever stands behind
// a claim of this package's need not look: that one does, and leaves.
const (
	firstLookAhead = time.Second
	lastLookAhead  = time.Minute
)

// lookAhead looks at the heads of the queues now and then, until stop is called,
// and ends the wait if one of them will never end.
func (a *acquisition) lookAhead(now []standing) (stop func() bool) {
	for _, n := range now {
		if n.ahead != nil {
			return a.lookAfterPause(firstLookAhead)
		}
	}
	return func() bool { return false }
}

func (a *acquisition) lookAfterPause(pause time.Duration) (stop func() bool) {
	timer := time.AfterFunc(pause+rand.N(pause), func() {
		_ = a.session.start(func() {
			if a.ctx.Err() == nil && !a.failsAtHead() {
				a.lookAfterPause(min(2*pause, lastLookAhead))
			}
		})
	})
	return timer.Stop
}

// failsAtHead reads who is first in each queue, and ends the wait if it is a key
// without a lease.
func (a *acquisition) failsAtHead() bool {
	if a.behindOneOfOurs() {
		return false
	}
	for _, p := range a.places {
		if p.kind == permit && p.limit > 1 {
			continue // it takes one permit of several
		}
		head := a.session.headOf(p)
		if head == nil || head.Token >= p.token {
			continue
		}
		if err := p.mustHaveLease(*head); err != nil {
			a.fail(err)
			a.cancel()
			return true
		}
	}
	return false
}

// behindOneOfOurs reports whether the claim that was last seen ahead says since when
// it stands, as those of etcd's own tools do not.
func (a *acquisition) behindOneOfOurs() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.holder != nil && !a.holder.Since.IsZero()
}
