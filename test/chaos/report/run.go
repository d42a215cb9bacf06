package report

import (
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// Run is all that is told of.
type Run struct {
	Command    string // what repeats it
	Seed       uint64
	Began      time.Time
	Start, End history.Time
	TTL        time.Duration // of the sessions
	Ops        []history.Op  // in the order of their calls
	Faults     []history.Fault
	Checks     []Check
	Losses     []Loss
	Notes      []string // kinds that were not run, and why
}

// Check is what one check has found.
type Check struct {
	Name       string
	What       string      // what it demands, in a sentence
	Counted    int         // how many things it has looked at
	Wrong      int         // how many violations there were; 0: as many as there are in Violations
	Violations []Violation // the first of them
	Note       string
}

func (c Check) wrong() int { return max(c.Wrong, len(c.Violations)) }

// Violation is one thing that must not be.
type Violation struct {
	Text string
	At   history.Time // 0: no moment in particular
	Lock string       // "": none in particular
}

// Loss is how many acknowledged updates of a target are gone.
type Loss struct {
	Target       string
	Acknowledged int
	Lost         int
	AsStated     int // of Lost: what a fault had stated that it may cost
}

// Beyond is how many updates were lost that no fault may cost.
func (l Loss) Beyond() int { return l.Lost - l.AsStated }

// Percent is the share that was lost although no fault may cost it.
func (l Loss) Percent() float64 { return percent(l.Beyond(), l.Acknowledged) }

// Passed reports whether every check was passed, every fault could be done as meant,
// and nothing but the control has lost more than was stated. A run that nothing was
// checked of has not passed.
func (r Run) Passed() bool {
	for _, c := range r.Checks {
		if c.wrong() > 0 {
			return false
		}
	}
	for _, f := range r.Faults {
		if f.Error != "" {
			return false
		}
	}
	for _, l := range r.Losses {
		if l.Target != history.Control && l.Beyond() > 0 {
			return false
		}
	}
	return len(r.Checks) > 0
}

// length is how long the run was; at least a nanosecond, so that it divides.
func (r Run) length() time.Duration { return max(r.End.Sub(r.Start), 1) }

func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
