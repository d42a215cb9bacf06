package redisfence

import (
	"context"
	"fmt"

	"github.com/fencelock/fencelock/fencing"
)

// settle makes sure that writes whose answer was lost cannot land any more. Such
// a write can lie in a buffer, and arrive on its old connection after the
// holder's next write on a new one, under the same token. So it carries the
// fence's version, and the barrier changes that. A version never comes back: it
// is changed from the one that the barrier knows to a random one, and if the
// fence has another by now, the lost writes were under one that is gone.
//
// A write that carried no version needs no change: it is admitted only where it
// raises the fence, and the barrier makes sure that the fence is raised.
func (h *Handle) settle(ctx context.Context) error {
	if h.unsettled() == 0 {
		return nil
	}
	select {
	case h.settling <- struct{}{}:
		defer func() { <-h.settling }()
	case <-ctx.Done():
		return fmt.Errorf("%w: an earlier write can still land: %w", fencing.ErrUnavailable, context.Cause(ctx))
	}
	lost := h.unsettled()
	if lost == 0 {
		return nil
	}
	if _, err := h.perform(ctx, operation{name: "barrier"}); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.uncertain -= lost
	return nil
}

func (h *Handle) unsettled() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.uncertain
}
