package checks

import (
	"fmt"
	"slices"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// Loss is what became of a target's acknowledged writes.
type Loss struct {
	Target       string
	Acknowledged int
	Lost         int
	Stated       int // lost as a fault has stated before; not in Lost
}

// Losses counts, per target, the acknowledged writes that are lost.
func Losses(in Input) []Loss {
	_, losses := account(newRun(in))
	return losses
}

func lostCheck() check {
	return check{
		name: "nothing acknowledged is lost or reordered",
		what: "behind a fence, every acknowledged write is part of what the last reader finds, in the order of the tokens, " +
			"and every read shows all that was acknowledged before it",
		look: func(r *run, result *Result) {
			found, losses := account(r)
			result.Counted, result.Wrong, result.Violations = found.Counted, found.Wrong, found.Violations
			for _, l := range losses {
				if l.Target != history.Control && l.Acknowledged == 0 && r.asksForWrites(l.Target) {
					result.violate(0, "", "no write of %s was acknowledged", l.Target)
				}
				result.Note += fmt.Sprintf("%s: %d acknowledged, %d lost, %d lost as stated; ", l.Target, l.Acknowledged, l.Lost, l.Stated)
			}
		},
		possible: fencedData,
	}
}

// fewWrites may all fail.
const fewWrites = 10

// asksForWrites reports whether more than a few writes to a target were tried.
func (r *run) asksForWrites(target string) bool {
	n := 0
	for _, l := range r.locks {
		if l.target == target {
			n += len(only(l.data, (*op).Write))
		}
	}
	return n > fewWrites
}

// ledger collects what became of writes. Of the control, losses are counted and are
// no violation.
type ledger struct {
	Result
	Loss
	fenced    bool
	lock      string
	rollbacks []*history.Fault
}

func account(r *run) (Result, []Loss) {
	var result Result
	var losses []Loss
	for _, l := range r.locks {
		g := &ledger{fenced: l.fenced(), lock: l.name, rollbacks: r.rollbacks(l.target)}
		if l.workload == "set" {
			g.set(l.data)
		} else {
			for _, reg := range registers(l) {
				g.register(reg)
			}
			g.sums(l)
		}
		if g.fenced {
			result.Counted += g.Counted
		}
		result.Wrong += g.Wrong
		result.Violations = append(result.Violations, g.Violations...)
		i := slices.IndexFunc(losses, func(s Loss) bool { return s.Target == l.target })
		if i < 0 {
			i, losses = len(losses), append(losses, Loss{Target: l.target})
		}
		losses[i].Acknowledged += g.Acknowledged
		losses[i].Lost += g.Lost
		losses[i].Stated += g.Stated
	}
	result.Violations = result.Violations[:min(len(result.Violations), kept)]
	return result, losses
}

func (g *ledger) wrong(o *op, format string, args ...any) {
	if g.fenced {
		g.violate(o.Call, g.lock, "%s %s", o.Name(), fmt.Sprintf(format, args...))
	}
}

// lose counts an acknowledged write that is not there.
func (g *ledger) lose(o *op, format string, args ...any) {
	if stated(g.rollbacks, o) {
		g.Stated++
		return
	}
	g.Lost++
	g.wrong(o, format, args...)
}

// sums looks whether all balances together are what they were.
func (g *ledger) sums(l *lock) {
	if l.workload != "bank" {
		return
	}
	var first *op
	for _, o := range l.data {
		if o.Kind != history.List || !acknowledged(o) || o.Seen == "" {
			continue
		}
		g.Counted++
		if first == nil {
			first = o
		}
		if o.Sum != first.Sum {
			g.wrong(o, "has read a sum of %d, and %s had read %d", o.Sum, first.Name(), first.Sum)
		}
	}
}
