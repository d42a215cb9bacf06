package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const maxReadmeLines = 200

// topLevel is all that lies at the top of the tree; not everything must.
var topLevel = []string{
	"client", "cluster", "cmd", "config", "deploy", "docs", "fencing", "test",
	"Dockerfile", "LICENSE", "Makefile", "README.md", "go.mod", "go.sum",
	".ci", ".dockerignore", ".git", ".gitignore",
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	report(t, strays(names, readIgnored(t)))
}

func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	report(t, longReadme(string(text)))
}

func TestLayoutRulesCanFail(t *testing.T) {
	nothing := func(string) bool { return false }
	if got := strays([]string{"client", "utils", "go.mod"}, nothing); len(got) != 1 {
		t.Errorf("got objections %q, want one, to utils", got)
	}
	if got := strays(topLevel, nothing); len(got) != 0 {
		t.Errorf("got objections %q, want none", got)
	}
	if got := longReadme(strings.Repeat("\n", maxReadmeLines+1)); len(got) != 1 {
		t.Errorf("got objections %q, want one, to %d lines", got, maxReadmeLines+1)
	}
	if got := longReadme(strings.Repeat("\n", maxReadmeLines)); len(got) != 0 {
		t.Errorf("got objections %q, want none", got)
	}
}

func TestIgnoredNames(t *testing.T) {
	ignored := readIgnored(t)
	for name, want := range map[string]bool{"bin": true, "client.test": true, "client": false} {
		if got := ignored(name); got != want {
			t.Errorf("ignored(%q) = %t, want %t", name, got, want)
		}
	}
}

func strays(names []string, ignored func(string) bool) []string {
	var objections []string
	for _, name := range names {
		if !slices.Contains(topLevel, name) && !ignored(name) {
			objections = append(objections, name+" does not belong at the top of the tree")
		}
	}
	return objections
}

func longReadme(text string) []string {
	if lines := strings.Count(text, "\n"); lines > maxReadmeLines {
		return []string{fmt.Sprintf("README.md: %d lines, want at most %d", lines, maxReadmeLines)}
	}
	return nil
}
