package checks

import (
	"slices"
	"testing"

	"github.com/fencelock/fencelock/test/chaos/history"
)

func TestRightRun(t *testing.T) {
	in := right()
	for _, r := range Run(in) {
		if !r.OK() || r.Counted == 0 {
			t.Errorf("%s: counted %d, %d violations: %v", r.Name, r.Counted, r.Wrong, r.Violations)
		}
	}
	for _, l := range Losses(in) {
		if l.Lost != 0 || l.Stated != 0 || l.Acknowledged == 0 {
			t.Errorf("losses %+v, want none", l)
		}
	}
}

// A run of many turns, whose histories are cut, and whose lists have many chapters.
func TestLongRun(t *testing.T) {
	s := newStory()
	s.turns(300)
	slices.SortStableFunc(s.ops, byCall)
	for _, r := range Run(Input{Ops: s.ops, End: right().End}) {
		if !r.OK() {
			t.Errorf("%s, of %d operations: %v", r.Name, len(s.ops), r.Violations)
		}
	}
}

// A check that looks at nothing has failed.
func TestSawNothing(t *testing.T) {
	failed := 0
	for _, r := range Run(Input{}) {
		if !r.OK() {
			failed++
		}
	}
	if failed != 4 { // tokens, order, members, leftovers: every run has those
		t.Errorf("%d checks object to an empty run, want 4", failed)
	}
}

// wrongRun is the right run, with one thing changed.
type wrongRun struct {
	check  string // that must object
	name   string
	change func(t *testing.T, in *Input)
}

func TestWrongRuns(t *testing.T) {
	for _, w := range wrongRuns() {
		t.Run(w.check+"/"+w.name, func(t *testing.T) {
			in := right()
			w.change(t, &in)
			found := false
			for _, r := range Run(in) {
				if r.Name != w.check {
					continue
				}
				found = true
				if r.OK() {
					t.Errorf("no objection; counted %d, %s", r.Counted, r.Note)
				}
			}
			if !found {
				t.Error("no such check")
			}
		})
	}
}

// Each check has at least two runs that it objects to.
func TestEveryCheckCanFail(t *testing.T) {
	n := map[string]int{}
	for _, w := range wrongRuns() {
		n[w.check]++
	}
	for _, c := range all() {
		if n[c.name] < 2 {
			t.Errorf("%d wrong runs for %q, want two", n[c.name], c.name)
		}
	}
}

// TestExcuses holds that what a fault has stated is no violation.
func TestExcuses(t *testing.T) {
	for _, w := range excusedRuns() {
		t.Run(w.check+"/"+w.name, func(t *testing.T) {
			in := right()
			w.change(t, &in)
			for _, r := range Run(in) {
				if r.Name == w.check && !r.OK() {
					t.Errorf("objections: %v", r.Violations)
				}
			}
		})
	}
}

func stop(in *Input, from, to history.Time, client string) {
	in.Faults = append(in.Faults, history.Fault{Kind: "SIGSTOP of a client", Group: "client", Round: 9, Begin: from, Healed: to,
		Victims: []string{client}, Cost: history.Cost{Pauses: true, Sessions: true}})
}
