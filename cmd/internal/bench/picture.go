package bench

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/fencelock/fencelock/cmd/internal/picture"
	"github.com/fencelock/fencelock/cmd/internal/words"
)

// The size of a work's picture. Its axis of time is logarithmic.
const (
	width, height   = 900.0, 200.0
	left, right     = 10.0, 890.0
	top, bottom     = 46.0, 170.0
	barsPerTenfold  = 20
	leastRoom       = 6.0 // between two labels
	labelCharacters = 7.0 // width of one, about
)

// WriteHTML draws how the times of each work are distributed, all on one axis.
func (r Report) WriteHTML(w io.Writer, when time.Time, where string) error {
	page := picture.Page{
		Title: "fencelock bench",
		Lead: fmt.Sprintf("%s, on %s: %v for each work. The axis of time is logarithmic and the same everywhere; a bar is as high as its share of the operations.",
			where, when.Format("2 January 2006 15:04:05 MST"), time.Duration(r.Seconds*float64(time.Second))),
	}
	x := r.axis()
	for _, result := range r.Measured {
		page.Sections = append(page.Sections, picture.Section{Title: result.Work, Text: result.text(), Picture: result.draw(x)})
	}
	return page.Write(w)
}

func (r Result) text() string {
	return fmt.Sprintf("%s. %s, %s, %.0f a second; the slowest took %v.", Explain(r.Work), words.Count(r.Clients, "client"), words.Count(r.Operations, "operation"), r.Rate, Micros(r.Max))
}

// Explain says what an operation of a work is.
func Explain(work string) string {
	switch work {
	case "lock":
		return "Lock and unlock; nobody else wants the lock"
	case "handover":
		return "From one holder's unlock to the next holder's lock"
	case "shared":
		return "Shared lock and unlock, all clients the same one"
	case "put":
		return fmt.Sprintf("Fenced write of %d bytes", valueSize)
	}
	return "Fenced read"
}

// Micros is a number of microseconds, with three digits.
func Micros(n int64) time.Duration {
	d := time.Duration(n) * time.Microsecond
	unit := time.Microsecond
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// axis is logarithmic, in whole powers of ten.
type axis struct{ from, to float64 } // exponents, of nanoseconds

func (r Report) axis() axis {
	a := axis{math.Inf(1), math.Inf(-1)}
	for _, result := range r.Measured {
		for _, bar := range result.Bars {
			a.from, a.to = min(a.from, math.Floor(exponent(bar.From))), max(a.to, math.Ceil(exponent(bar.To)))
		}
	}
	if a.from >= a.to {
		return axis{3, 9}
	}
	return a
}

func exponent(d time.Duration) float64 { return math.Log10(float64(max(d, time.Microsecond))) }

// at is where an exponent stands.
func (a axis) at(e float64) float64 { return left + (right-left)*(e-a.from)/(a.to-a.from) }

func (r Result) draw(x axis) *picture.Canvas {
	c := &picture.Canvas{Width: width, Height: height}
	r.drawBars(c, x)
	c.Line("axis", left, bottom, right, bottom)
	for e := x.from; e <= x.to; e++ {
		c.Line("axis", x.at(e), bottom, x.at(e), bottom+5)
		class := "faint middle"
		switch e {
		case x.from:
			class = "faint"
		case x.to:
			class = "faint end"
		}
		c.Text(class, x.at(e), bottom+20, time.Duration(math.Pow(10, e)).String())
	}
	r.drawMarks(c, x)
	return c
}

// drawBars gathers the fine bars of the histogram into coarser ones.
func (r Result) drawBars(c *picture.Canvas, x axis) {
	counts := make([]int64, int(math.Round((x.to-x.from)*barsPerTenfold)))
	most := int64(1)
	for _, bar := range r.Bars {
		i := int((exponent((bar.From+bar.To)/2) - x.from) * barsPerTenfold)
		i = min(max(i, 0), len(counts)-1)
		counts[i] += bar.Count
		most = max(most, counts[i])
	}
	for i, n := range counts {
		if n == 0 {
			continue
		}
		from, to := x.from+float64(i)/barsPerTenfold, x.from+float64(i+1)/barsPerTenfold
		high := max((bottom-top)*float64(n)/float64(most), 1) // even one operation shows
		c.Rect(picture.Rect{Class: "a", X: x.at(from) + 0.5, Y: bottom - high, Width: x.at(to) - x.at(from) - 1, Height: high,
			Title: fmt.Sprintf("%v to %v: %s", Micros(int64(math.Pow(10, from-3))), Micros(int64(math.Pow(10, to-3))), words.Count(n, "operation"))})
	}
}

// drawMarks shows the percentiles, each label in the first line where it has room.
func (r Result) drawMarks(c *picture.Canvas, x axis) {
	var free [3]float64 // up to where the lines are taken
	for _, m := range []struct {
		name   string
		micros int64
	}{{"p50", r.P50}, {"p90", r.P90}, {"p99", r.P99}} {
		at := x.at(exponent(time.Duration(m.micros) * time.Microsecond))
		label, line := fmt.Sprintf("%s %v", m.name, Micros(m.micros)), 0
		room := float64(len(label))*labelCharacters + leastRoom
		begin := min(at, right-room)
		for line < len(free)-1 && begin < free[line] {
			line++
		}
		free[line] = begin + room
		y := 12 + 13*float64(line)
		c.Line("mark", at, y+4, at, bottom)
		c.Text("", begin, y, label)
	}
}
