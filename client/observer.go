package client

import (
	"time"

	"github.com/fencelock/fencelock/fencing"
)

// Observer is told what happens in a client, for metrics. Its methods are called
// while others wait, from several goroutines: they must be quick. Package metrics
// has one for Prometheus.
type Observer interface {
	// Acquired: a lock was granted, waited after it was asked for; or err says
	// why it was not.
	Acquired(waited time.Duration, err error)

	// Ended: a lock that was held for this long was given back, or lost: then
	// cause is ErrLost with the reason.
	Ended(held time.Duration, cause error)

	// Renewed: a session asked for a renewal, and was answered after this long.
	Renewed(took time.Duration, err error)

	// Refused: an operation of a fenced store was refused.
	Refused(guard string, token fencing.Token, err error)
}

// unobserved is the Observer of a client that has none.
type unobserved struct{}

func (unobserved) Acquired(time.Duration, error)        {}
func (unobserved) Ended(time.Duration, error)           {}
func (unobserved) Renewed(time.Duration, error)         {}
func (unobserved) Refused(string, fencing.Token, error) {}
