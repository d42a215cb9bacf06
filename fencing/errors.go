package fencing

import (
	"errors"
	"fmt"
)

// One error for each decision that a caller makes. They arrive wrapped, with
// the guard and the reason: compare with [errors.Is].
var (
	// ErrStale: the fence has admitted a higher token, or was closed above this
	// one. The caller has been overtaken and must stop; retrying cannot help.
	// It comes as a [*StaleError].
	ErrStale = errors.New("stale fencing token")

	// ErrNotHeld: the token was issued once, but its claim no longer holds the
	// lock, or does not hold it yet. Nothing was written.
	ErrNotHeld = errors.New("lock not held")

	// ErrNotIssued: no claim of this lock ever had that token. Nothing was
	// written, and the fence did not move.
	ErrNotIssued = errors.New("token was never issued")

	// ErrMissing: the operation came without a sequencer.
	ErrMissing = errors.New("missing")

	// ErrMalformed: the text is no token, or no sequencer.
	ErrMalformed = errors.New("malformed")

	// ErrWrongGuard: the sequencer belongs to another lock than the one that
	// guards the resource.
	ErrWrongGuard = errors.New("sequencer of another lock")

	// ErrUncertain: no answer came, so the operation may or may not have been
	// applied. It is applied at most once, and not after a later operation of
	// the same handle has been acknowledged. Read before you decide to repeat it.
	ErrUncertain = errors.New("outcome unknown")

	// ErrUnavailable: the resource could not be reached, or has no quorum, and
	// nothing was changed. A retry is safe.
	ErrUnavailable = errors.New("cluster unavailable")

	// ErrInvalidName: a lock's name or a key is not one that can exist. Found
	// before any request is sent.
	ErrInvalidName = errors.New("invalid name")
)

// StaleError says which fence refused which token. errors.Is reports it as
// [ErrStale].
type StaleError struct {
	Guard   string // the lock that guards the resource
	Token   Token  // the token that was refused
	Highest Token  // the highest token that the fence knows of
}

// Error names the guard and both tokens, and says what to do.
func (e *StaleError) Error() string {
	if e.Highest <= e.Token {
		return fmt.Sprintf("%v: token %v of %q: the fence was closed above it (the lock was broken, or the cluster restored); take the lock again",
			ErrStale, e.Token, e.Guard)
	}
	return fmt.Sprintf("%v: token %v of %q: the fence has admitted %v; take the lock again and redo the work from a fresh read",
		ErrStale, e.Token, e.Guard, e.Highest)
}

// Is reports whether target is [ErrStale].
func (e *StaleError) Is(target error) bool { return target == ErrStale }
