package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/model"
)

func modelsCheck() check {
	return check{
		name: "a claimer's read shows every earlier admitted write",
		what: "there is an order of all operations on each fenced register and list in which every read is right (porcupine)",
		look: func(r *run, result *Result) {
			var plain, lists []model.Op
			for _, l := range r.locks {
				if l.fenced() && l.workload != "set" {
					one, other := translate(l, r.rollbacks(l.target))
					plain, lists = append(plain, one...), append(lists, other...)
				}
			}
			result.model("registers", model.Register(plain, modelTime))
			result.model("lists", model.List(lists, modelTime))
		},
		possible: func(r *run) bool {
			return slices.ContainsFunc(r.locks, func(l *lock) bool { return l.fenced() && l.workload != "set" && len(l.data) > 0 })
		},
	}
}

// model adds what a model has found. That it could not tell in time is a failure too.
func (result *Result) model(name string, report model.Report) {
	if name != "mutex" { // whose grants are counted already
		result.Counted += report.Ops
	}
	result.Note += fmt.Sprintf("%s: %d operations in %d parts, the longest %d, in %s; ",
		name, report.Ops, report.Parts, report.Longest, seconds(report.Took))
	for _, f := range report.Findings {
		result.violate(history.Time(f.From), lockOf(f.Guard), "the model of %s says %s to %d operations on %s until %d",
			name, f.Verdict, f.Ops, f.Key, f.To)
	}
}

// translate brings one lock's operations into the model's words, registers and
// lists apart. Refused operations are left out: other checks look at them.
func translate(l *lock, rollbacks []*history.Fault) (plain, lists []model.Op) {
	ends := settled(l)
	for _, reg := range registers(l) {
		list := strings.HasPrefix(reg.key, "list/")
		for _, o := range reg.ops {
			m := describe(o, list)
			m.Guard, m.Key, m.Return = l.name, reg.key, int64(ends[o])
			if list {
				lists = append(lists, spread(m, rollbacks)...)
			} else {
				plain = append(plain, spread(m, rollbacks)...)
			}
		}
	}
	return begun(plain, rollbacks), begun(lists, rollbacks)
}

// settled is until when each operation may take effect. One of unknown outcome
// does so until its holder has called another that is then acknowledged.
func settled(l *lock) map[*op]history.Time {
	ends := make(map[*op]history.Time, len(l.data))
	next := map[hold]history.Time{} // the call of the next acknowledged operation
	for i := len(l.data) - 1; i >= 0; i-- {
		o := l.data[i]
		ends[o] = o.Return
		if o.Outcome == history.Unknown {
			ends[o] = history.Never
			if at, ok := next[holdOf(o)]; ok && at > o.Return {
				ends[o] = at - 1
			}
		}
		if acknowledged(o) {
			next[holdOf(o)] = o.Call
		}
	}
	return ends
}

func describe(o *op, list bool) model.Op {
	m := model.Op{Token: o.Token, Kind: model.Read, Call: int64(o.Call)}
	switch {
	case o.Write() && list:
		m.Kind, m.Value, m.Prev = model.Append, o.Value, o.Prev
	case o.Write():
		m.Kind, m.Value = model.Write, o.Value
	case list:
		m.Items = o.Items
	default:
		m.Value = o.Seen
	}
	if shared(o) {
		m.Token = 0
	}
	if !acknowledged(o) {
		m.Outcome = model.Unknown
	}
	return m
}

// spread puts an operation into the eras that it may belong to: a fault that lets the
// target go back ends one and begins another. What is in several has an unknown
// outcome in each; a read there tells nothing.
func spread(m model.Op, rollbacks []*history.Fault) []model.Op {
	first, last := 0, 0
	for _, f := range rollbacks {
		if int64(f.Healed) < m.Call {
			first++
		}
		if int64(f.Begin) <= m.Return {
			last++
		}
	}
	if first == last {
		m.Guard = era(m.Guard, first)
		return []model.Op{m}
	}
	if m.Kind == model.Read {
		return nil
	}
	var all []model.Op
	guard := m.Guard
	m.Outcome, m.Return = model.Unknown, model.Never
	for i := first; i <= last; i++ {
		m.Guard = era(guard, i)
		all = append(all, m)
	}
	return all
}

func era(guard string, n int) string {
	if n == 0 {
		return guard
	}
	return fmt.Sprintf("%s@%d", guard, n)
}

// begun puts before each history of a later era that its first state is not known.
func begun(ops []model.Op, rollbacks []*history.Fault) []model.Op {
	if len(rollbacks) == 0 {
		return ops
	}
	var starts []model.Op
	seen := map[[2]string]bool{}
	for _, o := range ops {
		if at := [2]string{o.Guard, o.Key}; strings.Contains(o.Guard, "@") && !seen[at] {
			seen[at] = true
			starts = append(starts, model.Op{Guard: o.Guard, Key: o.Key, Kind: model.Forget})
		}
	}
	return append(starts, ops...)
}

// lockOf is the lock that an era's guard stands for.
func lockOf(guard string) string {
	lock, _, _ := strings.Cut(guard, "@")
	return lock
}
