package checks

import (
	"cmp"
	"slices"

	"github.com/fencelock/fencelock/test/chaos/history"
)

func serviceCheck() check {
	return check{
		name: "service comes back in time",
		what: "after a fault that was alone, somebody is granted a lock again within the time that the fault has stated",
		look: service,
		possible: func(r *run) bool {
			return slices.ContainsFunc(r.Faults, func(f history.Fault) bool { return r.alone(&f) })
		},
	}
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

func service(r *run, result *Result) {
	var grants, asked []*op
	for _, l := range r.locks {
		grants, asked = append(grants, l.grants...), append(asked, l.acquires...)
	}
	slices.SortFunc(grants, byReturn)
	slices.SortFunc(asked, func(a, b *op) int { return cmp.Compare(a.Call, b.Call) })
	latest := make([]history.Time, len(asked)) // return of those asked for so far
	for i, o := range asked {
		latest[i] = max(o.Return, latest[max(0, i-1)])
	}
	for i := range r.Faults {
		f := &r.Faults[i]
		limit := f.Healed.Add(f.Cost.Service)
		if !r.alone(f) || !waited(asked, latest, f) {
			continue
		}
		result.Counted++
		next, _ := slices.BinarySearchFunc(grants, f.Begin, func(o *op, t history.Time) int { return cmp.Compare(o.Return, t) })
		if next == len(grants) {
			result.violate(f.Begin, "", "after %q nobody was granted a lock any more", f.Kind)
		} else if at := grants[next].Return; at > limit {
			result.violate(f.Begin, "", "after %q, healed %s after its beginning, the next grant came %s after that; stated are %s",
				f.Kind, seconds(f.Healed.Sub(f.Begin)), seconds(at.Sub(f.Healed)), seconds(f.Cost.Service))
		}
	}
}

// waited reports whether somebody asked for a lock while the fault lasted, or waited
// already when it began.
func waited(asked []*op, latest []history.Time, f *history.Fault) bool {
	n, _ := slices.BinarySearchFunc(asked, f.Healed+1, func(o *op, t history.Time) int { return cmp.Compare(o.Call, t) })
	return n > 0 && latest[n-1] > f.Begin
}
