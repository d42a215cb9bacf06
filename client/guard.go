package client

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// guardDelay is how long a lock is held before its claims are watched. An end from
// outside (a break, a revoked lease) is noticed within a second all the same,
// and the many locks that are held for a moment cost nothing.
const guardDelay = 300 * time.Millisecond

// guardLater arranges for the claims to be watched if they are held for long.
func (h *holding) guardLater() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return
	}
	h.guard = time.AfterFunc(guardDelay, func() {
		for _, p := range h.places {
			_ = h.session.start(func() { h.guardClaim(p) })
		}
	})
}

// guardClaim watches one claim until the holding ends, and ends the holding if the
// claim goes away.
func (h *holding) guardClaim(p place) {
	for h.Err() == nil {
		gone, err := h.watchClaim(p)
		if gone {
			if h.lose(fmt.Errorf("%w: the claim of token %v on %q is gone: it was broken, or the session's lease was revoked", ErrLost, p.token, p.lock)) && len(h.places) == 1 {
				h.session.slots.giveBack(p.queue, p.slot, true) // it was put, it is gone, and nobody was asked to delete it
			}
			h.session.life.renewNow() // perhaps the lease is gone, and not the claim alone
			return
		}
		h.session.log.Debug("guard a lock: watch again", zap.String("lock", p.lock), zap.Error(err))
		outcome.Pause(h.ctx, watchPause)
	}
}

// watchClaim watches once. It reports that the claim is gone, or why the watch is over.
func (h *holding) watchClaim(p place) (gone bool, err error) {
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	end, _, err := h.session.client.watchEnd(ctx, target{key: p.key})
	if err != nil {
		return false, err
	}
	for {
		if gone, err := h.claimGone(ctx, p); gone || err != nil {
			return gone, err
		}
		if _, err := await(ctx, time.After(reread()), end, nil); err != nil {
			return false, err
		}
	}
}

// claimGone reads the claim.
func (h *holding) claimGone(ctx context.Context, p place) (bool, error) {
	ctx, cancel := outcome.Bound(ctx, h.session.client.config.DialTimeout)
	defer cancel()
	return h.session.anyGone(ctx, []place{p})
}
