package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestReferenceIsCurrent(t *testing.T) {
	written, err := os.ReadFile("../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != reference(newRootCommand(&app{})) {
		t.Error("docs/cli.md is not what the commands say; run: go run ./cmd/fencelock man --reference docs/cli.md")
	}
}

func TestReference(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cli.md")
	(caller{}).run("man", "--reference", path).want(t, codeOK)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"| [`kv get`](#fencelock-kv-get) | Print one record |", "\n## fencelock kv get\n", "--sequencer", "\n## fencelock\n", "--endpoints"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the reference does not contain %q", part)
		}
	}
	for _, part := range []string{"## fencelock man", "## fencelock demo worker", "## fencelock help", "--help "} {
		if strings.Contains(string(text), part) {
			t.Errorf("the reference contains %q", part)
		}
	}
	(caller{}).run("man", "--reference", filepath.Join(path, "x")).want(t, codeFailure, "write the reference")
	(caller{}).run("man").want(t, codeUsage, "want --dir or --reference")
}

// Each command that is not hidden has a page, and no other has one.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	c := caller{}.with("SOURCE_DATE_EPOCH=1700000000")
	c.run("man", "--dir", dir).want(t, codeOK)
	found, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for _, page := range found {
		pages[strings.TrimSuffix(filepath.Base(page), ".1")] = true
	}
	visit(newRootCommand(&app{}), func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		if !pages[name] {
			t.Errorf("no page for %s", name)
		}
		delete(pages, name)
	})
	delete(pages, "fencelock-help")
	if len(pages) > 0 {
		t.Errorf("pages for %v", pages)
	}
	text, err := os.ReadFile(filepath.Join(dir, "fencelock-lock.1"))
	if err != nil || !strings.Contains(string(text), `.TH "FENCELOCK-LOCK" "1" "Nov 2023" "fencelock" "fencelock"`) || !strings.Contains(string(text), "conflict-exit-code") {
		t.Errorf("page of lock: %v, %s", err, text)
	}
	c.with("SOURCE_DATE_EPOCH=x").run("man", "--dir", dir).want(t, codeUsage, "SOURCE_DATE_EPOCH")
}
