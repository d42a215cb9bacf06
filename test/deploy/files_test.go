package deploy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Every file in deploy/ is named by a test that is not this one: what nothing looks
// at goes wrong in silence.
func TestEveryFileIsChecked(t *testing.T) {
	named := namedInTests(t)
	root := filepath.Join(top, "deploy")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !named[entry.Name()] {
			t.Errorf("%s is named by no test", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if named["no-such-file.yaml"] {
		t.Error("a file that no test names counts as named")
	}
}

// namedInTests has the last parts of all paths in the strings of tests.
func namedInTests(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(top, "test", "*", "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("tests: got %v, %v", files, err)
	}
	named := map[string]bool{}
	for _, file := range files {
		if filepath.Base(file) == "files_test.go" {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				named[filepath.Base(strings.Trim(text.Value, "\"`"))] = true
			}
			return true
		})
	}
	return named
}
