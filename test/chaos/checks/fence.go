package checks

import (
	"slices"

	"github.com/fencelock/fencelock/test/chaos/history"
)

func fenceCheck() check {
	return check{
		name: "no operation admitted below an admitted token",
		what: "once a guard has admitted a token, for a read or a write, it admits nothing with a lower one; " +
			"after a restore, nothing with a token from before it",
		look:     fences,
		possible: fencedData,
	}
}

func fencedData(r *run) bool {
	return slices.ContainsFunc(r.locks, func(l *lock) bool { return l.fenced() && len(l.data) > 0 })
}

func fences(r *run, result *Result) {
	for _, l := range r.locks {
		if l.fenced() {
			result.fence(l, r.rollbacks(l.target))
		}
	}
}

// fence follows the highest token that one guard has admitted.
func (result *Result) fence(l *lock, rollbacks []*history.Fault) {
	admitted := only(l.data, func(o *op) bool { return acknowledged(o) && !shared(o) && o.Token != 0 })
	done := slices.Clone(admitted)
	slices.SortFunc(done, byReturn)
	var highest int64
	var by string
	next, all := 0, rollbacks
	for _, o := range admitted {
		for len(rollbacks) > 0 && rollbacks[0].Healed < o.Call {
			highest, by = after(l, done, rollbacks[0])
			for next < len(done) && done[next].Return <= rollbacks[0].Healed {
				next++
			}
			rollbacks = rollbacks[1:]
		}
		for ; next < len(done) && done[next].Return < o.Call; next++ {
			if d := done[next]; d.Token > highest && !within(all, d) {
				highest, by = d.Token, d.Name()
			}
		}
		if within(all, o) {
			continue
		}
		result.Counted++
		if o.Token < highest {
			result.violate(o.Return, l.name, "%s %s with token %d was admitted, and %s had raised the fence to %d", o.Name(), o.Kind, o.Token, by, highest)
		}
	}
}

// within reports whether the operation may have been done before or after its target
// went back: nobody can tell.
func within(rollbacks []*history.Fault, o *op) bool {
	return slices.ContainsFunc(rollbacks, func(f *history.Fault) bool { return o.Call <= f.Healed && o.Return >= f.Begin })
}

// after is the fence that must stand when a fault that lets its target go back is healed.
// The lock service itself comes back with fences above every token from before; others
// with what they had at the moment that they may have gone back to.
func after(l *lock, done []*op, f *history.Fault) (highest int64, by string) {
	if l.target == "kv" {
		for _, o := range l.grants {
			if o.Return < f.Begin && o.Token+1 > highest {
				highest, by = o.Token+1, f.Kind
			}
		}
		return highest, by
	}
	for _, o := range done {
		if o.Return < since(f) && o.Token > highest {
			highest, by = o.Token, o.Name()
		}
	}
	return highest, by
}
