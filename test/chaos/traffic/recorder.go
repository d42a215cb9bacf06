package traffic

import (
	"context"
	"fmt"
	"sync"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// recorder writes the history. What cannot be written down must not be done: the
// first failure ends the process's work.
type recorder struct {
	writer *history.Writer
	fail   context.CancelCauseFunc

	mu     sync.Mutex
	failed error
}

// call writes that an operation is about to be sent; not ok: do not send it.
func (r *recorder) call(e history.Event) (_ history.Event, ok bool) {
	e, err := r.writer.Call(e)
	if err != nil {
		r.broken(fmt.Errorf("history: %w", err))
	}
	return e, err == nil
}

// end writes what came of an operation: nothing that its call has said already.
func (r *recorder) end(e history.Event) {
	if e.Kind != history.Acquire {
		e.Token, e.Deadline = 0, 0
	}
	e.Kind, e.Lock, e.Hold, e.Mode, e.Key, e.Value, e.Prev = "", "", 0, "", "", "", ""
	if err := r.writer.Return(e); err != nil {
		r.broken(fmt.Errorf("history: %w", err))
	}
}

// broken ends the process's work: its history is not to be trusted, or tells of data
// that nobody wrote.
func (r *recorder) broken(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = err
	}
	r.fail(r.failed)
}

func (r *recorder) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}
