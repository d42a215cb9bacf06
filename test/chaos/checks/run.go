package checks

import (
	"fmt"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// Input is a run, as it was written down.
type Input struct {
	Ops        []history.Op // in the order of their calls, as history.Read brings them
	Faults     []history.Fault
	Start, End history.Facts // before the first client began; after the last had ended
	TTL        time.Duration // of the clients' sessions
	Election   time.Duration // the members' election timeout
}

// Result is what came of one check.
type Result struct {
	Name       string
	What       string // the promise, in words
	Counted    int    // how many things were looked at
	Wrong      int    // how many violations there were; Violations holds the first of them
	Violations []Violation
	Note       string
}

// OK reports whether the promise was kept.
func (r Result) OK() bool { return r.Wrong == 0 }

// Violation is one place where the promise was broken.
type Violation struct {
	Text string
	At   history.Time
	Lock string // "": none in particular
}

// kept is how many violations of one check are kept with their text.
const kept = 50

func (r *Result) violate(at history.Time, lock, format string, args ...any) {
	r.Wrong++
	if len(r.Violations) < kept {
		r.Violations = append(r.Violations, Violation{Text: fmt.Sprintf(format, args...), At: at, Lock: lock})
	}
}

// check is one promise. possible reports whether the run had anything that it looks at;
// nil: every run has.
type check struct {
	name, what string
	look       func(*run, *Result)
	possible   func(*run) bool
}

func all() []check {
	return []check{
		lostCheck(), tokensCheck(), fenceCheck(), modelsCheck(), refusedCheck(), deadlineCheck(), overlapCheck(), unlockedCheck(), sessionsCheck(), regrantCheck(),
		serviceCheck(), stuckCheck(), orderCheck(), reasonsCheck(), membersCheck(), leftoverCheck(),
	}
}

// Run does all checks.
func Run(in Input) []Result {
	r := newRun(in)
	var results []Result
	for _, c := range all() {
		results = append(results, c.do(r))
	}
	return results
}

func (c check) do(r *run) Result {
	result := Result{Name: c.name, What: c.what}
	c.look(r, &result)
	if result.Counted == 0 && result.Wrong == 0 {
		if c.possible == nil || c.possible(r) {
			result.violate(0, "", "saw nothing")
		} else {
			result.Note = "nothing of the kind in this run"
		}
	}
	return result
}
