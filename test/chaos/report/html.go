package report

import (
	"bufio"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

//go:embed page.html page.css page.js
var files embed.FS

// shownMinutes is how many minutes have a row of their own at most.
const shownMinutes = 20

// page is what page.html is filled with.
type page struct {
	Run
	Passed       bool
	Style        template.CSS
	Script       template.JS
	Length       string
	When         string
	Tiles        []tile
	Overview     template.HTML
	Groups       []legend
	TargetLegend []legend
	Moments      []picture
	Tokens       []template.HTML
	Counters     template.HTML
	Checks       []checkRow
	Kinds        []kindRow
	Targets      []targetFigures
	Losses       []lossRow
	Undue        []string
	Minutes      []picture
	Left         int // minutes without a row
}

type tile struct{ Figure, Words, Class string }

type legend struct {
	Class, Name string
	Count       int
}

type picture struct {
	ID, Title, Words string
	Bad              bool
	SVG              template.HTML
}

type checkRow struct {
	Check
	Violated int
	Shown    []string
	More     int // that are not shown
}

type kindRow struct {
	kindFigures
	Class                              string
	Cost, Fault, NoGrant, Beyond, Late string
	MayTake                            string
}

type lossRow struct {
	Loss
	Class, Words string
}

// HTML writes the page.
func HTML(w io.Writer, r Run) error {
	t, err := template.New("page.html").Funcs(template.FuncMap{"count": count, "plural": plural}).ParseFS(files, "page.html")
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	p, err := pageOf(r)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	if err := t.Execute(b, p); err != nil {
		return fmt.Errorf("fill the page: %w", err)
	}
	return b.Flush()
}

func pageOf(r Run) (page, error) {
	s := newScene(r)
	style, err := files.ReadFile("page.css")
	if err != nil {
		return page{}, err
	}
	script, err := files.ReadFile("page.js")
	if err != nil {
		return page{}, err
	}
	p := page{
		Run: r, Passed: r.Passed(), Style: template.CSS(style), Script: template.JS(script),
		Length: clock(r.length()), When: r.Began.UTC().Format("2006-01-02 15:04:05 UTC"),
		Tiles: tilesOf(r), Overview: s.timeline(r.Start, r.Start.Add(r.length()), true), Counters: s.counters(),
	}
	each, total := targetsOf(r)
	p.Targets = append(each, total)
	for _, t := range s.targets {
		p.TargetLegend = append(p.TargetLegend, legend{Class: targetClass(t), Name: t})
	}
	for _, lock := range s.tokenLocks() {
		p.Tokens = append(p.Tokens, s.tokens(lock))
	}
	for _, m := range s.moments() {
		p.Moments = append(p.Moments, picture{Title: m.title, Bad: m.bad, SVG: s.closeup(m),
			Words: m.lock + " at " + clock(max(m.at, m.from).Sub(r.Start)) + ". " + m.words})
	}
	p.rows(r)
	p.minutes(s)
	return p, nil
}

// rows fills the tables.
func (p *page) rows(r Run) {
	for _, c := range r.Checks {
		row := checkRow{Check: c, Violated: c.wrong(), More: c.wrong() - min(len(c.Violations), shownViolations)}
		for _, v := range c.Violations[:min(len(c.Violations), shownViolations)] {
			row.Shown = append(row.Shown, violationWords(r, v))
		}
		p.Checks = append(p.Checks, row)
	}
	for _, k := range kindsOf(r) {
		p.Kinds = append(p.Kinds, kindRow{
			kindFigures: k, Class: groupClass(k.Group), Cost: or(k.Words, "nothing"), Fault: seconds(k.Held),
			NoGrant: seconds(k.Gap), Beyond: seconds(max(k.GapAbove, 0)), Late: seconds(k.After), MayTake: seconds(k.Service),
		})
		if n := len(p.Groups); n == 0 || p.Groups[n-1].Name != k.Group {
			p.Groups = append(p.Groups, legend{Class: groupClass(k.Group), Name: k.Group})
		}
		p.Groups[len(p.Groups)-1].Count += k.Times
	}
	for _, l := range r.Losses {
		class := "good"
		if l.Beyond() > 0 && l.Target != history.Control {
			class = "bad"
		}
		p.Losses = append(p.Losses, lossRow{l, class, lossWords(l)})
	}
	for _, f := range r.Faults {
		if f.Error != "" {
			p.Undue = append(p.Undue, "at "+clock(f.Begin.Sub(r.Start))+": "+f.Kind+" was not done as meant: "+f.Error)
		}
	}
}

func tilesOf(r Run) []tile {
	each, total := targetsOf(r)
	var fenced int
	for _, f := range each {
		if f.Target != history.Control && f.Target != "" {
			fenced += f.Acknowledged
		}
	}
	tiles := []tile{
		{count(total.Acknowledged), fmt.Sprintf("requests acknowledged, of locks and data, %.0f a second", total.Rate), ""},
		{count(total.Grants), "grants of a lock", ""},
		{count(len(r.Faults)), "faults of " + plural(len(kindsOf(r)), "kind", "kinds"), ""},
		{count(refusedByFences(r.Ops)), "late operations refused by a fence", ""},
	}
	var behind, beyond int
	for _, l := range r.Losses {
		if l.Target == history.Control {
			tiles = append(tiles, tile{fmt.Sprintf("%.1f %%", l.Percent()), "of the updates lost without a fence (" + count(l.Beyond()) + " of " + count(l.Acknowledged) + ")", "control"})
			continue
		}
		behind += l.Acknowledged
		beyond += l.Beyond()
	}
	if behind == 0 {
		return tiles
	}
	class := "good"
	if beyond > 0 {
		class = "bad"
	}
	return append(tiles, tile{count(beyond), "of " + count(behind) + " updates lost behind a fence", class})
}

// minutes draws a row for each minute; of a long run, for the most eventful ones.
func (p *page) minutes(s *scene) {
	n := int((s.length() + time.Minute - 1) / time.Minute)
	if n < 2 {
		return
	}
	shown := make([]int, n)
	score := make([]int, n)
	for i := range shown {
		shown[i] = i
	}
	for i := range s.Ops {
		if o := &s.Ops[i]; o.Outcome == history.Refused || o.Kind == history.Lost {
			score[min(max(int(known(o).Sub(s.Start)/time.Minute), 0), n-1)]++
		}
	}
	for _, c := range s.Checks {
		for _, v := range c.Violations {
			if v.At != 0 {
				score[min(max(int(v.At.Sub(s.Start)/time.Minute), 0), n-1)] += 1_000_000
			}
		}
	}
	slices.SortStableFunc(shown, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	p.Left = max(n-shownMinutes, 0)
	shown = shown[:min(n, shownMinutes)]
	slices.Sort(shown)
	for _, m := range shown {
		from := s.Start.Add(time.Duration(m) * time.Minute)
		p.Minutes = append(p.Minutes, picture{
			ID: fmt.Sprintf("minute-%d", m), Title: fmt.Sprintf("Minute %d", m+1),
			SVG: s.timeline(from, from.Add(time.Minute), false),
		})
	}
}
