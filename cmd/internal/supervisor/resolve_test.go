//go:build linux || darwin

package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"plain/tool": 0o644, "plain/only-plain": 0o644, "run/tool": 0o755} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	plain, run := filepath.Join(dir, "plain"), filepath.Join(dir, "run")
	t.Chdir(run)
	for _, c := range []struct {
		name, path string
		want       string
		err        error
	}{
		{"tool", run, run + "/tool", nil},
		{"tool", plain + ":" + run, run + "/tool", nil}, // goes on looking
		{"tool", plain + ":/nowhere", "", ErrNotExecutable},
		{"only-plain", plain + ":" + run, "", ErrNotExecutable},
		{"missing", plain + ":" + run, "", ErrNotFound},
		{"plain", dir, "", ErrNotExecutable}, // a folder
		{"", run, "", ErrNotFound},
		{"tool", ":/nowhere", "tool", nil}, // an empty folder is the current one
		{"sh", "", "/bin/sh", nil},
		{"./tool", "", "./tool", nil},
		{run + "/tool", "", run + "/tool", nil},
		{"./missing", run, "./missing", ErrNotFound},
		{"./tool/below", run, "./tool/below", ErrNotFound},
		{plain + "/tool", run, plain + "/tool", ErrNotExecutable},
		{"../plain", run, "../plain", ErrNotExecutable},
	} {
		got, err := Resolve([]string{c.name, "-x"}, c.path)
		if got.Path != c.want && err == nil || !errors.Is(err, c.err) {
			t.Errorf("Resolve(%q) in PATH %q = %q, %v, want %q, %v", c.name, c.path, got.Path, err, c.want, c.err)
		}
	}
}
