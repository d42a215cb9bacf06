package demo

import (
	"time"

	"github.com/fencelock/fencelock/fencing"
)

// moment is one line of the timeline.
type moment struct {
	at    time.Duration // since the demo began
	kind  kind
	who   string
	token fencing.Token
	what  string
}

// kind says what a moment means for a picture.
type kind int

const (
	aside   kind = iota // nothing
	asks                // begins to wait for the lock
	takes               // holds from now on
	reads               // the balance
	departs             // is about to write
	stops
	wakes
	writes // and is told that it is done
	isRefused
	learns // that the lock is lost
	returns
)
