package demo

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/fencelock/fencelock/cmd/internal/picture"
	"github.com/fencelock/fencelock/fencing"
)

// The places in the picture of a run, from top to bottom.
const (
	laneHigh   = 30.0
	laneA      = 34.0
	laneB      = 104.0
	laneData   = 174.0
	axisAt     = 222.0
	wholeHigh  = 266.0
	lanesBegin = 70.0
	leastGap   = 68.0 // between two moments, so that their words have room
	perSecond  = 60.0 // more for each second between them
)

// WriteHTML draws the runs.
func (r Report) WriteHTML(w io.Writer) error {
	page := picture.Page{
		Title: "fencelock demo: what a pause does to a lock, and what a fence does about it",
		Lead: fmt.Sprintf("An account holds %d. Worker A adds %d, worker B adds %d, each under the same lock. Right between A's check of its lock and its write, "+
			"A is stopped for longer than its lock survives without it (%v). These are the events of one demo, on a cluster of %d members. "+
			"A full bar: the worker holds the lock. A pale one: it only believes so. Grey: it is stopped. The axis is stretched where much happens; numbers refer to the lists.",
			opening, addA, addB, workerTTL, r.Members),
	}
	widest := 0.0 // all have one scale
	for _, result := range r.Cases {
		widest = max(widest, newDrawing(result.moments).Width)
	}
	for i, result := range r.Cases {
		s := scene{result.Case, result.Fenced}
		d := newDrawing(result.moments)
		d.Width = widest
		page.Sections = append(page.Sections, picture.Section{
			Title:   fmt.Sprintf("%d. %s: %s", i+1, s.name, s.guard()),
			Text:    s.plot() + ".",
			Picture: d.draw(),
			Below:   result.verdict(), Bad: result.UpdateLost,
			List: lines(result.moments),
		})
	}
	return page.Write(w)
}

// lines are the moments in words.
func lines(moments []moment) []string {
	var list []string
	for _, m := range moments {
		who := m.who
		if m.token.Valid() {
			who += " (token " + m.token.String() + ")"
		}
		list = append(list, fmt.Sprintf("%s, %s %s", seconds(m.at), who, m.what))
	}
	return list
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// drawing is the picture of one run while it is made.
type drawing struct {
	*picture.Canvas
	moments []moment
	x       []float64 // where each moment stands
}

func newDrawing(moments []moment) *drawing {
	d := &drawing{Canvas: &picture.Canvas{Height: wholeHigh}, moments: moments}
	at := lanesBegin + leastGap/2
	for i, m := range moments {
		if i > 0 {
			at += leastGap + perSecond*math.Max((m.at-moments[i-1].at).Seconds()-0.1, 0)
		}
		d.x = append(d.x, at)
	}
	d.Width = at + leastGap
	return d
}

func (d *drawing) draw() *picture.Canvas {
	for name, y := range map[string]float64{"A": laneA, "B": laneB} {
		d.Text("strong", 4, y+laneHigh/2+4, "worker "+name)
		d.waits(name, y)
		d.holds(name, y)
		d.pauses(name, y)
	}
	d.Text("strong", 4, laneData+laneHigh/2+4, "the data")
	d.Line("axis", lanesBegin, axisAt, d.Width, axisAt)
	for i, m := range d.moments {
		d.acts(i, m)
		d.Line("axis", d.x[i], axisAt-4, d.x[i], axisAt+4)
		d.Text("middle", d.x[i], axisAt+16, fmt.Sprint(i+1))
		d.Text("faint middle", d.x[i], axisAt+30, seconds(m.at))
	}
	return d.Canvas
}

// next finds the first moment from i on that is one of those, -1 if there is none.
func (d *drawing) next(i int, who string, kinds ...kind) int {
	for ; i < len(d.moments); i++ {
		for _, k := range kinds {
			if m := d.moments[i]; m.kind == k && (who == "" || m.who == who) {
				return i
			}
		}
	}
	return -1
}

// until is where moment i stands, or the end of the picture if i is -1.
func (d *drawing) until(i int) float64 {
	if i < 0 {
		return d.Width - leastGap/3
	}
	return d.x[i]
}

func (d *drawing) waits(who string, y float64) {
	for i := d.next(0, who, asks); i >= 0; i = d.next(i+1, who, asks) {
		end := d.until(d.next(i, who, takes))
		d.Rect(picture.Rect{Class: "wait", X: d.x[i], Y: y, Width: end - d.x[i], Height: laneHigh, Round: 4, Title: "waits for the lock"})
		d.Text("faint", d.x[i]+8, y+laneHigh/2+4, "waits")
	}
}

// holds draws what the cluster says, and after that what the worker believes: until
// it looks, or is told.
func (d *drawing) holds(who string, y float64) {
	for i := d.next(0, who, takes); i >= 0; i = d.next(i+1, who, takes) {
		other := d.next(i+1, "", takes) // nobody else holds before this one has lost the lock
		own := d.next(i+1, who, returns)
		end, believes := own, -1
		if other >= 0 && (own < 0 || other < own) {
			end, believes = other, d.next(other, who, learns, isRefused)
		}
		class, from := strings.ToLower(who), d.x[i]
		d.Rect(picture.Rect{Class: class, X: from, Y: y, Width: d.until(end) - from, Height: laneHigh, Round: 4, Title: who + " holds the lock"})
		if end >= 0 && end == other {
			d.Rect(picture.Rect{Class: class + " pale", X: d.x[end], Y: y, Width: d.until(believes) - d.x[end], Height: laneHigh, Round: 4, Title: who + " believes that it holds the lock"})
		}
		d.Text("inbar strong", from+8, y+laneHigh/2+4, "token "+d.moments[i].token.String())
	}
}

func (d *drawing) pauses(who string, y float64) {
	for i := d.next(0, who, stops); i >= 0; i = d.next(i+1, who, stops) {
		end := d.until(d.next(i, who, wakes))
		d.Rect(picture.Rect{Class: "pause", X: d.x[i], Y: y - 5, Width: end - d.x[i], Height: laneHigh + 10, Round: 4, Title: who + " is stopped"})
		d.Text("strong", d.x[i]+8, y+laneHigh/2+4, "stopped")
	}
}

// acts draws what a worker does to the data.
func (d *drawing) acts(i int, m moment) {
	y := map[string]float64{"A": laneA, "B": laneB}[m.who]
	class, word := "", ""
	switch m.kind {
	case reads:
		class, word = "look", firstWords(m.what, 2)
	case writes:
		class, word = "ok", firstWords(m.what, 2)
	case isRefused:
		class, word = "no", "REFUSED"
	case aside, asks, takes, departs, stops, wakes, learns, returns:
		return
	}
	line := "axis"
	if m.kind == isRefused {
		line = "refused"
	}
	d.Line(line, d.x[i], y+laneHigh, d.x[i], laneData+laneHigh/2)
	d.Dot(class, d.x[i], laneData+laneHigh/2, who(m.who, m.token)+" "+m.what)
	d.Text("middle small", d.x[i], y-8, word)
	if m.kind == writes {
		d.Text("strong", d.x[i]+10, laneData+laneHigh/2+4, strings.TrimPrefix(word, "writes "))
	}
}

func who(name string, token fencing.Token) string { return name + ", token " + token.String() + "," }

// firstWords is "reads 100" of "reads 100; that raises the fence to 5".
func firstWords(text string, n int) string {
	words := strings.Fields(text)
	return strings.TrimRight(strings.Join(words[:min(n, len(words))], " "), ";:")
}
