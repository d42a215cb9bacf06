package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// update is an acknowledged write to a counter and what became of it.
type update struct {
	op     *history.Op
	fate   string      // kept, lost, stated
	winner *history.Op // of a lost one: the write that took its place; nil: not known
}

// The fates, which are classes of the style sheet too.
const (
	kept   = "kept"
	lost   = "lost-update"
	stated = "stated" // lost, as a fault had stated that it may be
)

// counterOf follows a counter back from what was read last: each write names the one
// that it replaced. An acknowledged write that is not on the way has left no trace.
func (s *scene) counterOf(lock string) []update {
	puts := map[string]*history.Op{}
	after := map[string]*history.Op{} // the write that followed, on the way
	var last string
	var acknowledged []*history.Op
	for i := range s.Ops {
		o := &s.Ops[i]
		if o.Lock != lock {
			continue
		}
		switch {
		case o.Kind == history.Put && o.Effective():
			puts[o.Value] = o
			if o.Outcome == history.OK {
				acknowledged = append(acknowledged, o)
				last = o.Value
			}
		case o.Kind == history.Get && o.Outcome == history.OK && o.Seen != "":
			last = o.Seen
		}
	}
	way := map[string]bool{}
	for at := last; at != "" && puts[at] != nil && !way[at]; at = puts[at].Prev {
		way[at] = true
		after[puts[at].Prev] = puts[at]
	}
	updates := make([]update, 0, len(acknowledged))
	for _, o := range acknowledged {
		u := update{op: o, fate: kept}
		if !way[o.Value] {
			u.fate, u.winner = lost, after[o.Prev]
			if s.rolledBack(o) {
				u.fate = stated
			}
		}
		updates = append(updates, u)
	}
	return updates
}

// rolledBack reports whether a fault may have taken the write back.
func (s *scene) rolledBack(o *history.Op) bool {
	for _, f := range s.Faults {
		if f.Cost.Rollback == history.Target(o.Lock) && known(o) >= f.Cost.Since && o.Call <= served(f, s.End) {
			return true
		}
	}
	return false
}

// counterLocks is one counter of each target: the one with the most operations.
func (s *scene) counterLocks() []string {
	ops := map[string]int{}
	for i := range s.Ops {
		if o := &s.Ops[i]; o.Kind == history.Put && history.Workload(o.Lock) == "counter" {
			ops[o.Lock]++
		}
	}
	var locks []string
	for _, t := range s.targets {
		best := ""
		for l, n := range ops {
			if history.Target(l) == t && (n > ops[best] || n == ops[best] && l < best) {
				best = l
			}
		}
		if best != "" {
			locks = append(locks, best)
		}
	}
	return locks
}

// counters draws for each target the acknowledged updates of a counter over time,
// lost ones on top.
func (s *scene) counters() template.HTML {
	locks := s.counterLocks()
	if len(locks) == 0 {
		return ""
	}
	const height, gap, figures = 54.0, 16.0, 150.0
	a := axis{from: s.Start, to: s.End, left: leftMargin, width: fullWidth - leftMargin - figures}
	var g svg
	s.drawAxis(&g, a, axisHeight+float64(len(locks))*(height+gap), false)
	y := axisHeight + 4
	for _, lock := range locks {
		updates := s.counterOf(lock)
		s.drawUpdates(&g, a, y, height, lock, updates)
		y += height + gap
	}
	return g.done(fullWidth, y, "acknowledged updates of counters, kept and lost")
}

func (s *scene) drawUpdates(g *svg, a axis, y, h float64, lock string, updates []update) {
	const wide = 5.0
	n := int(a.width / wide)
	counts := map[string][]int{kept: make([]int, n), lost: make([]int, n), stated: make([]int, n)}
	total := map[string]int{}
	sums := make([]int, n)
	top := 1
	for _, u := range updates {
		b := a.bin(u.op.Call, n)
		counts[u.fate][b]++
		total[u.fate]++
		sums[b]++
		top = max(top, sums[b])
	}
	clear(sums)
	for _, fate := range []string{kept, stated, lost} {
		var d strings.Builder
		for i, c := range counts[fate] {
			if c > 0 {
				d.WriteString(box(a.left+float64(i)*a.width/float64(n), y+h-float64(sums[i]+c)/float64(top)*h, wide-1, float64(c)/float64(top)*h))
			}
			sums[i] += c
		}
		class := fate
		if fate == kept {
			class = targetClass(history.Target(lock))
		}
		g.path(class, d.String(), "")
	}
	g.line("base", a.left, y+h, a.left+a.width, y+h)
	g.text("lane end", a.left-8, y+h/2+4, history.Target(lock))
	x := a.left + a.width + 12
	g.text("big", x, y+h/2, fmt.Sprintf("%.1f %% lost", percent(total[lost], len(updates))))
	words := fmt.Sprintf("%s of %s", count(total[lost]), count(len(updates)))
	if total[stated] > 0 {
		words += fmt.Sprintf(", %s as stated", count(total[stated]))
	}
	g.text("small", x, y+h/2+14, words)
}
