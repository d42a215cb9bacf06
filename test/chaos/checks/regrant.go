package checks

import (
	"slices"
	"strings"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// handover is what a dead holder's lock may take beyond its TTL and an election.
const handover = 1500 * time.Millisecond

func regrantCheck() check {
	return check{
		name: "a dead holder's lock is granted again in time",
		what: "a lock whose holder was killed is granted to a waiter within TTL + election + 1.5 s, if no other fault is at work",
		look: regrants,
		possible: func(r *run) bool { // one or two may have had nobody behind them
			n := 0
			for _, f := range r.lonelyKills() {
				if r.quiet(f) > f.Begin.Add(r.bound()) {
					n += len(r.dead(f))
				}
			}
			return n > 2
		},
	}
}

func (r *run) bound() time.Duration { return r.TTL + r.Election + handover }

// lonelyKills is the faults that killed clients when no other was at work, and traffic
// was served again after those before.
func (r *run) lonelyKills() []*history.Fault {
	var some []*history.Fault
	for i := range r.Faults {
		f := &r.Faults[i]
		before := slices.ContainsFunc(r.Faults[:i], func(o history.Fault) bool { return max(o.Healed, o.End) >= f.Begin })
		if kills(f) && !before {
			some = append(some, f)
		}
	}
	return some
}

// quiet is until when no other fault begins.
func (r *run) quiet(f *history.Fault) history.Time {
	for i := range r.Faults {
		if o := &r.Faults[i]; o != f && o.Begin >= f.Begin {
			return o.Begin
		}
	}
	return history.Never
}

func regrants(r *run, result *Result) {
	for _, f := range r.lonelyKills() {
		limit, quiet := f.Begin.Add(r.bound()), r.quiet(f)
		for _, g := range r.dead(f) {
			at, wanted := g.next(f, limit)
			if !wanted || at > quiet && limit > quiet { // the other fault may be the reason
				continue
			}
			result.Counted++
			if at > limit {
				result.violate(f.Begin, g.lock.name, "%s was killed as its holder (token %d), and %s", g.op.Client, g.op.Token, when(at, f.Begin))
			}
		}
	}
}

func when(at, begin history.Time) string {
	if at == history.Never {
		return "nobody was granted it any more"
	}
	return "the next was granted it only " + seconds(at.Sub(begin)) + " later"
}

// dead is the holds that were open when a fault killed their clients.
func (r *run) dead(f *history.Fault) []grant {
	var dead []grant
	for _, name := range clientsAmong(f) {
		var last *life // of those that had begun
		for _, p := range r.lives[name] {
			if p.began <= f.Begin {
				last = p
			}
		}
		if last == nil {
			continue
		}
		for _, g := range last.grants {
			if g.op.Return <= f.Begin && !shared(g.op) && g.open(f.Begin) {
				dead = append(dead, g)
			}
		}
	}
	return dead
}

// open reports whether a hold had neither been given back nor lost.
func (g grant) open(at history.Time) bool {
	own := hold{g.op.Client, g.op.ID}
	if end := g.lock.ends[own]; end != nil && end.Call <= at {
		return false
	}
	return g.lock.given[own] == nil
}

// next is when another was granted the lock, if somebody waited for it all the time.
func (g grant) next(f *history.Fault, limit history.Time) (at history.Time, wanted bool) {
	at = history.Never
	for _, o := range g.lock.acquires {
		if o.Return <= f.Begin || slices.ContainsFunc(f.Victims, func(v string) bool { return strings.HasPrefix(o.Client, v+".") }) {
			continue
		}
		if acknowledged(o) {
			at = min(at, o.Return)
		}
		wanted = wanted || o.Call < f.Begin && (acknowledged(o) || o.Return > limit)
	}
	return at, wanted
}
