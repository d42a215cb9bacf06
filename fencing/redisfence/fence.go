package redisfence

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/fencelock/fencelock/fencing"
)

// Fence keeps the fences of one Redis. It is safe for use by many goroutines.
type Fence struct{ config Config }

// New sends nothing.
func New(cfg Config) (*Fence, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("redisfence: %w", err)
	}
	return &Fence{config: cfg}, nil
}

// ErrLost: the fence stands below the token for which this handle has claimed it.
// Redis has lost it: a replica without the last writes took over, the key was
// evicted or deleted, an old backup was restored. Nothing was written, but what
// the handle has read may have been changed by an older holder since. Go on with
// a new handle, from a fresh read, and look at how Redis is run.
var ErrLost = errors.New("the fence itself was lost")

// Key is where a record lies in Redis. All keys of a guard are in one slot of a
// cluster.
func (f *Fence) Key(guard, key string) string { return f.fenceKey(guard) + "/" + key }

// fenceKey is the only key of a guard without a slash after the brace. A brace in
// the guard would move its keys to other slots, and let one guard's keys look
// like another's.
func (f *Fence) fenceKey(guard string) string {
	return f.config.Prefix + "{" + strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D").Replace(guard) + "}"
}

// Highest returns the highest token that the guard's fence has admitted, 0 if
// none. The answer can be outdated when it arrives.
func (f *Fence) Highest(ctx context.Context, guard string) (fencing.Token, error) {
	answer, err := f.config.Eval(ctx, highestScript, []string{f.fenceKey(guard)}, nil)
	doing := fmt.Sprintf("read the fence of %q", guard)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	switch words, err := list(answer); {
	case err != nil:
		return 0, fmt.Errorf("%s: %w", doing, err)
	case words.at(0) == "none":
		return 0, nil
	case words.at(0) == "stands":
		return fencing.ParseToken(words.at(1))
	default:
		return 0, fmt.Errorf("%s: %w", doing, notAFence(words.at(1)))
	}
}

// Repair lowers a fence that a token never issued has raised, because no Verify
// was set: from wrong to right, the token of the lock's present holder. It does
// so only if the fence still stands at wrong; else it is an error, and the fence
// stays. A fence that was raised in good order must not be lowered: older holders
// would be admitted again.
func (f *Fence) Repair(ctx context.Context, guard string, wrong, right fencing.Token) error {
	doing := fmt.Sprintf("repair the fence of %q", guard)
	if !right.Valid() || right >= wrong {
		return fmt.Errorf("%s: %w: a token between 0 and %v is wanted, not %v", doing, fencing.ErrMalformed, wrong, right)
	}
	answer, err := f.config.Eval(ctx, lowerScript, []string{f.fenceKey(guard)}, []string{wrong.String(), right.String(), freshVersion()})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	words, err := list(answer)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if words.at(0) != "ok" {
		return fmt.Errorf("%s: it stands at %q, not at %v", doing, words.at(1), wrong)
	}
	return nil
}

// freshVersion is one that no fence has had.
func freshVersion() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%x", b)
}
