//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/fencelock/fencelock/test/chaos/faults"
)

// Kinds that lack the same are told in one line, which says what to do.
func TestWhatIsLeftOut(t *testing.T) {
	kinds := []faults.Kind{{Name: "a"}, {Name: "b", Needs: []string{"strace", "loop"}}, {Name: "c", Needs: []string{"loop"}}, {Name: "d", Needs: []string{"strace"}}}
	met, lacking := possible(kinds, func(need string) bool { return need == "strace" })
	if got := names(met); len(got) != 2 || got[0] != "a" || got[1] != "d" {
		t.Errorf("can be had: %v, want a and d", got)
	}
	if len(lacking) != 1 {
		t.Errorf("lacking: %v, want loop alone", lacking)
	}
	if got := leftOut("loop", lacking["loop"]); !strings.Contains(got, "be root") || !strings.HasSuffix(got, ": 2: b, c") {
		t.Errorf("got %q, want b and c, and what they need", got)
	}
	for _, kind := range faults.All() {
		for _, need := range kind.Needs {
			if strings.Contains(leftOut(need, nil), "need "+need+":") {
				t.Errorf("%s needs %q, of which nothing is told", kind.Name, need)
			}
		}
	}
}
