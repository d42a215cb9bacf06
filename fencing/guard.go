package fencing

import (
	"context"
	"fmt"
	"strings"
)

// CheckGuard says whether s can be used behind guard at all, before any fence is
// asked. Every fence begins with it. The zero Sequencer is [ErrMissing], one that
// cannot have been issued [ErrMalformed], one of another lock [ErrWrongGuard].
func (s Sequencer) CheckGuard(guard string) error {
	switch {
	case s == Sequencer{}:
		return fmt.Errorf("sequencer for %q: %w", guard, ErrMissing)
	case !s.Token.Valid():
		return fmt.Errorf("sequencer %s: %w: tokens are greater than zero", quote(s.String()), ErrMalformed)
	case s.Lock == "":
		return fmt.Errorf("sequencer %s: %w: the lock's name is empty", quote(s.String()), ErrMalformed)
	case s.Lock != guard:
		return fmt.Errorf("sequencer %s: %w: the guard here is %q", quote(s.String()), ErrWrongGuard, guard)
	}
	return nil
}

// ForGuard returns the sequencer of ctx that is for guard, fit to be shown to its
// fence. A context without any sequencer is [ErrMissing]; one that carries only
// those of other locks is [ErrWrongGuard].
func ForGuard(ctx context.Context, guard string) (Sequencer, error) {
	if seq, ok := FromContext(ctx, guard); ok {
		return seq, seq.CheckGuard(guard)
	}
	if all := AllFromContext(ctx); len(all) > 0 {
		return Sequencer{}, all[0].CheckGuard(guard)
	}
	return Sequencer{}, Sequencer{}.CheckGuard(guard)
}

// Sole returns the one sequencer that ctx carries, for a request that goes out
// without anybody saying which lock guards what it asks for. None is [ErrMissing].
// Several are [ErrWrongGuard]: a guess would be wrong for all guards but one.
func Sole(ctx context.Context) (Sequencer, error) {
	switch all := AllFromContext(ctx); len(all) {
	case 0:
		return Sequencer{}, fmt.Errorf("context: sequencer: %w", ErrMissing)
	case 1:
		return all[0], nil
	default:
		locks := make([]string, len(all))
		for i, seq := range all {
			locks[i] = fmt.Sprintf("%q", seq.Lock)
		}
		return Sequencer{}, fmt.Errorf("%w: the context carries those of %s: say which one guards this request",
			ErrWrongGuard, strings.Join(locks, ", "))
	}
}
