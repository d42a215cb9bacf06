package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// tally is the state of a test run while its events come in.
type tally struct {
	out            io.Writer
	open           map[string]*suite // packages that have not ended
	passed, failed int
	skipped        []skip
}

// suite is one package under test.
type suite struct {
	output []string            // the package's own, not of a test
	open   map[string][]string // output of the tests that have not ended
	failed int
}

type skip struct {
	pkg, test, reason string
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, open: make(map[string]*suite)}
}

func (t *tally) say(text string) { io.WriteString(t.out, text) }

func (t *tally) add(e event) {
	switch e.Action {
	case "build-output":
		t.say(e.Output)
	case "start":
		t.suite(e.Package)
	case "run":
		t.suite(e.Package).open[e.Test] = []string{}
	case "output":
		t.suite(e.Package).note(e)
	case "pass", "fail", "skip":
		if e.Test == "" {
			t.endPackage(e.Package, e.Action)
		} else {
			t.endTest(e.Package, e.Test, e.Action)
		}
	}
}

// suite finds the package or begins it.
func (t *tally) suite(pkg string) *suite {
	s, ok := t.open[pkg]
	if !ok {
		s = &suite{open: make(map[string][]string)}
		t.open[pkg] = s
	}
	return s
}

// note keeps output until it is known whether anyone wants to read it.
func (s *suite) note(e event) {
	if strings.HasPrefix(e.Output, "=== ") { // RUN, PAUSE, CONT, NAME
		return
	}
	if _, ok := s.open[e.Test]; ok {
		s.open[e.Test] = append(s.open[e.Test], e.Output)
	} else {
		s.output = append(s.output, e.Output)
	}
}

func (t *tally) endTest(pkg, test, action string) {
	s := t.suite(pkg)
	output := s.open[test]
	delete(s.open, test)
	switch action {
	case "pass":
		t.passed++
	case "skip":
		t.skipped = append(t.skipped, skip{pkg, test, reason(output)})
	case "fail":
		t.failed++
		s.failed++
		t.say(strings.Join(output, ""))
	}
}

func (t *tally) endPackage(pkg, action string) {
	s := t.suite(pkg)
	for _, test := range slices.Sorted(maps.Keys(s.open)) {
		s.open[test] = append(s.open[test], fmt.Sprintf("--- FAIL: %s (it never ended)\n", test))
		t.endTest(pkg, test, "fail")
	}
	delete(t.open, pkg)
	for _, line := range s.output {
		if action == "fail" || isResult(line) {
			t.say(line)
		}
	}
	if action == "fail" && s.failed == 0 {
		t.failed++
	}
}

// endStream ends the packages that the stream left open: go test was killed.
func (t *tally) endStream() {
	for _, pkg := range slices.Sorted(maps.Keys(t.open)) {
		s := t.suite(pkg)
		s.output = append(s.output, fmt.Sprintf("FAIL\t%s [it never ended]\n", pkg))
		t.endPackage(pkg, "fail")
	}
}

// isResult tells the lines that go test prints for a package that passed.
func isResult(line string) bool {
	return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t")
}

// reason is what a skipped test said.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "--- SKIP:") {
			said = append(said, line)
		}
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}
