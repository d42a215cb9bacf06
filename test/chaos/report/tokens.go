package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// jump is a leap of tokens that no traffic makes, but a restore with a floor.
const jump = 1_000_000

// tokenLocks is of each target the lock with the most refusals, at most four.
func (s *scene) tokenLocks() []string {
	score := map[string]int{}
	for i := range s.holds {
		score[s.holds[i].lock]++
	}
	for i := range s.Ops {
		if o := &s.Ops[i]; o.Outcome == history.Refused && score[o.Lock] > 0 {
			score[o.Lock] += 1000
		}
	}
	var locks []string
	for _, t := range s.targets {
		best := ""
		for l, n := range score {
			if t != history.Control && history.Target(l) == t && (n > score[best] || n == score[best] && l < best) {
				best = l
			}
		}
		if best != "" && len(locks) < 4 {
			locks = append(locks, best)
		}
	}
	return locks
}

// era is a stretch of tokens without a leap, and where it lies on the page.
type era struct {
	low, high   int64
	top, height float64
}

// erasOf breaks the axis wherever tokens leap. There are at most six eras.
func erasOf(tokens []int64, top, height float64) []era {
	tokens = slices.Clone(tokens)
	slices.Sort(tokens)
	var eras []era
	for leap := int64(jump); eras == nil || len(eras) > 6; leap *= 10 {
		eras = nil
		for i, t := range tokens {
			if i == 0 || t-tokens[i-1] > leap {
				eras = append(eras, era{low: t})
			}
			eras[len(eras)-1].high = t
		}
	}
	const gap = 12.0
	each := (height - gap*float64(len(eras)-1)) / float64(len(eras))
	for i := range eras {
		eras[i].height = each
		eras[i].top = top + height - each - float64(i)*(each+gap)
	}
	return eras
}

func tokenY(eras []era, token int64) (at float64, band int) {
	for band = len(eras) - 1; band > 0 && token < eras[band].low; band-- {
	}
	e := eras[band]
	share := float64(token-e.low) / float64(max(e.high-e.low, 1))
	return e.top + e.height*(1-min(max(share, 0), 1)), band
}

// tokens draws how the tokens of one lock rose.
func (s *scene) tokens(lock string) template.HTML {
	var grants []*hold
	var values []int64
	for i := range s.holds {
		if h := &s.holds[i]; h.lock == lock && h.mode != history.Shared {
			grants = append(grants, h)
			values = append(values, h.token)
		}
	}
	if len(grants) == 0 {
		return ""
	}
	const height, title = 200.0, 20.0
	a := axis{from: s.Start, to: s.End, left: 92, width: halfWidth - 92 - 12}
	eras := erasOf(values, axisHeight+4, height-axisHeight-8)
	var g svg
	s.drawAxis(&g, a, height, false)
	drawEras(&g, a, eras)
	drawRise(&g, a, eras, grants, targetClass(history.Target(lock)))
	refused := s.drawRefusedTokens(&g, a, eras, lock)
	var all svg
	all.text("big", 0, 13, short(lock, 40))
	all.text("small end", a.left+a.width, 13, plural(len(grants), "grant", "grants")+", "+plural(refused, "operation refused", "operations refused"))
	fmt.Fprintf(&all, `<g transform="translate(0 %s)">%s</g>`, num(title), g.String())
	return all.done(halfWidth, height+title+4, "tokens of "+lock)
}

func drawEras(g *svg, a axis, eras []era) {
	for i, e := range eras {
		g.rect("era", a.left, e.top, a.width, e.height, "")
		if e.high > e.low {
			g.text("label end", a.left-6, e.top+9, count(int(e.high)))
		}
		g.text("label end", a.left-6, e.top+e.height, count(int(e.low)))
		if i > 0 {
			words := "≈ the axis leaps by " + count(int(e.low-eras[i-1].high))
			if i > len(eras)/2 { // the line comes from the lower left
				g.text("small", a.left+4, e.top+e.height+9.5, words)
			} else {
				g.text("small end", a.left+a.width-4, e.top+e.height+9.5, words)
			}
		}
	}
}

// drawRise draws one point for each tenth of a unit of width at the most.
func drawRise(g *svg, a axis, eras []era, grants []*hold, class string) {
	var rise, leaps strings.Builder
	lastX, lastY, lastBand := -1.0, 0.0, -1
	for _, h := range grants {
		x := a.x(h.from)
		at, band := tokenY(eras, h.token)
		if band == lastBand && x-lastX < 0.7 {
			continue
		}
		switch {
		case lastBand < 0:
			rise.WriteString("M" + num(x) + " " + num(at))
		case band != lastBand:
			leaps.WriteString("M" + num(lastX) + " " + num(lastY) + "L" + num(x) + " " + num(at))
			rise.WriteString("M" + num(x) + " " + num(at))
		default:
			rise.WriteString("H" + num(x) + "V" + num(at))
		}
		lastX, lastY, lastBand = x, at, band
	}
	g.path("leap", leaps.String(), "")
	g.path("rise "+class, rise.String(), "")
}

// drawRefusedTokens marks the tokens with which operations were refused.
func (s *scene) drawRefusedTokens(g *svg, a axis, eras []era, lock string) (refused int) {
	drawn := map[[2]int]bool{}
	for i := range s.Ops {
		o := &s.Ops[i]
		if o.Lock != lock || o.Outcome != history.Refused {
			continue
		}
		refused++
		if o.Token == 0 {
			continue
		}
		x := a.x(known(o))
		at, _ := tokenY(eras, o.Token)
		if spot := [2]int{int(x / 2), int(at / 2)}; !drawn[spot] && len(drawn) < 400 {
			drawn[spot] = true
			g.circle("refused-dot", x, at, 2.6, fmt.Sprintf("%s: %s with token %d refused: %s", o.Client, o.Kind, o.Token, o.Reason))
		}
	}
	return refused
}
