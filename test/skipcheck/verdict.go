package main

import "fmt"

// rule is what becomes of a run in which tests were skipped.
type rule struct {
	noSkips bool
	except  string // a package that may skip nevertheless
}

// forbidden reports whether any of the tests should not have been skipped.
func (r rule) forbidden(skipped []skip) bool {
	for _, s := range skipped {
		if r.noSkips && s.pkg != r.except {
			return true
		}
	}
	return false
}

// verdict prints the end of the report and says whether the run is good.
func (t *tally) verdict(skips rule) bool {
	if len(t.skipped) > 0 {
		t.say("\nSkipped:\n")
	}
	for _, s := range t.skipped {
		t.say(fmt.Sprintf("  %s %s: %s\n", s.pkg, s.test, s.reason))
	}
	ok := t.failed == 0
	if skips.forbidden(t.skipped) {
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
