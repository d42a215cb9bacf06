package supervisor

import "time"

// lookEvery is the longest time between two looks at the lock.
const lookEvery = 100 * time.Millisecond

// due is what has to happen to the command now.
type due int

const (
	hold      due = iota // nothing
	terminate            // SIGTERM; said once
	kill                 // SIGKILL; said at every look from then on
)

// watch decides, from the lock and the clock, what is due.
type watch struct {
	lock   Holding
	grace  time.Duration
	killAt time.Time // the deadline as it was when terminate was said; zero before that
}

// look looks at the deadline before it asks for the error: a lock that finds out
// that it has ended tells others first.
func (w *watch) look() due {
	left := time.Until(w.lock.Deadline())
	switch {
	case left <= 0, w.lock.Err() != nil:
		return kill
	case !w.killAt.IsZero():
		if time.Now().Before(w.killAt) {
			return hold
		}
		return kill
	case left <= w.grace:
		w.killAt = time.Now().Add(left)
		return terminate
	}
	return hold
}

// next is how long until the next look, if nothing happens before.
func (w *watch) next() time.Duration {
	left := time.Until(w.lock.Deadline())
	if w.killAt.IsZero() {
		left = min(left, left-w.grace)
	} else {
		left = min(left, time.Until(w.killAt))
	}
	return max(min(left, lookEvery), time.Millisecond)
}
