package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source is one Go file of this module or of a module nested in it.
type source struct {
	path string // from the top of the tree, with slashes
	text string
	fset *token.FileSet
	file *ast.File
}

func parse(t *testing.T, path, text string) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return source{path, text, fset, file}
}

func (s source) dir() string     { return path.Dir(s.path) }
func (s source) isTest() bool    { return strings.HasSuffix(s.path, "_test.go") }
func (s source) generated() bool { return ast.IsGenerated(s.file) }

// at is the place of a node for an objection.
func (s source) at(n ast.Node) string { return s.fset.Position(n.Pos()).String() }

func (s source) lines(n ast.Node) int {
	return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
}

// loadSources parses every Go file in the tree, whatever system it is for.
func loadSources(t *testing.T) []source {
	t.Helper()
	ignored := readIgnored(t)
	var sources []source
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (name == ".git" || name == "testdata" || ignored(name)) {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		sources = append(sources, parse(t, relative(t, file), readFile(t, file)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) == 0 {
		t.Fatalf("found no Go file below %s", root)
	}
	return sources
}

func relative(t *testing.T, file string) string {
	t.Helper()
	rel, err := filepath.Rel(root, file)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readIgnored is .gitignore as far as it is used here: names and wildcards.
func readIgnored(t *testing.T) func(name string) bool {
	t.Helper()
	patterns := strings.Fields(readFile(t, filepath.Join(root, ".gitignore")))
	return func(name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, _ := path.Match(strings.Trim(pattern, "/"), name)
			return ok
		})
	}
}
