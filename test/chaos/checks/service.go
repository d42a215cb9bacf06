package checks

import (
	"cmp"
	"slices"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

func serviceCheck() check {
	return check{
		name: "service comes back in time",
		what: "after a fault that was alone, somebody is granted a lock again within the time that the fault has stated, " +
			"and every lock that somebody waits for at most 5 s later",
		look: service,
		possible: func(r *run) bool {
			return slices.ContainsFunc(r.Faults, func(f history.Fault) bool { return r.alone(&f) })
		},
	}
}

// anOperation is the longest that a holder's takes that is not answered: it gives the
// lock back after that.
const anOperation = 5 * time.Second

func service(r *run, result *Result) {
	anywhere(r, result)
	for i := range r.Faults {
		if f := &r.Faults[i]; r.alone(f) {
			everywhere(r, f, result)
		}
	}
}

// everywhere looks at each lock that somebody waited for when the fault was healed.
func everywhere(r *run, f *history.Fault, result *Result) {
	limit := f.Healed.Add(f.Cost.Service + anOperation)
	for _, l := range r.locks {
		waited := slices.ContainsFunc(l.acquires, func(o *op) bool {
			return o.Call <= f.Healed && o.Return > f.Healed && (acknowledged(o) || o.Return > limit && o.Return != history.Never)
		})
		if !waited {
			continue
		}
		result.Counted++
		next := history.Never
		for _, o := range l.grants {
			if o.Return > f.Healed {
				next = min(next, o.Return)
			}
		}
		if next > limit {
			result.violate(f.Healed, l.name, "after %q was healed, somebody waited, and %s", f.Kind, when(next, f.Healed))
		}
	}
}

func anywhere(r *run, result *Result) {
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
