package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// verdict is what became of a mutant.
type verdict struct {
	mutant Mutant
	killed bool
	by     string // what killed it
	late   bool   // by running out of time
	broken error  // it could not be built
	took   time.Duration
}

func (v verdict) killedBy(by string, late bool) verdict {
	v.killed, v.by, v.late = true, by, late
	return v
}

func (v verdict) brokenBy(err error) verdict {
	v.broken = err
	return v
}

// word is the verdict in one word.
func (v verdict) word() string {
	switch {
	case v.broken != nil:
		return "BROKEN"
	case v.killed:
		return "killed"
	}
	return "SURVIVED"
}

// what killed it, or hunted in vain.
func (v verdict) what() string {
	switch {
	case v.broken != nil:
		return firstLine(v.broken.Error())
	case v.late:
		return v.by + " (out of time)"
	case v.killed:
		return v.by
	}
	var hunters []string
	for _, h := range v.mutant.Hunters {
		hunters = append(hunters, h.String())
	}
	return "not by " + strings.Join(hunters, ", ")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// printVerdict is for who watches.
func printVerdict(w io.Writer, v verdict) {
	fmt.Fprintf(w, "%-8s  %5.1f s  %s\n", v.word(), v.took.Seconds(), v.mutant.Name)
	if v.broken != nil {
		fmt.Fprintln(w, v.broken)
	}
}

// printSummary prints the table, and reports whether every mutant was killed.
func printSummary(w io.Writer, verdicts []verdict, took time.Duration) bool {
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "VERDICT\tMUTANT\tHOLE\tBY\tSECONDS")
	killed := 0
	for _, v := range verdicts {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.1f\n", v.word(), v.mutant.Name, v.mutant.Hole, v.what(), v.took.Seconds())
		if v.killed {
			killed++
		}
	}
	_ = table.Flush()
	fmt.Fprintf(w, "\n%d mutants, %d killed, %d not, in %v\n", len(verdicts), killed, len(verdicts)-killed, took.Round(time.Second))
	return killed == len(verdicts)
}

// printList prints what would run.
func printList(w io.Writer, mutants []Mutant) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MUTANT\tHOLE\tFILE\tHUNTERS")
	for _, m := range mutants {
		var hunters []string
		for _, h := range m.Hunters {
			hunters = append(hunters, h.String())
		}
		if m.Chaos != nil {
			hunters = append(hunters, "test/chaos "+strings.Join(m.Chaos, " "))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.Name, m.Hole, m.Edits[0].File, strings.Join(hunters, "; "))
	}
	_ = table.Flush()
}
