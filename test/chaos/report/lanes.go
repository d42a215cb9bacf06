package report

import (
	"strings"

	"github.com/fencelock/fencelock/test/chaos/history"
)

const (
	memberHeight = 9.0
	targetHeight = 5.0
	eventHeight  = 8.0
	heatBin      = 2.0 // units of width whose holds are drawn as one
)

// drawMembers draws what was done to each member, and returns where the lanes end.
func (s *scene) drawMembers(g *svg, a axis, y float64) float64 {
	for _, m := range s.members {
		g.text("lane end", a.left-8, y+8, m)
		g.rect("track", a.left, y+1, a.width, memberHeight-2, "")
		for _, f := range s.Faults {
			if end := healed(f, s.End); hits(f, m) && a.shows(f.Begin, end) {
				x := a.x(f.Begin)
				g.rect("fault "+groupClass(f.Group), x, y+1, max(a.x(end)-x, 2), memberHeight-2, s.faultTip(f))
			}
		}
		y += memberHeight + 3
	}
	if len(s.members) > 0 {
		y += 8
	}
	return y
}

// drawClients draws for each client its lives, what it held of each target, where it
// was refused, and what was done to it. It returns where the lanes end.
func (s *scene) drawClients(g *svg, a axis, y float64) float64 {
	heat := s.heat(a)
	refused, lost := s.marks(a)
	height := float64(len(s.targets))*targetHeight + eventHeight + 6
	for _, c := range s.clients {
		g.text("client end", a.left-8, y+height/2, short(c, 9))
		s.drawLives(g, a, c, y)
		top := y + 5
		for _, t := range s.targets {
			drawHeat(g, a, t, top, heat[c+" "+t])
			top += targetHeight
		}
		g.path("lost", ticks(a, lost[c], top+1, eventHeight-2), "")
		g.path("refused", ticks(a, refused[c], top+1, eventHeight-2), "")
		s.drawVictim(g, a, c, y, height)
		y += height + 7
	}
	return y
}

// drawLives draws a line while the process lived, and a bar where it ended otherwise
// than in good order.
func (s *scene) drawLives(g *svg, a axis, client string, y float64) {
	for _, l := range s.lives {
		if l.client != client || !a.shows(l.from, l.to) {
			continue
		}
		x := a.x(l.from)
		g.rect("life", x, y+1, max(a.x(l.to)-x, 1), 2, "")
		if !l.ended && l.to < a.to && l.to < s.End.Add(-s.TTL) {
			g.path("death", box(a.x(l.to)-1, y-1, 2, 6), l.name+" ended at "+clock(l.to.Sub(s.Start)))
		}
	}
}

// drawVictim marks what was done to the client: hatched while it was paused.
func (s *scene) drawVictim(g *svg, a axis, client string, y, h float64) {
	for _, f := range s.Faults {
		end := healed(f, s.End)
		if !hits(f, client) || !a.shows(f.Begin, end) {
			continue
		}
		x := a.x(f.Begin)
		class := "victim " + groupClass(f.Group)
		if f.Cost.Pauses {
			class += " paused"
		}
		g.rect(class, x, y, max(a.x(end)-x, 1.5), h, s.faultTip(f))
	}
}

// heat is how much of each bin each client held of each target: 1 is one lock, all of
// the time.
func (s *scene) heat(a axis) map[string][]float64 {
	n := int(a.width / heatBin)
	wide := float64(a.to-a.from) / float64(n)
	heat := map[string][]float64{}
	for i := range s.holds {
		h := &s.holds[i]
		if !a.shows(h.from, h.to) {
			continue
		}
		key := h.client + " " + h.target
		if heat[key] == nil {
			heat[key] = make([]float64, n)
		}
		from, to := max(h.from, a.from), min(h.to, a.to)
		for b := a.bin(from, n); b <= a.bin(to, n); b++ {
			begin := float64(a.from) + float64(b)*wide
			share := min(float64(to), begin+wide) - max(float64(from), begin)
			heat[key][b] += max(share/wide, 0.01)
		}
	}
	return heat
}

// drawHeat draws bins of the same strength as one bar; all bars of a strength are one
// path, which is what keeps the page small.
func drawHeat(g *svg, a axis, target string, y float64, heat []float64) {
	var d [3]strings.Builder
	wide := a.width / float64(max(len(heat), 1))
	for i := 0; i < len(heat); {
		n := i + 1
		for n < len(heat) && strength(heat[n]) == strength(heat[i]) {
			n++
		}
		if l := strength(heat[i]); l > 0 {
			d[l-1].WriteString(box(a.left+float64(i)*wide, y, float64(n-i)*wide, targetHeight-1))
		}
		i = n
	}
	for l, name := range []string{"weak", "some", "full"} {
		g.path(targetClass(target)+" "+name, d[l].String(), "")
	}
}

func strength(held float64) int {
	switch {
	case held == 0:
		return 0
	case held < 0.25:
		return 1
	case held < 0.75:
		return 2
	}
	return 3
}

// marks are the bins in which each client was refused, and in which it was told that
// it no longer holds.
func (s *scene) marks(a axis) (refused, lost map[string]map[int]bool) {
	refused, lost = map[string]map[int]bool{}, map[string]map[int]bool{}
	n := int(a.width / heatBin)
	near := s.near(a.from, a.to)
	for i := range near {
		o := &near[i]
		at := known(o)
		if at < a.from || at >= a.to {
			continue
		}
		into := refused
		switch {
		case o.Kind == history.Lost:
			into = lost
		case o.Outcome != history.Refused:
			continue
		}
		c := clientOf(o.Client)
		if into[c] == nil {
			into[c] = map[int]bool{}
		}
		into[c][a.bin(at, n)] = true
	}
	return refused, lost
}

func ticks(a axis, bins map[int]bool, y, h float64) string {
	n := int(a.width / heatBin)
	var d strings.Builder
	for i := range n {
		if bins[i] {
			d.WriteString(box(a.left+float64(i)*a.width/float64(n), y, heatBin, h))
		}
	}
	return d.String()
}
