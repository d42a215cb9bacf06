package checks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

type op = history.Op

// run is the input, sorted by lock.
type run struct {
	Input
	locks  []*lock
	leaks  []*op
	values map[string]*op     // the write that has left an identity
	lives  map[string][]*life // of each client, "c3", the first first
}

// life is one process of a client.
type life struct {
	name   string // "c3.1"
	began  history.Time
	grants []grant
}

type grant struct {
	lock *lock
	op   *op
}

// lock is what was done under one lock; each slice is in the order of the calls.
type lock struct {
	name, target, workload string
	acquires               []*op // all that were asked for
	grants                 []*op // those that are known to have been granted
	lost, data             []*op
	ends                   map[hold]*op // the first Lost of a hold
	given                  map[hold]*op // its Release
}

// hold is one acquisition by one client.
type hold struct {
	client string
	id     int
}

func (l *lock) fenced() bool { return l.target != history.Control }

func holdOf(o *op) hold { return hold{o.Client, o.Hold} }

func newRun(in Input) *run {
	r := &run{Input: in, values: map[string]*op{}, lives: map[string][]*life{}}
	if !slices.IsSortedFunc(in.Ops, byCall) {
		r.Ops = slices.Clone(in.Ops)
		slices.SortStableFunc(r.Ops, byCall)
	}
	r.Faults = slices.Clone(in.Faults)
	slices.SortStableFunc(r.Faults, func(a, b history.Fault) int { return cmp.Compare(a.Begin, b.Begin) })
	byName := map[string]*lock{}
	for i := range r.Ops {
		o := &r.Ops[i]
		if o.Kind == history.Leaks {
			r.leaks = append(r.leaks, o)
			continue
		}
		if o.Value != "" && o.Write() && o.Kind != history.Delete {
			r.values[o.Value] = o
		}
		l := byName[o.Lock]
		if l == nil {
			l = &lock{name: o.Lock, target: history.Target(o.Lock), workload: history.Workload(o.Lock), ends: map[hold]*op{}, given: map[hold]*op{}}
			byName[o.Lock] = l
			r.locks = append(r.locks, l)
		}
		l.add(o)
		if o.Kind == history.Acquire {
			r.live(l, o)
		}
	}
	slices.SortFunc(r.locks, func(a, b *lock) int { return strings.Compare(a.name, b.name) })
	return r
}

// live takes note of whose acquisition it was.
func (r *run) live(l *lock, o *op) {
	client, _, _ := strings.Cut(o.Client, ".")
	i := slices.IndexFunc(r.lives[client], func(p *life) bool { return p.name == o.Client })
	if i < 0 {
		i = len(r.lives[client])
		r.lives[client] = append(r.lives[client], &life{name: o.Client, began: o.Call})
	}
	if acknowledged(o) {
		p := r.lives[client][i]
		p.grants = append(p.grants, grant{l, o})
	}
}

func (l *lock) add(o *op) {
	switch {
	case o.Kind == history.Acquire:
		l.acquires = append(l.acquires, o)
		if o.Outcome == history.OK {
			l.grants = append(l.grants, o)
		}
	case o.Kind == history.Lost:
		l.lost = append(l.lost, o)
		if l.ends[holdOf(o)] == nil {
			l.ends[holdOf(o)] = o
		}
	case o.Kind == history.Release:
		l.given[holdOf(o)] = o
	case o.Data():
		l.data = append(l.data, o)
	}
}

func byCall(a, b op) int { return cmp.Compare(a.Call, b.Call) }

func byReturn(a, b *op) int { return cmp.Compare(a.Return, b.Return) }

func byToken(a, b *op) int {
	return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Return, b.Return))
}

// only is the operations that keep says yes to.
func only(ops []*op, keep func(*op) bool) []*op {
	var some []*op
	for _, o := range ops {
		if keep(o) {
			some = append(some, o)
		}
	}
	return some
}

func acknowledged(o *op) bool { return o.Outcome == history.OK }

// shared reports whether the operation is a shared holder's, which bears no token
// of its own to a fence.
func shared(o *op) bool { return o.Mode == history.Shared }

func seconds(d time.Duration) string { return d.Round(time.Millisecond).String() }
