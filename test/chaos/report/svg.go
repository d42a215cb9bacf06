package report

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"slices"
	"strconv"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// Widths in units of the pictures, which are CSS pixels where the page is wide.
const (
	fullWidth = 1200.0
	halfWidth = 590.0
	charWidth = 6.0 // of a label, about
)

// svg is a picture in the making. Everything that comes from the run is escaped here.
type svg struct{ bytes.Buffer }

// num has a tenth of a unit: less cannot be seen, and costs bytes.
func num(f float64) string { return strconv.FormatFloat(float64(int(f*10+0.5))/10, 'f', -1, 64) }

func (s *svg) rect(class string, x, y, w, h float64, tip string) {
	fmt.Fprintf(s, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"`, html.EscapeString(class), num(x), num(y), num(w), num(h))
	s.close("rect", tip)
}

func (s *svg) path(class, d, tip string) {
	if d == "" {
		return
	}
	fmt.Fprintf(s, `<path class="%s" d="%s"`, html.EscapeString(class), d)
	s.close("path", tip)
}

func (s *svg) circle(class string, x, y, r float64, tip string) {
	fmt.Fprintf(s, `<circle class="%s" cx="%s" cy="%s" r="%s"`, html.EscapeString(class), num(x), num(y), num(r))
	s.close("circle", tip)
}

func (s *svg) close(name, tip string) {
	if tip == "" {
		s.WriteString("/>")
		return
	}
	fmt.Fprintf(s, "><title>%s</title></%s>", html.EscapeString(tip), name)
}

// text's class tells size, colour and anchor: "label", "end", "middle".
func (s *svg) text(class string, x, y float64, words string) {
	fmt.Fprintf(s, `<text class="%s" x="%s" y="%s">%s</text>`, html.EscapeString(class), num(x), num(y), html.EscapeString(words))
}

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	s.path(class, "M"+num(x1)+" "+num(y1)+"L"+num(x2)+" "+num(y2), "")
}

// done is the whole picture.
func (s *svg) done(w, h float64, words string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %s %s" role="img" aria-label="%s">%s</svg>`,
		num(w), num(h), html.EscapeString(words), s.String()))
}

// box is a rectangle as a piece of a path.
func box(x, y, w, h float64) string {
	return "M" + num(x) + " " + num(y) + "h" + num(w) + "v" + num(h) + "h-" + num(w) + "z"
}

// axis is a piece of time on the page.
type axis struct {
	from, to    history.Time
	left, width float64
}

func (a axis) x(t history.Time) float64 {
	t = min(max(t, a.from), a.to)
	return a.left + a.width*float64(t-a.from)/float64(max(a.to-a.from, 1))
}

// shows reports whether any of a piece of time is on the axis.
func (a axis) shows(from, to history.Time) bool { return to >= a.from && from < a.to }

// bin is in which of n equal pieces t lies.
func (a axis) bin(t history.Time, n int) int {
	return min(max(int(int64(t-a.from)*int64(n)/int64(max(a.to-a.from, 1))), 0), n-1)
}

// class names: what the style sheet knows; anything else is "other".

func groups() []string {
	return []string{"process", "network", "client", "cluster", "disk", "clock", "lock", "resource"}
}

func groupRank(g string) int {
	if i := slices.Index(groups(), g); i >= 0 {
		return i
	}
	return len(groups())
}

func groupClass(g string) string {
	if slices.Contains(groups(), g) {
		return "g-" + g
	}
	return "g-other"
}

func targetClass(t string) string {
	if slices.Contains(history.Targets(), t) {
		return "t-" + t
	}
	return "t-other"
}
