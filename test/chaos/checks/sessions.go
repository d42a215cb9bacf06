package checks

import (
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// aftermath is how long after a fault was healed a session may still end by it: what
// its renewal had left, and what the client's next try takes.
const aftermath = 3 * time.Second

func sessionsCheck() check {
	return check{
		name: "nobody loses a lock without a reason",
		what: "whoever is told that its lock is lost was within reach of a fault that may cost sessions, " +
			"one of a client its own only, at most TTL + 3 s before",
		look:     sessions,
		possible: anyLost,
	}
}

func sessions(r *run, result *Result) {
	for _, l := range r.locks {
		for _, o := range l.lost {
			result.Counted++
			if !r.during(o.Call.Add(-r.TTL-aftermath), o.Call, func(f *history.Fault) bool { return mayEnd(f, o) }) {
				result.violate(o.Call, l.name, "%s was told that hold %d is lost (%s), and no fault explains it", o.Client, o.Hold, o.Reason)
			}
		}
	}
}

// mayEnd reports whether a fault has stated that it may end the session behind a hold.
func mayEnd(f *history.Fault, o *op) bool {
	if len(clientsAmong(f)) > 0 {
		return f.Cost.Sessions && victim(f, o.Client)
	}
	return f.Cost.Sessions || f.Cost.Rollback == "kv"
}
