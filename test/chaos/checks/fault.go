package checks

import (
	"slices"
	"strings"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// What a fault says of itself: whom it has struck, when, and what it may cost.

// victim reports whether a client, in any of its lives, is among a fault's victims.
func victim(f *history.Fault, client string) bool {
	name, _, _ := strings.Cut(client, ".")
	return slices.Contains(f.Victims, name) || slices.Contains(f.Victims, client)
}

// during reports whether a fault that is asked for overlaps with from … to.
func (r *run) during(from, to history.Time, asked func(*history.Fault) bool) bool {
	for i := range r.Faults {
		f := &r.Faults[i]
		if f.Begin > to {
			return false
		}
		if f.Healed >= from && asked(f) {
			return true
		}
	}
	return false
}

// kills reports whether a fault takes clients away.
func kills(f *history.Fault) bool {
	return strings.Contains(f.Kind, "kill -9") && len(clientsAmong(f)) > 0
}

// clientsAmong is the clients among a fault's victims.
func clientsAmong(f *history.Fault) []string {
	var names []string
	for _, v := range f.Victims {
		if strings.HasPrefix(v, "c") && !strings.Contains(v, "/") { // "control/…" is a lock
			names = append(names, v)
		}
	}
	return names
}

// mayEnd reports whether a fault has stated that it may end the session behind a hold.
func mayEnd(f *history.Fault, o *op) bool {
	if len(clientsAmong(f)) > 0 {
		return f.Cost.Sessions && victim(f, o.Client)
	}
	return f.Cost.Sessions || f.Cost.Rollback == "kv"
}

// mayHaveEnded reports whether faults of a time have stated that they may end the session
// behind a hold; or two of them struck members, who may have been no majority then.
func (r *run) mayHaveEnded(from, to history.Time, o *op) bool {
	round := 0 // of a fault that strikes members
	return r.during(from, to, func(f *history.Fault) bool {
		second := strikesMembers(f) && f.Round == round
		if strikesMembers(f) {
			round = f.Round
		}
		return second || mayEnd(f, o)
	})
}

// strikesMembers reports whether a fault takes members away, or the ways to them: a clock
// that is wrong takes nothing.
func strikesMembers(f *history.Fault) bool {
	return f.Group != "clock" && slices.ContainsFunc(f.Victims, func(v string) bool { return strings.HasPrefix(v, "m") && !strings.Contains(v, "/") })
}

// alone reports whether no other fault is in the same round.
func (r *run) alone(f *history.Fault) bool {
	n := 0
	for i := range r.Faults {
		if r.Faults[i].Round == f.Round {
			n++
		}
	}
	return n == 1
}

// rollbacks is the faults that let a target go back.
func (r *run) rollbacks(target string) []*history.Fault {
	var some []*history.Fault
	for i := range r.Faults {
		if r.Faults[i].Cost.Rollback == target {
			some = append(some, &r.Faults[i])
		}
	}
	return some
}

// since is the earliest moment that the fault may have gone back to.
func since(f *history.Fault) history.Time {
	if f.Cost.Since == 0 {
		return f.Begin
	}
	return f.Cost.Since
}

// stated reports whether a fault has said that the write may be lost.
func stated(rollbacks []*history.Fault, o *op) bool {
	for _, f := range rollbacks {
		if o.Return >= since(f) && o.Call <= f.Healed {
			return true
		}
	}
	return false
}

// stoodStill reports whether the client was stopped, or had just been woken.
func (r *run) stoodStill(o *op) bool {
	return r.during(o.Call.Add(-noticing), o.Call, func(f *history.Fault) bool { return f.Cost.Pauses && victim(f, o.Client) })
}
