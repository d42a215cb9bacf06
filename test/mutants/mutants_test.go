package main

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const tree = "../.."

// Whoever changes the source learns here which mutant has to follow.
func TestEveryMutantFitsTheSource(t *testing.T) {
	for _, m := range all() {
		texts, err := mutate(tree, m)
		if err != nil {
			t.Error(err)
			continue
		}
		for file, text := range texts {
			if _, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution); err != nil {
				t.Errorf("mutant %q: %v", m.Name, err)
			}
		}
		for _, e := range m.Edits {
			if e.Old == e.New || strings.HasSuffix(e.File, "_test.go") {
				t.Errorf("mutant %q: want a change of the product, got %+v", m.Name, e)
			}
		}
	}
}

func TestMutantsAreToldApart(t *testing.T) {
	hole := regexp.MustCompile(`^(§[1-6] |[a-z]+fence: ).+`)
	seen := map[string]bool{}
	for _, m := range all() {
		if m.Name == "" || seen[m.Name] {
			t.Errorf("name %q is empty, or there twice", m.Name)
		}
		seen[m.Name] = true
		if !hole.MatchString(m.Hole) {
			t.Errorf("mutant %q: hole %q: want a section of the protocol, or a fence, and what it says", m.Name, m.Hole)
		}
		if len(m.Hunters) == 0 && m.Chaos == nil {
			t.Errorf("mutant %q: nothing hunts it", m.Name)
		}
	}
}

// A hunter that has lost one of its tests, renamed say, would hunt with the rest.
func TestEveryHunterNamesTestsThatExist(t *testing.T) {
	for _, m := range all() {
		for _, h := range m.Hunters {
			if _, err := regexp.Compile(h.Run); err != nil {
				t.Errorf("mutant %q: %v", m.Name, err)
			}
			text := testsOf(t, h.Package)
			for _, name := range regexp.MustCompile(`Test\w+`).FindAllString(h.Run, -1) {
				if !strings.Contains(text, "\nfunc "+name+"(t *testing.T) {") {
					t.Errorf("mutant %q: %s has no test %s", m.Name, h.Package, name)
				}
			}
		}
	}
}

func testsOf(t *testing.T, pkg string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(tree, filepath.FromSlash(pkg), "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no tests: %v", pkg, err)
	}
	var text strings.Builder
	for _, file := range files {
		one, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(one)
	}
	return text.String()
}

func TestOverlay(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, "a", "b.go"), "one two\n")
	m := Mutant{Name: "sample", Edits: []Edit{{"a/b.go", "one", "three"}, {"a/b.go", "two", "four"}}}
	path, err := overlay(root, folder, m)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Replace map[string]string }
	if err := json.Unmarshal([]byte(read(t, path)), &got); err != nil {
		t.Fatal(err)
	}
	changed := got.Replace[filepath.Join(root, "a", "b.go")]
	if len(got.Replace) != 1 || changed == "" {
		t.Fatalf("overlay %v, want the one file", got.Replace)
	}
	if got, want := read(t, changed), "three four\n"; got != want {
		t.Errorf("the changed file holds %q, want %q", got, want)
	}
	if got, want := read(t, filepath.Join(root, "a", "b.go")), "one two\n"; got != want {
		t.Errorf("the source holds %q, want it untouched: %q", got, want)
	}
	for _, old := range []string{"none", "o"} { // not there; there twice
		if _, err := overlay(root, folder, Mutant{Edits: edit("a/b.go", old, "x")}); err == nil {
			t.Errorf("an edit of %q: no error", old)
		}
	}
}

func TestOutcomes(t *testing.T) {
	failed := errors.New("exit status 2")
	for _, c := range []struct {
		text string
		err  error
		late bool
		want outcome
	}{
		{"PASS", nil, false, outcome{passed: true}},
		{"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b (0.1s)\n    --- FAIL: TestA/c (0.1s)\n", failed, false, outcome{by: "TestA/b"}},
		{"goleak: found a goroutine", failed, false, outcome{by: "exit status 2"}},
		{"panic: test timed out after 2m0s", failed, false, outcome{by: "exit status 2", late: true}},
		{"", failed, true, outcome{by: "exit status 2", late: true}},
	} {
		if got := outcomeOf(c.text, c.err, c.late); got != c.want {
			t.Errorf("%q: got %+v, want %+v", c.text, got, c.want)
		}
	}
	if err := fit("--- PASS: TestA\nPASS\n", outcome{passed: true}); err != nil {
		t.Errorf("a hunter that passes: %v", err)
	}
	for _, text := range []string{"testing: warning: no tests to run\nPASS\n", "    --- SKIP: TestA/b (0.0s)\n        no server\nPASS\n"} {
		if err := fit(text, outcome{passed: true}); err == nil {
			t.Errorf("%q: passes for fit", text)
		}
	}
}

func TestSummary(t *testing.T) {
	m := Mutant{Name: "sample", Hole: "§1 words", Hunters: tests("./a", "TestA")}
	killed := verdict{mutant: m}.killedBy("./a TestA", false)
	for _, c := range []struct {
		v    verdict
		want string
		ok   bool
	}{
		{killed, "killed", true},
		{verdict{mutant: m}, "SURVIVED", false},
		{verdict{mutant: m, killed: true, hunted: true, objected: []string{"a promise"}}, "killed", true},
		{verdict{mutant: m, killed: true, hunted: true, astray: "FAIL"}, "MISSED", false},
		{verdict{mutant: Mutant{Name: "stormed"}, hunted: true, objected: []string{"a promise"}}, "killed", true},
		{verdict{mutant: m}.brokenBy(errors.New("no such variable")), "BROKEN", false},
	} {
		var out strings.Builder
		if got := printSummary(&out, []verdict{killed, c.v}, 0); got != c.ok || !strings.Contains(out.String(), "\n"+c.want) {
			t.Errorf("%s: got %t and\n%s", c.want, got, out.String())
		}
	}
	var out strings.Builder
	if printSummary(&out, []verdict{killed}, 0); !strings.HasSuffix(out.String(), "\nmutants: 1, killed: 1 (by chaos, too: 0), not killed: 0, in 0s\n") {
		t.Errorf("of one mutant: %s", out.String())
	}
}

// Only a broken promise kills: not a run that could not be made, nor one in which there
// was nothing to look at.
func TestObjections(t *testing.T) {
	var found run
	if err := json.Unmarshal([]byte(`{"checks": [
		{"name": "kept", "passed": true, "counted": 5},
		{"name": "broken", "counted": 5, "violations": [{"text": "a is lost"}]},
		{"name": "broken and nothing counted", "violations": [{"text": "b is left"}]},
		{"name": "unseen", "violations": [{"text": "saw nothing"}]},
		{"name": "the run came to its end", "counted": 1, "violations": [{"text": "no leader"}]}]}`), &found); err != nil {
		t.Fatal(err)
	}
	if got, want := found.objections(), []string{"broken", "broken and nothing counted"}; !slices.Equal(got, want) {
		t.Errorf("objections of %q, want of %q", got, want)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
