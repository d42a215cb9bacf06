package traffic

import (
	"context"
	"math/rand/v2"
	"time"
)

// task takes one lock again and again.
type task struct {
	*process
	lock string // TARGET/WORKLOAD/0
	rand *rand.Rand
}

const (
	// longWait is how long most acquisitions wait. Queues are short; a member that is
	// down, an election and a lost holder's TTL take less.
	longWait = 30 * time.Second
	// shortWait bounds those that are cancelled early.
	shortWait = 150 * time.Millisecond
	// afterFailure is how much longer a task rests when nothing could be done.
	afterFailure = 300 * time.Millisecond

	maxRounds = 6
	// longThought bounds the rare thoughts that hold everybody up, and that a lease of
	// 2 s barely outlasts if renewals fail.
	longThought = 1500 * time.Millisecond
	// lingering is how long a hold goes on beside a write whose fate is unknown: what was
	// held up for a second then lands under the same claim.
	lingering = 1600 * time.Millisecond
)

// Chances in a hundred of what a hold does beside the usual.
const (
	idleHold    = 3  // it does nothing at all
	longThinker = 1  // of each round
	slowStarter = 30 // of each round, the first too: a pause finds reads to come late, not writes only
	goesOn      = 60
	lingerer    = 80 // after a write of unknown outcome, which may land late
	eager       = 30 // it takes the lock again at once: the key of its claim comes back while others still look at it
)

func (t *task) run(ctx context.Context) {
	for t.ready(ctx) {
		h := t.acquire(ctx, t.choose())
		if h == nil {
			rest(ctx, t.upTo(afterFailure))
			continue
		}
		h.work(ctx)
		h.release()
		if h.over {
			rest(ctx, t.upTo(afterFailure))
		}
	}
}

// ready waits until it is time for the next acquisition, and reports whether ctx lasts.
func (t *task) ready(ctx context.Context) bool {
	if t.percent(eager) {
		return ctx.Err() == nil
	}
	return rest(ctx, t.upTo(t.cfg.pause()))
}

// upTo is a random time below d.
func (t *task) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(t.rand.Int64N(int64(d)))
}

// percent is true n times in a hundred.
func (t *task) percent(n int) bool { return t.rand.IntN(100) < n }

// work does the rounds of one hold.
func (h *hold) work(ctx context.Context) {
	if h.percent(idleHold) {
		h.think(ctx)
		return
	}
	for n := h.rand.IntN(maxRounds); n >= 0 || h.lingers(); n-- {
		for _, p := range h.parts {
			if h.over || ctx.Err() != nil {
				return
			}
			if h.percent(slowStarter) {
				h.think(ctx)
			}
			p.round(ctx)
		}
	}
}

// think lets time pass between a read and what follows from it. It does not end with
// the lock: a naive application would not notice, and a fence must not need it to.
func (h *hold) think(ctx context.Context) {
	if h.percent(longThinker) {
		rest(ctx, h.upTo(longThought))
		return
	}
	rest(ctx, h.upTo(h.cfg.Think))
}
