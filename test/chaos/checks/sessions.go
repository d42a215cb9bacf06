package checks

import (
	"fmt"
	"strings"
	"time"
)

// aftermath is how long after a fault was healed a session may still end by it: what
// its renewal had left, and what the client's next try takes.
const aftermath = 3 * time.Second

func sessionsCheck() check {
	return check{
		name: "nobody loses a lock without a reason",
		what: "whoever is told that its lock is lost was within reach of a fault that may cost sessions, or of two of members at once, " +
			"one of a client its own only, at most TTL + 3 s before; one hold in a hundred may be lost since no member answered in time",
		look:     sessions,
		possible: anyLost,
	}
}

// silence is what a client says of a session that no member has renewed in time.
const silence = "no renewal before"

func sessions(r *run, result *Result) {
	grants, silent := 0, 0
	for _, l := range r.locks {
		grants += len(l.grants)
		granted := l.granted()
		for _, o := range l.lost {
			result.Counted++
			from := o.Call.Add(-r.TTL - aftermath)
			if grant := granted[holdOf(o)]; grant != nil && o.Call < o.Deadline { // somebody has taken it away
				from = max(from, grant.Call.Add(-told))
			}
			switch {
			case r.mayHaveEnded(from, o.Call, o):
			case strings.Contains(o.Reason, silence):
				silent++
			default:
				result.violate(o.Call, l.name, "%s was told that hold %d is lost (%s), and no fault explains it", o.Client, o.Hold, o.Reason)
			}
		}
	}
	if silent == 0 {
		return
	}
	// A machine that has too much to do is slower than 2 s now and then.
	result.Note = fmt.Sprintf("%d of %d holds were lost beside any fault since no member answered in time: is the machine busy?", silent, grants)
	if silent*100 > grants {
		result.violate(0, "", "%s", result.Note)
	}
}

// granted is the acquisitions of a lock by the hold that they began.
func (l *lock) granted() map[hold]*op {
	granted := map[hold]*op{}
	for _, o := range l.grants {
		granted[hold{o.Client, o.ID}] = o
	}
	return granted
}
