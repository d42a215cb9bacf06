package fencing

import "context"

type contextKey struct{}

// carried is a list of sequencers, the latest first. It lies in the context as
// a whole, so that all of them can be found again.
type carried struct {
	sequencer Sequencer
	earlier   *carried
}

// NewContext returns a child of ctx that carries seq, beside those that ctx
// already carries. Of two for the same lock the later one counts.
func NewContext(ctx context.Context, seq Sequencer) context.Context {
	earlier, _ := ctx.Value(contextKey{}).(*carried)
	return context.WithValue(ctx, contextKey{}, &carried{sequencer: seq, earlier: earlier})
}

// FromContext returns the sequencer of lock that ctx carries, if any.
func FromContext(ctx context.Context, lock string) (Sequencer, bool) {
	list, _ := ctx.Value(contextKey{}).(*carried)
	for ; list != nil; list = list.earlier {
		if list.sequencer.Lock == lock {
			return list.sequencer, true
		}
	}
	return Sequencer{}, false
}

// AllFromContext returns every sequencer that ctx carries, one for each lock,
// the latest first.
func AllFromContext(ctx context.Context) []Sequencer {
	var all []Sequencer
	seen := map[string]bool{}
	list, _ := ctx.Value(contextKey{}).(*carried)
	for ; list != nil; list = list.earlier {
		if !seen[list.sequencer.Lock] {
			seen[list.sequencer.Lock] = true
			all = append(all, list.sequencer)
		}
	}
	return all
}
