package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// shownViolations of each check stand in the table and on the page.
const shownViolations = 5

// Text writes the table for the terminal. Its last line is PASS or FAIL.
func Text(w io.Writer, r Run) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "chaos, seed %d: %s, %s\n", r.Seed, seconds(r.length()), plural(len(r.Faults), "fault", "faults"))
	textTargets(&b, r)
	textFaults(&b, r)
	textLosses(&b, r)
	textChecks(&b, r)
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\nnote: %s", printable(note))
	}
	if len(r.Notes) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\nseed   %d\nrepeat %s\n%s\n", r.Seed, printable(r.Command), verdict(r.Passed()))
	_, _ = w.Write(b.Bytes()) // a terminal that is gone reads nothing anyway
}

func verdict(passed bool) string {
	if passed {
		return "PASS"
	}
	return "FAIL"
}

func textTargets(b *bytes.Buffer, r Run) {
	each, total := targetsOf(r)
	t := table{head: []string{"operations", "acknowledged", "per s", "refused", "unknown", "failed", "grants"}}
	for _, f := range append(each, total) {
		t.row(or(f.Target, "(no lock)"), count(f.Acknowledged), fmt.Sprintf("%.1f", f.Rate), count(f.Refused), count(f.Unknown), count(f.Failed), count(f.Grants))
	}
	t.write(b)
}

func textFaults(b *bytes.Buffer, r Run) {
	kinds := kindsOf(r)
	if len(kinds) == 0 {
		b.WriteString("\nno faults\n")
		return
	}
	t := table{head: []string{"faults", "times", "longest", "no grant for", "beyond fault", "allowed", "may cost"}, words: 1}
	for _, k := range kinds {
		t.row(k.Kind, count(k.Times), seconds(k.Held), seconds(k.Gap), seconds(max(k.GapAbove, 0)), seconds(k.Service), or(k.Words, "nothing"))
	}
	t.write(b)
	for _, f := range r.Faults {
		if f.Error != "" {
			fmt.Fprintf(b, "  at %s: %s was not done as meant: %s\n", clock(f.Begin.Sub(r.Start)), printable(f.Kind), printable(f.Error))
		}
	}
}

func textLosses(b *bytes.Buffer, r Run) {
	if len(r.Losses) == 0 {
		return
	}
	t := table{head: []string{"updates", "acknowledged", "lost", "as stated", "beyond", ""}, words: 1}
	for _, l := range r.Losses {
		t.row(l.Target, count(l.Acknowledged), count(l.Lost), count(l.AsStated), count(l.Beyond()), lossWords(l))
	}
	t.write(b)
}

func lossWords(l Loss) string {
	switch {
	case l.Target == history.Control:
		return fmt.Sprintf("%.1f %% lost without a fence", l.Percent())
	case l.Beyond() > 0:
		return "LOST BEHIND A FENCE"
	}
	return "nothing lost behind the fence"
}

func textChecks(b *bytes.Buffer, r Run) {
	t := table{head: []string{"checks", "looked at", ""}, words: 1}
	for _, c := range r.Checks {
		t.row(c.Name, count(c.Counted), checkWords(c))
	}
	t.write(b)
	for _, c := range r.Checks {
		if c.wrong() == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s: %s\n", printable(c.Name), printable(c.What))
		for _, v := range c.Violations[:min(len(c.Violations), shownViolations)] {
			fmt.Fprintf(b, "  %s\n", printable(violationWords(r, v)))
		}
		if more := c.wrong() - min(len(c.Violations), shownViolations); more > 0 {
			fmt.Fprintf(b, "  and %s more\n", count(more))
		}
	}
}

func checkWords(c Check) string {
	words := "passed"
	if c.Counted == 0 {
		words = "not tried"
	}
	if n := c.wrong(); n > 0 {
		words = "FAILED, " + plural(n, "violation", "violations")
	}
	if c.Note != "" {
		words += " (" + c.Note + ")"
	}
	return words
}

func violationWords(r Run, v Violation) string {
	var where []string
	if v.At != 0 {
		where = append(where, "at "+clock(v.At.Sub(r.Start)))
	}
	if v.Lock != "" {
		where = append(where, v.Lock)
	}
	if len(where) == 0 {
		return v.Text
	}
	return strings.Join(where, ", ") + ": " + v.Text
}

// printable keeps a text on one line and off the terminal's controls.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// table aligns columns: the first and the last `words` to the left, the others,
// which are numbers, to the right.
type table struct {
	head  []string
	words int
	rows  [][]string
}

func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = printable(c)
	}
	t.rows = append(t.rows, cells)
}

func (t *table) write(b *bytes.Buffer) {
	rows := append([][]string{t.head}, t.rows...)
	width := make([]int, len(t.head))
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	b.WriteByte('\n')
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i > 0 {
				line.WriteString("  ")
			}
			if i == 0 || i >= len(row)-t.words {
				line.WriteString(c + pad)
			} else {
				line.WriteString(pad + c)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
