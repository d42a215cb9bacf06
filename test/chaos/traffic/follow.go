package traffic

import (
	"context"
	"errors"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/test/chaos/history"
)

// deadlineLook is how often a held lock's deadline is looked at. It moves with every
// renewal, every third of the TTL.
const deadlineLook = 100 * time.Millisecond

// follow waits, in the background, for the end of a hold, and writes a Lost event if
// it was a loss.
func (h *hold) follow() {
	h.followed = make(chan struct{})
	go func() {
		defer close(h.followed)
		deadline := h.lastDeadline()
		cause := context.Cause(h.handle.Context())
		if !errors.Is(cause, client.ErrLost) {
			return
		}
		for _, p := range h.parts {
			e, ok := h.log.call(history.Event{Kind: history.Lost, Lock: p.lock, Hold: p.id, Mode: p.mode, Token: p.token, Deadline: deadline})
			if ok {
				e.Outcome, e.Reason = history.OK, cause.Error()
				h.log.end(e)
			}
		}
	}()
}

// lastDeadline returns, when the hold has ended, the last deadline that it had.
func (h *hold) lastDeadline() history.Time {
	deadline := h.deadline
	tick := time.NewTicker(deadlineLook)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			deadline = max(deadline, deadlineOf(h.handle))
		case <-h.handle.Done():
			return max(deadline, deadlineOf(h.handle))
		}
	}
}

// deadlineOf is a lock's deadline on the history's clock. A process that is stopped
// between the readings of two clocks would tell a wrong one: such readings are
// repeated.
func deadlineOf(h handle) history.Time {
	for {
		before := history.Now()
		left := time.Until(h.Deadline())
		after := history.Now()
		if after.Sub(before) < 2*time.Millisecond {
			return after.Add(left)
		}
	}
}
