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

	hunted   bool     // by test/chaos, too
	objected []string // those of its checks that have
	astray   string   // why its last run failed, if none has
}

// missed reports whether test/chaos has hunted in vain.
func (v verdict) missed() bool { return v.hunted && len(v.objected) == 0 }

// caught reports whether all that hunted it have killed it. One that only test/chaos
// hunts is killed by that.
func (v verdict) caught() bool {
	return v.broken == nil && !v.missed() && (v.killed || v.hunted && len(v.mutant.Hunters) == 0)
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
	case v.caught():
		return "killed"
	case v.killed:
		return "MISSED" // by test/chaos
	}
	return "SURVIVED"
}

// what killed it, or hunted in vain.
func (v verdict) what() string {
	if v.broken != nil {
		return firstLine(v.broken.Error())
	}
	var words []string
	if len(v.mutant.Hunters) > 0 {
		words = append(words, v.byTests())
	}
	switch {
	case len(v.objected) > 0:
		words = append(words, "by chaos: "+strings.Join(v.objected, ", "))
	case v.missed():
		words = append(words, strings.TrimSpace("not by chaos "+v.astray))
	}
	return strings.Join(words, "; and ")
}

func (v verdict) byTests() string {
	switch {
	case v.late:
		return "by " + v.by + " (out of time)"
	case v.killed:
		return "by " + v.by
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
	fmt.Fprintf(w, "%-8s  %5.1f s  %s, %s\n", v.word(), v.took.Seconds(), v.mutant.Name, v.what())
	if v.broken != nil {
		fmt.Fprintln(w, v.broken)
	}
}

// printSummary prints the table, and reports whether every mutant was killed.
func printSummary(w io.Writer, verdicts []verdict, took time.Duration) bool {
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "VERDICT\tMUTANT\tHOLE\tBY\tSECONDS")
	killed, stormed := 0, 0
	for _, v := range verdicts {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.1f\n", v.word(), v.mutant.Name, v.mutant.Hole, v.what(), v.took.Seconds())
		if v.caught() {
			killed++
		}
		if len(v.objected) > 0 {
			stormed++
		}
	}
	_ = table.Flush()
	fmt.Fprintf(w, "\nmutants: %d, killed: %d (by chaos, too: %d), not killed: %d, in %v\n", len(verdicts), killed, stormed, len(verdicts)-killed, took.Round(time.Second))
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
