package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The type of each problem document is a URL into docs/fencing.md.
func TestProblemsAreDocumented(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "fencing", "httpfence", "problem.go"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs", "fencing.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, undocumented(string(source), string(doc)))
}

func TestProblemRuleCanFail(t *testing.T) {
	const source = `{fencing.ErrStale, "stale", http.StatusConflict, true},` + "\n" + `{fencing.ErrMissing, "missing", http.StatusConflict, true},`
	if got := undocumented(source, "### stale\n"); len(got) != 1 {
		t.Errorf("got objections %q, want one, to missing", got)
	}
	if got := undocumented(source, "### stale\n\n### missing\n"); len(got) != 0 {
		t.Errorf("got objections %q, want none", got)
	}
	if got := undocumented("", ""); len(got) != 1 {
		t.Errorf("got objections %q, want one, to no problems at all", got)
	}
}

// undocumented objects to every problem that has no heading in the document.
func undocumented(source, doc string) (objections []string) {
	problems := regexp.MustCompile(`\{fencing\.Err\w+, "([a-z-]+)"`).FindAllStringSubmatch(source, -1)
	if len(problems) == 0 {
		return []string{"found no problems in the source: does this rule still read it right?"}
	}
	for _, p := range problems {
		if !strings.Contains("\n"+doc, "\n### "+p[1]+"\n") {
			objections = append(objections, "docs/fencing.md has no heading for the problem "+p[1])
		}
	}
	return objections
}
