package checks

import (
	"slices"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

const (
	// patience is how long a lock may be granted to nobody although it is waited for. A
	// holder may be busy for as long: some operations take 5 s to fail.
	patience = 15 * time.Second
	// elsewhere is how many grants of other locks tell that there was service.
	elsewhere = 20
)

func stuckCheck() check {
	return check{
		name:     "no lock is stuck",
		what:     "a lock that somebody waits for is granted to somebody within 15 s, as long as other locks are granted",
		look:     stuck,
		possible: func(r *run) bool { return len(r.locks) > 0 },
	}
}

func stuck(r *run, result *Result) {
	var all []*op
	for _, l := range r.locks {
		all = append(all, l.grants...)
	}
	slices.SortFunc(all, byReturn)
	for _, l := range r.locks {
		own := slices.Clone(l.grants)
		slices.SortFunc(own, byReturn)
		var told history.Time // until when a violation was told
		for _, o := range l.acquires {
			result.Counted++
			end := o.Call.Add(patience)
			if o.Return < end || o.Return == history.Never || o.Call < told || between(own, o.Call, end) > 0 || between(all, o.Call, end) < elsewhere {
				continue
			}
			told = end
			result.violate(o.Call, l.name, "%s waited, and for %s nobody was granted the lock, while others were granted %d times",
				o.Name(), seconds(patience), between(all, o.Call, end))
		}
	}
}

// between counts the operations, sorted by their returns, that returned in a time.
func between(ops []*op, from, to history.Time) int {
	search := func(t history.Time) int {
		n, _ := slices.BinarySearchFunc(ops, t, func(o *op, t history.Time) int {
			if o.Return <= t {
				return -1
			}
			return 1
		})
		return n
	}
	return search(to) - search(from)
}
