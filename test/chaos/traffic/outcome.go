package traffic

import (
	"errors"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/test/chaos/history"
)

// settle writes into e what err says of the operation. Every fence promises that
// nothing was written unless it says [fencing.ErrUncertain]; a read that was not
// answered has read nothing.
func settle(e *history.Event, err error) {
	var stale *fencing.StaleError
	switch reads := e.Kind == history.Get || e.Kind == history.List; {
	case err == nil:
		e.Outcome = history.OK
	case !reads && errors.Is(err, fencing.ErrUncertain):
		e.Outcome, e.Reason = history.Unknown, err.Error()
	case e.Kind == history.Acquire:
		e.Outcome, e.Reason = history.Failed, err.Error()
	case errors.As(err, &stale):
		e.Outcome, e.Reason, e.Highest = history.Refused, history.Stale, int64(stale.Highest)
	case errors.Is(err, client.ErrLost):
		e.Outcome, e.Reason = history.Refused, history.Gone
	case errors.Is(err, fencing.ErrNotHeld):
		e.Outcome, e.Reason = history.Refused, history.NotHeld
	case errors.Is(err, fencing.ErrNotIssued):
		e.Outcome, e.Reason = history.Refused, history.NotIssued
	default:
		e.Outcome, e.Reason = history.Failed, err.Error()
	}
}
