package main

import "fmt"

// verdict prints the end of the report and says whether the run is good.
func (t *tally) verdict(noSkips bool) bool {
	if len(t.skipped) > 0 {
		t.say("\nSkipped:\n")
	}
	for _, s := range t.skipped {
		t.say(fmt.Sprintf("  %s %s: %s\n", s.pkg, s.test, s.reason))
	}
	ok := t.failed == 0
	if noSkips && len(t.skipped) > 0 {
		t.say("FAIL: no test may be skipped here\n")
		ok = false
	}
	if t.passed+t.failed == 0 {
		t.say("FAIL: no test ran\n")
		ok = false
	}
	t.say(fmt.Sprintf("\n%d passed, %d failed, %d skipped\n", t.passed, t.failed, len(t.skipped)))
	return ok
}
