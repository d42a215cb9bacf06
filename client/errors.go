package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/fencelock/fencelock/fencing"
)

// One error for each decision that a caller makes. They arrive wrapped, with the
// lock's name and the reason: compare with [errors.Is].
var (
	// ErrLocked: somebody else holds the lock. It comes as a [*LockedError]. A
	// Lock that ran out of time is context.DeadlineExceeded as well.
	ErrLocked = errors.New("locked")

	// ErrLost: the lock was held (or waited for) and is not any more, without an
	// Unlock: its session ended, or the claim was broken. Stop the work; locking
	// again gives a new handle with a new token.
	ErrLost = errors.New("lock lost")

	// ErrReentrant: the context already carries this lock. Locks do not
	// re-enter, and waiting for oneself would never end.
	ErrReentrant = errors.New("lock already held by this context")

	// ErrClosed: the client or session was closed.
	ErrClosed = errors.New("closed")

	// ErrUnavailable: no majority of the cluster answered in time, and the lock
	// is not held. A retry is safe.
	ErrUnavailable = fencing.ErrUnavailable

	// ErrTwoClusters: the endpoints lead to two clusters. It comes with the second
	// answer of the one that was heard of first, and for a minute from then on; a
	// request may have been carried out all the same. Clients that are given a
	// ready Etcd are not told.
	ErrTwoClusters = errors.New("the endpoints lead to two clusters")
)

// The errors of package fencing that this package returns too.
var (
	ErrStale       = fencing.ErrStale
	ErrNotHeld     = fencing.ErrNotHeld
	ErrNotIssued   = fencing.ErrNotIssued
	ErrMissing     = fencing.ErrMissing
	ErrMalformed   = fencing.ErrMalformed
	ErrWrongGuard  = fencing.ErrWrongGuard
	ErrUncertain   = fencing.ErrUncertain
	ErrInvalidName = fencing.ErrInvalidName
)

// CauseOf sorts losses for metrics: "deadline" if no renewal was answered in time,
// "lease" if the cluster had ended the lease, "claim" if a claim alone was gone.
func CauseOf(lost error) string {
	switch {
	case errors.Is(lost, errDeadline):
		return "deadline"
	case errors.Is(lost, errLeaseGone):
		return "lease"
	}
	return "claim"
}

// LockedError says who holds the lock. errors.Is reports it as [ErrLocked].
type LockedError struct {
	// Holder as it was when last read. Its zero Token means that the lock's
	// holder could not be read in time, or has changed meanwhile.
	Holder Claim
	what   string // is locked: lock "…", or semaphore "…"
}

// Error names the lock, its holder, and since when it holds.
func (e *LockedError) Error() string {
	if e.Holder.Token == 0 {
		return e.what + " is held by another client"
	}
	text := fmt.Sprintf("%s is held by %s, token %v", e.what, ownerOf(e.Holder), e.Holder.Token)
	if !e.Holder.Since.IsZero() {
		text += ", claimed " + e.Holder.Since.Format(time.RFC3339)
	}
	if e.Holder.Lease == 0 {
		text += fmt.Sprintf("; key %s has no lease, so it will never end by itself: delete it if nobody owns it", e.Holder.Key)
	}
	return text
}

// Is reports whether target is [ErrLocked].
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// ownerOf names a claim's owner; claims of foreign clients do not say.
func ownerOf(c Claim) string {
	if c.Owner == "" {
		return "an unnamed client (key " + c.Key + ")"
	}
	return c.Owner
}
