package report

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// closeupMarks is how many operations a close-up shows at most.
const closeupMarks = 1500

// closeup draws who held one lock, and what was done under it, for a few seconds.
func (s *scene) closeup(m moment) template.HTML {
	a := axis{from: m.from, to: m.to, left: 52, width: halfWidth - 52 - 8}
	lives := s.livesAt(m)
	const lane = 30.0
	bottom := axisHeight + 2 + float64(len(lives))*lane
	var g svg
	s.drawMoments(&g, a, bottom)
	for i, name := range lives {
		y := axisHeight + 4 + float64(i)*lane
		g.text("client end", a.left-6, y+15, short(name, 8))
		g.rect("track", a.left, y, a.width, lane-6, "")
		s.drawPaused(&g, a, clientOf(name), y, lane-6)
		s.drawHeld(&g, a, m.lock, name, y+2, lane-10)
		s.drawStill(&g, a, clientOf(name), y, lane-6)
	}
	if m.at != 0 {
		g.line("alarm-line", a.x(m.at), axisHeight-4, a.x(m.at), bottom)
	}
	s.drawOperations(&g, a, m, lives, lane)
	s.drawCalled(&g, a, m, lives, lane)
	return g.done(halfWidth, bottom+2, m.title)
}

// drawMoments writes seconds of the run, in as many steps as there is room for.
func (s *scene) drawMoments(g *svg, a axis, bottom float64) {
	length := a.to.Sub(a.from).Seconds()
	step := 0.1
	for _, next := range []float64{0.2, 0.5, 1, 2, 5} {
		if length/step > 7 {
			step = next
		}
	}
	begin := a.from.Sub(s.Start).Seconds()
	for i := int(begin/step) + 1; float64(i)*step < begin+length; i++ {
		at := float64(i) * step
		x := a.left + a.width*(at-begin)/length
		if x > a.left+a.width-24 {
			break
		}
		g.line("grid", x, axisHeight-4, x, bottom)
		g.text("label middle", x, 12, fmt.Sprintf("%d:%04.1f", int(at)/60, at-float64(int(at)/60*60)))
	}
}

// livesAt are the processes that had to do with the lock then, at most eight.
func (s *scene) livesAt(m moment) []string {
	var names []string
	near := s.near(m.from, m.to)
	for i := range near {
		o := &near[i]
		if o.Lock == m.lock && o.Call <= m.to && known(o) >= m.from && !slices.Contains(names, o.Client) {
			names = append(names, o.Client)
		}
	}
	for i := range s.holds {
		h := &s.holds[i]
		if h.lock == m.lock && h.from <= m.to && h.to >= m.from && !slices.Contains(names, h.life) {
			names = append(names, h.life)
		}
	}
	slices.SortFunc(names, byNumber)
	return names[:min(len(names), 8)]
}

// drawPaused hatches what was done to the client, and says it where it fits.
func (s *scene) drawPaused(g *svg, a axis, client string, y, h float64) {
	for _, f := range s.Faults {
		end := healed(f, s.End)
		if !hits(f, client) || !a.shows(f.Begin, end) {
			continue
		}
		class := "victim " + groupClass(f.Group)
		if f.Cost.Pauses {
			class += " paused"
		}
		x := a.x(f.Begin)
		g.rect(class, x, y, max(a.x(end)-x, 1.5), h, s.faultTip(f))
	}
}

// drawStill hatches the holds too of a client that stands still.
func (s *scene) drawStill(g *svg, a axis, client string, y, h float64) {
	for _, f := range s.Faults {
		if end := healed(f, s.End); f.Cost.Pauses && hits(f, client) && a.shows(f.Begin, end) {
			x := a.x(f.Begin)
			g.rect("still", x, y, max(a.x(end)-x, 1.5), h, "")
		}
	}
}

func (s *scene) drawHeld(g *svg, a axis, lock, life string, y, h float64) {
	for i := range s.holds {
		b := &s.holds[i]
		if b.lock != lock || b.life != life || !a.shows(b.from, b.to) {
			continue
		}
		x := a.x(b.from)
		w := max(a.x(b.to)-x, 1)
		g.rect("held "+targetClass(b.target), x, y, w, h, fmt.Sprintf("%s held %s with token %d for %s; %s", life, lock, b.token, seconds(b.to.Sub(b.from)), endWords(b.end)))
		if token := count(int(b.token)); w > charWidth*float64(len(token))+8 {
			g.text("token", x+4, y+h/2+4, token)
		}
	}
}

func endWords(k history.Kind) string {
	switch k {
	case history.Release:
		return "it gave it back"
	case history.Lost:
		return "it was told that it no longer held"
	}
	return "its process fell silent"
}

// drawOperations marks writes: green acknowledged, red refused, amber unknown.
func (s *scene) drawOperations(g *svg, a axis, m moment, lives []string, lane float64) {
	drawn := 0
	near := s.near(m.from, m.to)
	for i := range near {
		o := &near[i]
		row := slices.Index(lives, o.Client)
		at := known(o)
		if o.Lock != m.lock || row < 0 || at < a.from || at > a.to || drawn == closeupMarks {
			continue
		}
		x, y := a.x(at), axisHeight+4+float64(row)*lane+(lane-6)/2
		tip := fmt.Sprintf("%s %s: %s %s", o.Client, o.Kind, o.Outcome, o.Reason)
		switch {
		case o.Kind == history.Lost:
			g.path("lost", box(x-1, y-12, 2, 24), o.Client+" was told that it no longer held")
		case o.Outcome == history.Refused:
			d := fmt.Sprintf("M%s %sl9 9m0 -9l-9 9", num(x-4.5), num(y-4.5))
			g.path("cross halo", d, "")
			g.path("cross", d, tip)
		case o.Write() && (o.Outcome == history.OK || o.Outcome == history.Unknown):
			g.circle("mark o-"+string(o.Outcome), x, y, 3, tip)
		default:
			continue
		}
		drawn++
	}
}

// drawCalled writes on the operations that the words speak of what became of them.
func (s *scene) drawCalled(g *svg, a axis, m moment, lives []string, lane float64) {
	near := s.near(m.from, m.to)
	for i := range near {
		o := &near[i]
		row := slices.Index(lives, o.Client)
		if o.Lock != m.lock || row < 0 || m.called[o.Name()] == "" {
			continue
		}
		x, y := a.x(known(o)), axisHeight+4+float64(row)*lane+(lane-6)/2
		words := m.called[o.Name()]
		class := "called " + words
		if words == "lost" || words == "kept" {
			g.circle("ring "+words, x, y, 6.5, "")
		}
		if x > a.left+70 {
			g.text(class+" end", x-10, y+4, words)
		} else {
			g.text(class, x+10, y+4, words)
		}
	}
}
