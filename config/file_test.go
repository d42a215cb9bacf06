package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files that would be ignored in part or as a whole, or never end.
func TestFilesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a second document": {"---\nclient: {}\n---\nfoo: 1\n", "more than one YAML document"},
		"UTF-16":            {"\xff\xfec\x00l\x00", "UTF-8"},
		"too large":         {strings.Repeat("# a comment\n", maxFile/12+1), "larger than"},
	} {
		path := filepath.Join(t.TempDir(), "fencelock.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readFile(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error that names the file and says %q", name, err, c.want)
		}
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if _, err := readFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "larger than") {
			t.Errorf("/dev/zero: got %v, want it too large", err)
		}
	}
}
