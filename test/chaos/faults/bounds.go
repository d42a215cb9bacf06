//go:build linux

package faults

import (
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// The bounds that costs are made of: those of docs/operations.md, "When things go
// wrong", which the tests of faults hold for a cluster without other load.
const (
	// slack is for a loaded machine; it is part of each cost.
	slack = 3 * time.Second

	// anElection begins after 1 s to 2 s without a word from the leader.
	anElection = 2 * time.Second

	// aRequest is the longest that one without an answer takes.
	aRequest = 5 * time.Second

	// noticed is when a member that is cut off knows it and has sent away the
	// requests that wait there: within an election, and 1.5 more.
	noticed = 3500 * time.Millisecond

	// silence is how long a client keeps a connection on which nothing comes, though
	// the other side's system answers, and one request in between.
	silence = 13*time.Second + aRequest

	// aStart is that of all members, and an election.
	aStart = 2*time.Second + anElection

	// ttl is that of a client's session, in a run that is not told otherwise. A lock
	// whose holder died is free after it, and after half a second in which the
	// leader looks for leases that ended.
	ttl = 2*time.Second + 500*time.Millisecond

	// aRestore is three commands that stage a snapshot, a first start, in which the
	// members agree in two rounds, and a client's next try.
	aRestore = 10*time.Second + aStart + aRequest
)

// longer than a session lives without its client: what a pause must be to matter.
func (r *Run) longer() time.Duration { return max(ttl, r.TTL+500*time.Millisecond) + time.Second }

// CostWith is the kind's cost where sessions live for so long.
func (k Kind) CostWith(live time.Duration) history.Cost {
	cost := k.Cost
	cost.Service += max(0, live+500*time.Millisecond-ttl)
	return cost
}

// nothing is lost, and no session of who is not a victim.
func nothing(service time.Duration) history.Cost {
	return history.Cost{Service: service + slack, Words: "nothing"}
}

// sessions may be lost, but no write.
func sessions(service time.Duration) history.Cost {
	return history.Cost{Service: service + slack, Sessions: true, Words: "sessions, and nothing that was acknowledged"}
}

// pauses are sessions lost by clients that stand still meanwhile.
func pauses(service time.Duration) history.Cost {
	return history.Cost{Service: service + slack, Sessions: true, Pauses: true, Words: "sessions, whose holders learn it when they wake; nothing that was acknowledged"}
}

// rollback is writes to a target that are lost though they were acknowledged.
func rollback(target, words string, service time.Duration) history.Cost {
	return history.Cost{Service: service + slack, Sessions: true, Rollback: target, Words: words}
}
