package bootstrap

import "maps"

// Step is what a member does next.
type Step int

const (
	Wait   Step = iota // ask again
	Decide             // write Action.Decision, and answer with it from then on
	Start              // start etcd under one's decision
	Refuse             // end with Action.Err
)

// Action is a step and what belongs to it.
type Action struct {
	Step     Step
	Decision *Decision
	Err      error
}

// Next decides from what the member itself would answer and what it has heard
// from each other one since it started. What it heard may be old. clusterID returns
// the id of etcd's cluster under a decision.
func Next(self Answer, heard map[string]Heard, clusterID func(Decision) string) Action {
	if self.Ran {
		return refuse(lostData(self))
	}
	if self.Decision != nil && running(heard, clusterID(*self.Decision)) {
		return Action{Step: Start}
	}
	if err := hasRun(self, heard); err != nil {
		return refuse(err)
	}
	if err := disagreement(self, heard); err != nil {
		return refuse(err)
	}
	if self.Decision == nil {
		return undecided(self, heard)
	}
	return decided(self, heard)
}

func refuse(err error) Action { return Action{Step: Refuse, Err: err} }

func running(heard map[string]Heard, cluster string) bool {
	for _, h := range heard {
		if h.Cluster == cluster {
			return true
		}
	}
	return false
}

// undecided is round 1.
func undecided(self Answer, heard map[string]Heard) Action {
	stranger := ""
	for member, h := range sortedByMember(heard) {
		switch {
		case h.Answer == nil || h.Answer.Decision == nil:
		case adoptable(self, *h.Answer.Decision):
			return Action{Step: Decide, Decision: h.Answer.Decision}
		default:
			stranger = member
		}
	}
	switch {
	case anySilent(heard):
		return Action{Step: Wait}
	case stranger != "":
		return refuse(interrupted(self, stranger))
	}
	d := decisionOf(self, heard)
	return Action{Step: Decide, Decision: &d}
}

// adoptable reports whether d is about this very folder, and about what it was
// asked to begin with.
func adoptable(self Answer, d Decision) bool {
	floor := d.Floor == self.Floor || self.FloorNow && d.Floor > self.Floor
	return d.Births[self.Member] == self.Birth && len(d.Births) == len(self.Peers) &&
		d.Cluster == self.Cluster && d.Snapshot == self.Snapshot && floor
}

func decisionOf(self Answer, heard map[string]Heard) Decision {
	d := Decision{Cluster: self.Cluster, Snapshot: self.Snapshot, Floor: self.Floor}
	d.Births = map[string]string{self.Member: self.Birth}
	for member, h := range heard {
		d.Births[member] = h.Answer.Birth
		d.Floor = max(d.Floor, h.Answer.Floor)
	}
	return d
}

// decided is round 2.
func decided(self Answer, heard map[string]Heard) Action {
	stranger, shown := "", 0
	for member, h := range sortedByMember(heard) {
		switch a := h.Answer; {
		case a == nil:
		case a.Decision != nil && a.Decision.Equal(*self.Decision):
			shown++
		case a.Decision != nil || a.Birth != self.Decision.Births[member]:
			stranger = member
		}
	}
	switch {
	case shown == len(heard):
		return Action{Step: Start}
	case stranger != "" && !anySilent(heard):
		return refuse(interrupted(self, stranger))
	}
	return Action{Step: Wait}
}

func anySilent(heard map[string]Heard) bool {
	for h := range maps.Values(heard) {
		if h.silent() {
			return true
		}
	}
	return false
}
