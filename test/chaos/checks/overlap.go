package checks

import (
	"cmp"
	"slices"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

func overlapCheck() check {
	return check{
		name: "nobody holds beside another",
		what: "a holder has given back its lock, or was told of its loss, at most 500 ms after the next one was granted it (3 s when processors are taken away), " +
			"unless it stands still then, or a fault takes claims away from under live holders",
		look: overlaps,
		possible: func(r *run) bool {
			return slices.ContainsFunc(r.locks, func(l *lock) bool { return len(l.grants) > 0 })
		},
	}
}

// span is how long a client took a lock for its own.
type span struct {
	grant    *op
	from, to history.Time
}

func overlaps(r *run, result *Result) {
	last := r.lastWords()
	for _, l := range r.locks {
		var earlier []span // that may last on
		for _, s := range l.spans(last) {
			result.Counted++
			earlier = slices.DeleteFunc(earlier, func(e span) bool { return e.to <= s.from })
			for _, e := range earlier {
				if shared(e.grant) && shared(s.grant) {
					continue
				}
				if late := e.to.Sub(s.from); late > noticing && !r.excusedOverlap(e, late) {
					result.violate(s.from, l.name, "%s was granted token %d, and %s, granted token %d, held on for %s",
						s.grant.Name(), s.grant.Token, e.grant.Name(), e.grant.Token, seconds(late))
				}
			}
			earlier = append(earlier, s)
		}
	}
}

// lastWords is when each life of a client was last heard of.
func (r *run) lastWords() map[string]history.Time {
	last := map[string]history.Time{}
	for i := range r.Ops {
		o := &r.Ops[i]
		last[o.Client] = max(last[o.Client], o.Call)
		if o.Return != history.Never {
			last[o.Client] = max(last[o.Client], o.Return)
		}
	}
	return last
}

// spans is a lock's holds, in the order of their grants. A hold that has no end lasts
// until its client was last heard of.
func (l *lock) spans(last map[string]history.Time) []span {
	var all []span
	for _, o := range l.grants {
		s := span{grant: o, from: o.Return, to: last[o.Client]}
		own := hold{o.Client, o.ID}
		for _, end := range []*op{l.ends[own], l.given[own]} {
			if end != nil {
				s.to = min(s.to, end.Call)
			}
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return all
}

// excusedOverlap reports whether a fault says why a holder did not know for so long
// that another had followed it. Whose claim was taken away knows it by its deadline.
func (r *run) excusedOverlap(s span, late time.Duration) bool {
	taken := r.during(s.from, s.to, func(f *history.Fault) bool {
		return f.Cost.Rollback == "kv" || f.Group == "lock" && late <= r.TTL+noticing
	})
	return taken || r.during(s.to.Add(-noticing), s.to, func(f *history.Fault) bool {
		if f.Group == "cpu" {
			return late <= noticingStarved
		}
		return f.Cost.Pauses && victim(f, s.grant.Client)
	})
}
