package httpfence

import (
	"context"
	"fmt"
	"net/http"

	"github.com/fencelock/fencelock/fencing"
)

// Header is the request header that carries a sequencer's text.
const Header = "Fencing-Token"

// Fence admits work behind a guard. A *memfence.Fence is one, [InHandler] another.
type Fence interface {
	// Enter admits work under seq behind guard, or says why not. The work runs
	// under held, a child of ctx, and is followed by leave.
	Enter(ctx context.Context, guard string, seq fencing.Sequencer) (held context.Context, leave func(), err error)
}

// InHandler is the Fence of services whose handlers show the sequencer to a fence
// of their own, inside the transaction that it is to protect. It compares no
// tokens: a handler that forgets to ask is not fenced.
type InHandler struct{}

// Enter admits every sequencer.
func (InHandler) Enter(ctx context.Context, _ string, _ fencing.Sequencer) (context.Context, func(), error) {
	return ctx, func() {}, nil
}

// Handler lets through to next what fence admits, and answers the rest. Next finds
// the sequencer in its request's context by [fencing.ForGuard].
//
// The guard function returns the name of the lock that guards what the request is
// about. It must not take it from the Fencing-Token header. Where it returns "",
// the request is answered with 500: routes that need no fence need no Handler.
//
// Handler panics if one of its arguments is nil.
func Handler(guard func(*http.Request) string, fence Fence, next http.Handler) http.Handler {
	if guard == nil || fence == nil || next == nil {
		panic("httpfence: Handler with a nil argument")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := guard(r)
		if name == "" {
			unguarded().write(w)
			return
		}
		seq, err := fromHeader(r.Header)
		if err == nil {
			err = seq.CheckGuard(name)
		}
		if err != nil {
			WriteError(w, err)
			return
		}
		held, leave, err := fence.Enter(r.Context(), name, seq)
		if err != nil {
			notEntered(err).write(w)
			return
		}
		defer leave()
		next.ServeHTTP(w, r.WithContext(fencing.NewContext(held, seq)))
	})
}

// fromHeader reads the sequencer. Proxies may repeat a header; they do not change it.
func fromHeader(h http.Header) (fencing.Sequencer, error) {
	values := h.Values(Header)
	if len(values) == 0 {
		return fencing.ParseSequencer("")
	}
	for _, value := range values[1:] {
		if value != values[0] {
			return fencing.Sequencer{}, fmt.Errorf("%d sequencers: %w: want one", len(values), fencing.ErrMalformed)
		}
	}
	return fencing.ParseSequencer(values[0])
}
