package client

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/fencelock/fencelock/fencing/keys"
)

// EventKind says what has happened to a claim.
type EventKind string

// The kinds of events.
const (
	Waiting   EventKind = "waiting"   // it was put behind others
	Acquired  EventKind = "acquired"  // it holds from now on
	Released  EventKind = "released"  // it held, and was given back
	Withdrawn EventKind = "withdrawn" // it waited, and was taken back
	Lost      EventKind = "lost"      // it ended with its session's lease
	Broken    EventKind = "broken"    // it held, and was broken by somebody else
)

// Event is one change in a lock's queue.
type Event struct {
	Kind     EventKind
	Claim    Claim
	Revision int64 // of the store
}

// Watch yields what happens to the locks whose names begin with prefix, in order,
// from now on, until ctx ends or the loop is left. After a gap (the watch fell
// behind a compaction) it goes on with the differences. An error is the last thing
// that it yields: ctx's own, ErrClosed, ErrUnavailable, or what the cluster refused.
//
// etcd does not say why a key was deleted, so its lease is asked for as soon as the
// event has come, also while the loop is busy; that it is gone since its session was
// closed is read in the history, which takes about a tenth of a second. What cannot be
// told from a loss is told as Lost: a foreign client that gives its lock back and its
// lease at once, and a closed session over whose end the history was compacted. A
// broken shared lock is told as Released.
//
// Events that the loop has not taken yet are kept in memory.
func (c *Client) Watch(ctx context.Context, prefix string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := keys.CheckPrefix(prefix); err != nil {
			yield(Event{}, err)
			return
		}
		ctx, cancel := c.whileOpen(ctx)
		defer cancel()
		m := mirror{client: c, prefix: prefix, queues: map[string][]Claim{}}
		err := m.follow(ctx, func(e Event) bool { return yield(e, nil) })
		if err != nil && !errors.Is(err, errLeft) {
			yield(Event{}, fmt.Errorf("watch locks that begin with %q: %w", prefix, c.orClosed(err)))
		}
	}
}
