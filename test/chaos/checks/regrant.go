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
		possible: func(r *run) bool {
			return slices.ContainsFunc(r.Faults, func(f history.Fault) bool { return kills(&f) && len(r.dead(&f)) > 0 })
		},
	}
}

func regrants(r *run, result *Result) {
	bound := r.TTL + r.Election + handover
	for i := range r.Faults {
		f := &r.Faults[i]
		limit := f.Begin.Add(bound)
		if !kills(f) || r.during(f.Begin.Add(-r.TTL), limit, func(o *history.Fault) bool { return o != f }) {
			continue
		}
		for _, d := range r.dead(f) {
			at, wanted := d.next(f, limit)
			if !wanted {
				continue
			}
			result.Counted++
			if at > limit {
				result.violate(f.Begin, d.lock.name, "%s was killed as its holder (token %d), and %s", d.grant.Client, d.grant.Token, when(at, f.Begin))
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

// death is a hold whose client was killed.
type death struct {
	lock  *lock
	grant *op
}

// dead is the holds that were open when a fault killed their clients.
func (r *run) dead(f *history.Fault) []death {
	var dead []death
	for _, name := range killed(f) {
		life := r.life(name, f.Begin)
		for _, l := range r.locks {
			for _, o := range l.grants {
				if o.Client == life && o.Return <= f.Begin && !shared(o) && l.open(o, f.Begin) {
					dead = append(dead, death{l, o})
				}
			}
		}
	}
	return dead
}

// life is the name of the process that a client was at a moment: the last that began.
func (r *run) life(name string, at history.Time) string {
	life := ""
	for _, l := range r.locks {
		for _, o := range l.acquires {
			if o.Call > at {
				break
			}
			if strings.HasPrefix(o.Client, name+".") && longer(o.Client, life) {
				life = o.Client
			}
		}
	}
	return life
}

// longer orders the names of a client's lives: c3.9 before c3.10.
func longer(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

// open reports whether a hold had neither been given back nor lost.
func (l *lock) open(grant *op, at history.Time) bool {
	if end := l.ends[hold{grant.Client, grant.ID}]; end != nil && end.Call <= at {
		return false
	}
	return l.given[hold{grant.Client, grant.ID}] == nil
}

// next is when another was granted the lock, if somebody waited for it all the time.
func (d death) next(f *history.Fault, limit history.Time) (at history.Time, wanted bool) {
	at = history.Never
	for _, o := range d.lock.acquires {
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
