package checks

import (
	"slices"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// element is what is known of one element of a set. Identities are added once.
type element struct {
	add      *op
	deletes  []*op
	from     history.Time // from when on every reader must see it, until it may be gone
	gone     history.Time // from when on no reader may see it
	survived int64        // the highest token that has seen it
	missed   bool         // a violation was told of it
	free     bool         // a fault has said that it may be lost, or come back
}

// mayBeGone reports whether a deletion may have been done before o returned. One of
// unknown outcome is not, once a higher token has seen the element.
func (e *element) mayBeGone(o *op) bool {
	for _, d := range e.deletes {
		if d.Call <= o.Return && (acknowledged(d) || d.Token >= e.survived) {
			return true
		}
	}
	return false
}

// set is the elements of one set.
type set struct {
	all  map[string]*element
	must map[string]*element // those that have a from, and are not known to be gone
	open map[string]*element // those of unknown outcome
}

// set looks whether each list shows what was added, and not what was deleted.
// An unknown outcome may be either; but once it was seen it stays so, and once a
// higher token has seen that it was not done, it is not done later.
func (g *ledger) set(ops []*op) {
	s := g.elements(ops)
	next := 0
	var last *op
	adds := only(ops, func(o *op) bool { return o.Kind == history.Add && o.Effective() })
	for _, o := range ops {
		if o.Kind != history.List || !acknowledged(o) {
			continue
		}
		for ; next < len(adds) && adds[next].Call < o.Call; next++ {
			e := s.all[adds[next].Value]
			switch {
			case e.free:
			case e.from != history.Never:
				s.must[e.add.Value] = e
			default:
				s.open[e.add.Value] = e
			}
		}
		g.Counted++
		g.listed(s, o)
		last = o
	}
	g.freed(s, last)
}

// freed counts what is lost as stated: what the last list does not show.
func (g *ledger) freed(s *set, last *op) {
	if last == nil {
		return
	}
	for value, e := range s.all {
		if e.free && e.from < last.Call && len(e.deletes) == 0 && !slices.Contains(last.Items, value) {
			g.Stated++
		}
	}
}

// elements reads every write of the set.
func (g *ledger) elements(ops []*op) *set {
	s := &set{all: map[string]*element{}, must: map[string]*element{}, open: map[string]*element{}}
	for _, o := range ops {
		if !o.Effective() {
			continue
		}
		if acknowledged(o) {
			g.Counted++
			g.Acknowledged++
		}
		e := s.all[o.Value]
		if e == nil {
			e = &element{from: history.Never, gone: history.Never}
			s.all[o.Value] = e
		}
		e.free = e.free || stated(g.rollbacks, o)
		e.take(o)
	}
	return s
}

func (e *element) take(o *op) {
	switch {
	case o.Kind == history.Delete:
		e.deletes = append(e.deletes, o)
		if acknowledged(o) {
			e.gone = min(e.gone, o.Return)
		}
	default:
		e.add = o
		if acknowledged(o) {
			e.from = o.Return
		}
	}
}

// listed compares one list with what is known, and learns from it.
func (g *ledger) listed(s *set, o *op) {
	shown := make(map[string]bool, len(o.Items))
	for _, item := range o.Items {
		if shown[item] {
			g.wrong(o, "has read %s twice", item)
		}
		shown[item] = true
		g.present(s, o, item)
	}
	for value, e := range s.must {
		if shown[value] || e.from >= o.Call {
			continue
		}
		if e.mayBeGone(o) { // and so it is: nobody adds it again
			e.gone = min(e.gone, o.Return)
			delete(s.must, value)
			continue
		}
		delete(s.must, value)
		g.miss(e, o)
	}
	for value, e := range s.open {
		if shown[value] || e.add.Token >= o.Token {
			continue
		}
		delete(s.open, value) // overtaken: it cannot come any more
		e.gone = min(e.gone, o.Return)
	}
}

// miss tells, once, that a list does not show an element that it must.
func (g *ledger) miss(e *element, o *op) {
	switch {
	case e.missed:
	case acknowledged(e.add):
		g.lose(e.add, "was acknowledged and is lost: %s has not read it", o.Name())
	default:
		g.wrong(e.add, "was read and is lost: %s has not read it", o.Name())
	}
	e.missed = true
}

// present takes note that a list shows an element.
func (g *ledger) present(s *set, o *op, item string) {
	e := s.all[item]
	if e == nil || e.add == nil || e.add.Call > o.Return {
		g.wrong(o, "has read %s, which nobody had added", item)
		return
	}
	if e.free {
		return
	}
	if e.gone < o.Call && !e.missed {
		e.missed = true
		g.Lost++
		g.wrong(o, "has read %s, which was gone", item)
	}
	e.survived = max(e.survived, o.Token)
	if e.from > o.Return {
		e.from = o.Return
		s.must[item] = e
		delete(s.open, item)
	}
}
