package fencingtest

import (
	"fmt"
	"slices"
	"testing"
)

// testCase is one thing that is asked of every fence that has what it needs.
type testCase struct {
	name  string
	needs []Capability
	check func(p *probe)
	issue bool // asked only of resources whose tokens the lock service behind them issues
}

func cases() []testCase {
	return slices.Concat(orderCases(), refusalCases(), tokenCases(), verifyCases(), memoryCases(), raceCases())
}

// Run runs every case against resources that h opens, each against one of its
// own, and logs which it left out and why.
func Run(t *testing.T, h Harness) {
	t.Helper()
	h.validate(t)
	if t.Failed() {
		t.Fatal("the harness is not complete")
	}
	for _, c := range cases() {
		if why := h.leavesOut(c); why != "" {
			t.Logf("%s: not asked: %s", c.name, why)
			continue
		}
		t.Run(c.name, func(t *testing.T) { c.check(newProbe(t, h)) })
	}
}

// leavesOut returns why c is not for this resource, or "".
func (h Harness) leavesOut(c testCase) string {
	for _, need := range c.needs {
		if !h.has(need) {
			return fmt.Sprintf("the resource cannot %s: %s", need, h.Without[need])
		}
	}
	if c.issue && h.has(AnyToken) {
		return "the resource knows no lock service, other than through Verify"
	}
	return ""
}
