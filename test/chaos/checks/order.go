package checks

import (
	"cmp"
	"slices"

	"github.com/fencelock/fencelock/test/chaos/history"
)

func orderCheck() check {
	return check{
		name: "first come, first served",
		what: "exclusive grants of a lock come in the order of their tokens, which are the places in its queue",
		look: order,
	}
}

func order(r *run, result *Result) {
	for _, l := range r.locks {
		grants := only(l.grants, func(o *op) bool { return !shared(o) })
		slices.SortFunc(grants, func(a, b *op) int { return cmp.Compare(a.Token, b.Token) })
		var before *op // that came last, of those with a lower token
		for _, o := range grants {
			result.Counted++
			if before != nil && o.Return < before.Return {
				if !r.interrupted(l, before, o) {
					result.violate(o.Return, l.name, "%s was granted token %d %s before %s was granted token %d",
						o.Name(), o.Token, seconds(before.Return.Sub(o.Return)), before.Name(), before.Token)
				}
				continue
			}
			before = o
		}
	}
}

// interrupted reports whether something explains that a came after b, although its
// token is lower: it was granted and could not be told, or lost what it had.
func (r *run) interrupted(l *lock, a, b *op) bool {
	from, to := min(a.Call, b.Call), a.Return
	for _, o := range l.lost {
		if o.Call >= from && o.Call <= to.Add(r.TTL) {
			return true
		}
	}
	return r.during(from, to, func(f *history.Fault) bool {
		touched := victim(f, a.Client) || victim(f, b.Client)
		return touched && (f.Cost.Pauses || kills(f)) || f.Group == "lock"
	})
}
