package report

import (
	"fmt"
	"html/template"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// A timeline's measures.
const (
	leftMargin  = 70.0
	rightMargin = 8.0
	axisHeight  = 22.0
	faultRow    = 15.0
)

// timeline draws the run between two moments: faults, operations a second, members
// and clients, one under the other on one time axis.
func (s *scene) timeline(from, to history.Time, overview bool) template.HTML {
	a := axis{from: from, to: to, left: leftMargin, width: fullWidth - leftMargin - rightMargin}
	var body svg
	y := axisHeight
	bandsFrom := y
	y = s.drawViolations(&body, a, y)
	y = s.drawFaults(&body, a, y, overview) + 10
	y = s.drawRates(&body, a, y, overview) + 12
	y = s.drawMembers(&body, a, y)
	y = s.drawClients(&body, a, y)
	var all svg
	s.drawBands(&all, a, bandsFrom, y)
	s.drawAxis(&all, a, y, overview)
	all.Write(body.Bytes())
	return all.done(fullWidth, y+2, "timeline from "+clock(from.Sub(s.Start))+" to "+clock(to.Sub(s.Start)))
}

// drawAxis writes the minutes and seconds; in the overview each minute leads to its row.
func (s *scene) drawAxis(g *svg, a axis, bottom float64, overview bool) {
	step := tickStep(a.to.Sub(a.from), int(a.width/70))
	first := (a.from.Sub(s.Start) + step - 1) / step * step
	for at := first; s.Start.Add(at) <= a.to; at += step {
		x := a.x(s.Start.Add(at))
		g.line("grid", x, axisHeight-4, x, bottom)
		class := "label middle"
		if x > a.left+a.width-20 {
			class = "label end"
		}
		if overview && at%time.Minute == 0 {
			g.WriteString(`<a href="#minute-` + count(int(at/time.Minute)) + `">`)
			g.text(class, x, 12, clock(at))
			g.WriteString("</a>")
			continue
		}
		g.text(class, x, 12, clock(at))
	}
}

// tickStep is the shortest step that does not give more than most ticks.
func tickStep(d time.Duration, most int) time.Duration {
	for _, step := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600} {
		if d <= time.Duration(most)*step*time.Second {
			return step * time.Second
		}
	}
	return (d/time.Duration(most) + time.Hour).Truncate(time.Hour)
}

// drawBands shades what happened while a fault was there.
func (s *scene) drawBands(g *svg, a axis, top, bottom float64) {
	for _, f := range s.Faults {
		if end := healed(f, s.End); a.shows(f.Begin, end) {
			x := a.x(f.Begin)
			g.rect("band "+groupClass(f.Group), x, top, max(a.x(end)-x, 1), bottom-top, "")
		}
	}
}

// drawViolations marks when something happened that must not be; if nothing did, there
// is no lane for it.
func (s *scene) drawViolations(g *svg, a axis, y float64) float64 {
	drawn := map[int]bool{}
	for _, c := range s.Checks {
		for _, v := range c.Violations {
			if v.At == 0 || v.At < a.from || v.At > a.to {
				continue
			}
			if x := int(a.x(v.At)); !drawn[x] {
				drawn[x] = true
				g.path("violation", fmt.Sprintf("M%d %sl5 -10h-10z", x, num(y+13)), c.Name+"\n"+short(violationWords(s.Run, v), 300))
			}
		}
	}
	if len(drawn) == 0 {
		return y
	}
	g.text("lane violation end", a.left-8, y+11, "violations")
	return y + faultRow + 2
}
