package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

const (
	// clockLook is how often the clock is looked at: timers stand still while a
	// machine is suspended, so a loss is noticed this long after waking.
	clockLook = 250 * time.Millisecond

	// leastMargin is the least time between the local deadline and the end of
	// the lease, for clocks that do not run at quite the same rate and for a
	// process that needs a moment to act on the loss.
	leastMargin = 500 * time.Millisecond

	// renewPause is the least time between two attempts that failed at once.
	renewPause = 50 * time.Millisecond
)

// errLeaseGone is a renewer's answer when the cluster knows no such lease.
var errLeaseGone = errors.New("the cluster does not know the lease any more: it expired or was revoked")

// errDeadline is why a lifeline ends that was not renewed in time.
var errDeadline = errors.New("no renewal before the session's deadline")

// clock measures time from an arbitrary origin, the time in suspend included.
type clock interface{ now() time.Duration }

// renewer asks for one renewal and returns the time to live that was granted.
type renewer interface {
	renew(ctx context.Context) (time.Duration, error)
}

// lifeline is a lease as its owner sees it: renewed three times per TTL, and
// trusted until a deadline on the owner's own clock, which counts from when the
// last successful renewal was sent. Nothing brings it back once it has ended.
//
//	sent          next renewal              deadline   end of the lease, at the earliest
//	 │◀── TTL/3 ──▶│                           │◀─ margin ─▶│
//	 │◀──────────────────────── TTL ────────────────────────▶│
type lifeline struct {
	clock   clock
	renewer renewer
	onEnd   func(cause error) // called once, before done is closed
	nudge   chan struct{}     // asks for a renewal now
	done    chan struct{}     // closed when the lifeline has ended

	mu       sync.Mutex
	ttl      time.Duration // as granted
	sent     time.Duration // when the last successful renewal was sent
	deadline time.Duration
	refusal  error // what the last renewal was answered with, if that was a refusal
	cause    error // why it ended; nil while it lasts
}

// newLifeline begins with a lease that was asked for at sent and granted for ttl.
func newLifeline(c clock, r renewer, sent, ttl time.Duration, onEnd func(error)) *lifeline {
	l := &lifeline{clock: c, renewer: r, onEnd: onEnd, nudge: make(chan struct{}, 1), done: make(chan struct{})}
	l.ttl, l.sent, l.deadline = ttl, sent, trustedUntil(sent, ttl)
	return l
}

// trustedUntil is the deadline of a renewal: 10 % of the TTL before the lease can
// end, and at least leastMargin.
func trustedUntil(sent, ttl time.Duration) time.Duration {
	return sent + ttl - max(ttl/10, leastMargin)
}

// run renews the lease and watches the clock until the lifeline has ended.
func (l *lifeline) run() {
	ctx, cancel := context.WithCancel(context.Background())
	var looking sync.WaitGroup
	looking.Go(func() {
		l.lookAtClock()
		cancel() // ends a renewal that is under way
	})
	for l.awaitRenewal() {
		l.attempt(ctx)
	}
	looking.Wait()
}

// lookAtClock returns when the lifeline has ended, and ends it when it is time.
func (l *lifeline) lookAtClock() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for l.check() == nil {
		timer.Reset(min(clockLook, l.left()))
		select {
		case <-timer.C:
		case <-l.done:
		}
	}
}

// awaitRenewal waits until the next renewal is due, or asked for. It returns
// false when the lifeline has ended. It looks at the clock now and then, since a
// timer that stood still in suspend would be late.
func (l *lifeline) awaitRenewal() bool {
	for l.check() == nil {
		due := l.untilRenewal()
		if due <= 0 {
			return true
		}
		timer := time.NewTimer(min(due, clockLook))
		select {
		case <-timer.C:
		case <-l.nudge:
			timer.Stop()
			return l.check() == nil
		case <-l.done:
		}
		timer.Stop()
	}
	return false
}

func (l *lifeline) untilRenewal() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent + l.ttl/3 - l.clock.now()
}

// attempt asks for one renewal. It gets at most a third of the time that is left,
// so that a member that hangs leaves time to ask another.
func (l *lifeline) attempt(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, max(l.left()/3, time.Millisecond))
	defer cancel()
	sent := l.clock.now()
	ttl, err := l.renewer.renew(ctx)
	switch {
	case err == nil:
		l.renewed(sent, ttl)
	case errors.Is(err, errLeaseGone):
		l.end(fmt.Errorf("%w: %w", ErrLost, err))
	default:
		l.failed(err)
		outcome.Pause(ctx, max(renewPause-(l.clock.now()-sent), 0))
	}
}

// renewed takes over a renewal that was sent at sent. A reply that comes after the
// deadline revives nothing.
func (l *lifeline) renewed(sent, ttl time.Duration) {
	if l.check() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ttl, l.sent, l.deadline, l.refusal = ttl, sent, trustedUntil(sent, ttl), nil
}

// failed remembers a refusal, for who asks why the session ended. That nobody
// answered later on does not make it forgotten.
func (l *lifeline) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if outcome.Answered(err) {
		l.refusal = err
	}
}

// late is why a lifeline ends at its deadline.
func (l *lifeline) late() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refusal != nil {
		return fmt.Errorf("%w: %w: the cluster refused to renew: %w", ErrLost, errDeadline, l.refusal)
	}
	return fmt.Errorf("%w: %w: no member answered", ErrLost, errDeadline)
}

// check looks at the clock: nil while the lease may be trusted, else why not.
func (l *lifeline) check() error {
	l.mu.Lock()
	cause, late := l.cause, l.clock.now() >= l.deadline
	l.mu.Unlock()
	if cause == nil && late {
		l.end(l.late())
		return l.check()
	}
	return cause
}

// end ends the lifeline, unless it has ended already.
func (l *lifeline) end(cause error) {
	l.mu.Lock()
	first := l.cause == nil
	if first {
		l.cause = cause
	}
	l.mu.Unlock()
	if first {
		l.onEnd(cause)
		close(l.done)
	}
}

// alive reports whether the lifeline has not been ended yet, without a look at
// the clock.
func (l *lifeline) alive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause == nil
}

// left is the time until the deadline; not more than zero once it has passed.
func (l *lifeline) left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadline - l.clock.now()
}

// renewNow asks for a renewal at once, to learn whether the lease still exists.
func (l *lifeline) renewNow() {
	select {
	case l.nudge <- struct{}{}:
	default:
	}
}
