package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The Go code that the README shows is a tested example.
func TestReadmeExampleIsTested(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	tested, err := os.ReadFile(filepath.Join(root, "client", "readme_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, untested(string(readme), string(tested)))
}

func TestReadmeRuleCanFail(t *testing.T) {
	readme := "text\n```go\nfunc a() {}\n```\nmore\n```go\nfunc b() {}\n```\n"
	if got := untested(readme, "package x\n\nfunc a() {}\n"); len(got) != 1 {
		t.Errorf("got objections %q, want one, to b", got)
	}
	if got := untested(readme, "func a() {}\nfunc b() {}\n"); len(got) != 0 {
		t.Errorf("got objections %q, want none", got)
	}
	if got := untested("no code", ""); len(got) != 1 {
		t.Errorf("got objections %q, want one, to a README without an example", got)
	}
}

// untested objects to every block of Go in the README that is not in the tested
// source, letter by letter.
func untested(readme, source string) (objections []string) {
	blocks := strings.Split(readme, "```go\n")[1:]
	if len(blocks) == 0 {
		return []string{"the README has no Go example"}
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(source, code) {
			objections = append(objections, "not in client/readme_test.go: "+code)
		}
	}
	return objections
}
