package checks

import (
	"cmp"
	"slices"
)

func unlockedCheck() check {
	return check{
		name: "who has unlocked did hold until then",
		what: "when an unlock is asked for that is acknowledged, nobody has been granted the lock yet who stands behind its holder and excludes it",
		look: unlocked,
		possible: func(r *run) bool {
			return slices.ContainsFunc(r.locks, func(l *lock) bool { return len(l.grants) > 0 })
		},
	}
}

// unlocks reports whether a grant's unlock was acknowledged.
func (l *lock) unlocks(grant *op) bool {
	o := l.given[hold{grant.Client, grant.ID}]
	return o != nil && acknowledged(o)
}

// unlocked knows no excuse: whoever has lost its lock, for whatever reason, is told that
// and no success.
func unlocked(r *run, result *Result) {
	for _, l := range r.locks {
		byToken := l.following(byToken)
		byCall := l.following(func(a, b *op) int { return cmp.Compare(a.Call, b.Call) })
		for _, grant := range only(l.grants, l.unlocks) {
			result.Counted++
			next := byToken.first(func(o *op) bool { return o.Token > grant.Token })
			if shared(grant) { // its token is not told
				next = byCall.first(func(o *op) bool { return o.Call > grant.Return })
			}
			if o := l.given[hold{grant.Client, grant.ID}]; next != nil && next.Return < o.Call {
				result.violate(o.Call, l.name, "%s has unlocked (token %d), and %s had been granted token %d %s before",
					o.Name(), grant.Token, next.Name(), next.Token, seconds(o.Call.Sub(next.Return)))
			}
		}
	}
}

// following is a lock's exclusive grants in some order.
type following struct {
	grants   []*op
	earliest []*op // which was the first to be granted, of each one and all behind it
}

func (l *lock) following(order func(a, b *op) int) following {
	f := following{grants: only(l.grants, func(o *op) bool { return !shared(o) })}
	slices.SortFunc(f.grants, order)
	f.earliest = slices.Clone(f.grants)
	for i := len(f.earliest) - 2; i >= 0; i-- {
		if f.earliest[i+1].Return < f.earliest[i].Return {
			f.earliest[i] = f.earliest[i+1]
		}
	}
	return f
}

// first is who was granted the lock first of those that are behind, which are the last
// in the order; nil: nobody is.
func (f following) first(behind func(*op) bool) *op {
	i, _ := slices.BinarySearchFunc(f.grants, true, func(o *op, _ bool) int {
		if behind(o) {
			return 0
		}
		return -1
	})
	if i == len(f.grants) {
		return nil
	}
	return f.earliest[i]
}
