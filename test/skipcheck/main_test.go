package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The .json files in testdata were recorded from go1.26's `go test -json`.
func TestRecordedStreams(t *testing.T) {
	tests := []struct {
		name    string // testdata/<name>.json
		noSkips bool
		ok      bool
		want    string
	}{
		{name: "passes", ok: true, want: `
ok  	example.com/rec/passes	0.003s

3 passed, 0 failed, 0 skipped
`},
		{name: "skips", ok: true, want: `
ok  	example.com/rec/skips	0.003s

Skipped:
  example.com/rec/skips TestSkip: s_test.go:7: no Redis here
  example.com/rec/skips TestParent/sub: no reason given

2 passed, 0 failed, 2 skipped
`},
		{name: "skips", noSkips: true, want: `
ok  	example.com/rec/skips	0.003s

Skipped:
  example.com/rec/skips TestSkip: s_test.go:7: no Redis here
  example.com/rec/skips TestParent/sub: no reason given
FAIL: no test may be skipped here

2 passed, 0 failed, 2 skipped
`},
		{name: "fails", want: `
    f_test.go:10: got 1, want 2
--- FAIL: TestFail/sub (0.00s)
    f_test.go:8: before
--- FAIL: TestFail (0.00s)
FAIL
FAIL	example.com/rec/fails	0.003s

1 passed, 2 failed, 0 skipped
`},
		{name: "broken", want: `
# example.com/rec/broken [example.com/rec/broken.test]
broken/b_test.go:5:28: undefined: undefined
FAIL	example.com/rec/broken [build failed]

0 passed, 1 failed, 0 skipped
`},
		{name: "testmain", want: `
PASS
FAIL	example.com/rec/testmain	0.003s

1 passed, 1 failed, 0 skipped
`},
		{name: "notests", want: `
?   	example.com/rec/notests	[no test files]
FAIL: no test ran

0 passed, 0 failed, 0 skipped
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := run(t, recorded(t, test.name), test.noSkips)
			if got != test.want[1:] || ok != test.ok {
				t.Errorf("got ok %t and\n%s\nwant ok %t and%s", ok, got, test.ok, test.want)
			}
		})
	}
}

// A panic ends the process: the tests beside it have no end event.
func TestPanic(t *testing.T) {
	got, ok := run(t, recorded(t, "panics"), false)
	expectFailure(t, got, ok,
		"panic: boom",
		"--- FAIL: TestPanic (0.00s)\n",
		"--- FAIL: TestBystander (it never ended)\n",
		"FAIL\texample.com/rec/panics\t",
		"\n0 passed, 2 failed, 0 skipped\n")
}

// go test was killed, its stream stops anywhere.
func TestStreamThatStops(t *testing.T) {
	const firstTestRuns = 4 // lines: start, run, two of output
	stream := strings.Join(strings.SplitAfter(recorded(t, "passes"), "\n")[:firstTestRuns], "")
	got, ok := run(t, stream, false)
	expectFailure(t, got, ok,
		"--- FAIL: TestPass (it never ended)\n",
		"FAIL\texample.com/rec/passes [it never ended]\n",
		"\n0 passed, 1 failed, 0 skipped\n")
}

// One package may skip, and no other.
func TestExemptPackage(t *testing.T) {
	for except, want := range map[string]bool{"example.com/rec/skips": true, "example.com/rec": false} {
		var out bytes.Buffer
		ok, err := check(strings.NewReader(recorded(t, "skips")), &out, rule{noSkips: true, except: except})
		if ok != want || err != nil || !strings.Contains(out.String(), "2 skipped") {
			t.Errorf("%s is exempt: got ok %t, %v, want %t; output\n%s", except, ok, err, want, &out)
		}
	}
}

func TestEmptyStream(t *testing.T) {
	got, ok := run(t, "", false)
	expectFailure(t, got, ok, "FAIL: no test ran\n", "\n0 passed, 0 failed, 0 skipped\n")
}

func TestLinesThatAreNoEventsAreKept(t *testing.T) {
	got, ok := run(t, "go: warning\n"+recorded(t, "passes"), false)
	if !ok || !strings.HasPrefix(got, "go: warning\n") {
		t.Errorf("got ok %t and\n%s\nwant ok and the warning first", ok, got)
	}
}

func recorded(t *testing.T, name string) string {
	t.Helper()
	stream, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(stream)
}

func run(t *testing.T, stream string, noSkips bool) (output string, ok bool) {
	t.Helper()
	var out bytes.Buffer
	ok, err := check(strings.NewReader(stream), &out, rule{noSkips: noSkips})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), ok
}

func expectFailure(t *testing.T, got string, ok bool, wants ...string) {
	t.Helper()
	if ok {
		t.Error("got ok, want a failure")
	}
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant in it %q", got, want)
		}
	}
}
