package report

import (
	"strings"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// labelledRows is how many rows of faults with their names there may be; if they need
// more, the bars stand without names.
const labelledRows = 9

// placed is a fault on the page: its row and its bar.
type placed struct {
	history.Fault
	row         int
	x, w        float64
	label       string
	labelBefore bool // there is no room to its right
}

// drawFaults draws a bar for each fault, in as few rows as they need so that nothing
// lies on anything else. It returns where the rows end.
func (s *scene) drawFaults(g *svg, a axis, y float64, overview bool) float64 {
	bars, rows := s.place(a, true)
	if rows > labelledRows && overview {
		bars, rows = s.place(a, false)
	}
	g.text("lane end", a.left-8, y+11, "faults")
	for _, b := range bars {
		top := y + float64(b.row)*faultRow + 2
		class := "fault " + groupClass(b.Group)
		if b.Error != "" {
			class += " undue"
		}
		g.rect(class, b.x, top, b.w, faultRow-4, s.faultTip(b.Fault))
		switch {
		case b.label == "":
		case b.labelBefore:
			g.text("label end", b.x-3, top+9.5, b.label)
		default:
			g.text("label", b.x+b.w+3, top+9.5, b.label)
		}
	}
	return y + float64(max(rows, 1))*faultRow
}

// place finds the first row with room for each bar.
func (s *scene) place(a axis, labels bool) (bars []placed, rows int) {
	var ends []float64
	for _, f := range s.Faults {
		end := healed(f, s.End)
		if !a.shows(f.Begin, end) {
			continue
		}
		b := placed{Fault: f, x: a.x(f.Begin)}
		b.w = max(a.x(end)-b.x, 2.5)
		from, to := b.x, b.x+b.w+1.5
		if labels {
			b.label = short(f.Kind, 40)
			if v := strings.Join(f.Victims, " "); v != "" && len(f.Victims) <= 3 {
				b.label += " · " + short(v, 16)
			}
			room := charWidth*float64(len([]rune(b.label))) + 6
			b.labelBefore = to+room > a.left+a.width && from-room > a.left
			if b.labelBefore {
				from -= room
			} else {
				to += room
			}
		}
		for b.row = 0; b.row < len(ends) && ends[b.row] > from; b.row++ {
		}
		if b.row == len(ends) {
			ends = append(ends, 0)
		}
		ends[b.row] = to
		bars = append(bars, b)
	}
	return bars, len(ends)
}

// faultTip is what a hover over a fault shows.
func (s *scene) faultTip(f history.Fault) string {
	lines := []string{f.Kind + " (" + f.Group + ")"}
	lines = append(lines, "at "+clock(f.Begin.Sub(s.Start))+" for "+seconds(healed(f, s.End).Sub(f.Begin)))
	if f.Healed != 0 && f.End != 0 {
		lines = append(lines, "served again "+seconds(max(f.End.Sub(f.Healed), 0))+" after it was healed")
	}
	if len(f.Victims) > 0 {
		lines = append(lines, "victims: "+short(strings.Join(f.Victims, ", "), 200))
	}
	if f.Detail != "" {
		lines = append(lines, short(f.Detail, 300))
	}
	cost := "may cost: " + or(f.Cost.Words, "nothing")
	if f.Cost.Service > 0 {
		cost += "; without service " + seconds(f.Cost.Service) + " beyond itself"
	}
	lines = append(lines, cost)
	if f.Error != "" {
		lines = append(lines, "NOT DONE AS MEANT: "+short(f.Error, 300))
	}
	return strings.Join(lines, "\n")
}

func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
