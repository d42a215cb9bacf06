package report

import (
	"math"

	"github.com/fencelock/fencelock/test/chaos/history"
)

const (
	servedHeight  = 64.0
	troubleHeight = 44.0
)

// outcomes are the layers of the two charts, from the bottom up.
func outcomes() []history.Outcome {
	return []history.Outcome{history.OK, history.Refused, history.Unknown, history.Failed}
}

// drawRates draws operations a second: acknowledged ones; below, on a scale of their
// own, those that were not. It returns where the charts end.
func (s *scene) drawRates(g *svg, a axis, y float64, overview bool) float64 {
	wide := 2.0
	if overview {
		wide = 3
	}
	n := int(a.width / wide)
	counts := map[history.Outcome][]float64{}
	for _, o := range outcomes() {
		counts[o] = make([]float64, n)
	}
	perSecond := float64(n) / a.to.Sub(a.from).Seconds()
	near := s.near(a.from, a.to)
	for i := range near {
		o := &near[i]
		if at := known(o); request(*o) && at >= a.from && at < a.to && counts[o.Outcome] != nil {
			counts[o.Outcome][a.bin(at, n)] += perSecond
		}
	}
	stack(g, a, y, servedHeight, counts, outcomes()[:1], [2]string{"acknow-", "ledged"})
	y += servedHeight + 6
	stack(g, a, y, troubleHeight, counts, outcomes()[1:], [2]string{"not", "acknowl."})
	return y + troubleHeight
}

// stack draws one layer upon the other, and a line at a round figure.
func stack(g *svg, a axis, y, h float64, counts map[history.Outcome][]float64, layers []history.Outcome, name [2]string) {
	n := len(counts[layers[0]])
	sums := make([]float64, n)
	var top float64
	for _, o := range layers {
		for i, c := range counts[o] {
			sums[i] += c
			top = max(top, sums[i])
		}
	}
	round := roundFigure(top)
	scale := h / max(top, round, 1)
	clear(sums)
	wide := a.width / float64(n)
	for _, o := range layers {
		var d []byte
		for i, c := range counts[o] {
			if c > 0 {
				d = append(d, box(a.left+float64(i)*wide, y+h-(sums[i]+c)*scale, wide, c*scale)...)
			}
			sums[i] += c
		}
		g.path("o-"+string(o), string(d), "")
	}
	g.text("lane end", a.left-8, y+h/2-2, name[0])
	g.text("lane end", a.left-8, y+h/2+9, name[1])
	g.line("base", a.left, y+h, a.left+a.width, y+h)
	if round > 0 {
		g.line("grid", a.left, y+h-round*scale, a.left+a.width, y+h-round*scale)
		g.text("figure", a.left+2, y+h-round*scale+10, count(int(round))+"/s")
	}
}

// roundFigure is the greatest 1, 2 or 5 times a power of ten that is not above top.
func roundFigure(top float64) float64 {
	if top < 1 {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(top)))
	switch {
	case top >= 5*power:
		return 5 * power
	case top >= 2*power:
		return 2 * power
	}
	return power
}
