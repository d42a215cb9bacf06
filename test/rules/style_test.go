package rules

import (
	"fmt"
	"go/ast"
	"regexp"
	"strconv"
	"strings"
)

const (
	maxFileLines     = 500
	maxFunctionLines = 60
	maxMainLines     = 25
)

func longFiles(s source) []string {
	limit := maxFileLines
	if s.path == "cmd/fencelock/main.go" {
		limit = maxMainLines
	}
	lines := strings.Count(s.text, "\n")
	if s.isTest() || s.generated() || lines <= limit {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d lines, want at most %d", s.path, lines, limit)}
}

// longFunctions counts a function literal with the function that it stands in.
func longFunctions(s source) []string {
	if s.isTest() || s.generated() {
		return nil
	}
	var objections []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			if lines := s.lines(n); lines > maxFunctionLines {
				objections = append(objections,
					fmt.Sprintf("%s: function of %d lines, want at most %d", s.at(n), lines, maxFunctionLines))
			}
			return false
		}
		return true
	})
	return objections
}

// sleeps finds tests that guess how long something takes. In a synctest
// bubble time is exact, and sleeping is the way to move it.
func sleeps(s source) []string {
	timeName := importName(s, "time")
	if !s.isTest() || timeName == "" || importName(s, "testing/synctest") != "" {
		return nil
	}
	return selections(s, timeName, "Sleep", "wait for the thing itself")
}

var unfinishedWord = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func unfinished(s source) []string {
	var objections []string
	for _, group := range s.file.Comments {
		for _, comment := range group.List {
			if word := unfinishedWord.FindString(comment.Text); word != "" {
				objections = append(objections, s.at(comment)+": "+word)
			}
		}
	}
	return append(objections, selections(s, importName(s, "context"), "TODO", "say which context")...)
}

// packageComments wants one where godoc shows it: in a file that is no test,
// if the package has any.
func packageComments(sources []source) []string {
	byDir := map[string][]source{}
	for _, s := range sources {
		byDir[s.dir()] = append(byDir[s.dir()], s)
	}
	var objections []string
	for dir, files := range byDir {
		if !documented(files) {
			objections = append(objections, dir+": no package comment")
		}
	}
	return objections
}

func documented(files []source) bool {
	onlyTests := true
	for _, s := range files {
		onlyTests = onlyTests && s.isTest()
	}
	for _, s := range files {
		name := s.file.Name.Name
		comment := s.file.Doc.Text()
		if (onlyTests || !s.isTest()) && comment != "" &&
			(name == "main" || strings.HasPrefix(comment, "Package "+name+" ")) {
			return true
		}
	}
	return false
}

// importName is the name by which a file knows an imported package.
func importName(s source, pkg string) string {
	for _, spec := range s.file.Imports {
		if imported, _ := strconv.Unquote(spec.Path.Value); imported != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return pkg[strings.LastIndex(pkg, "/")+1:]
	}
	return ""
}

// selections finds every pkg.name.
func selections(s source, pkg, name, objection string) []string {
	var objections []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name == name {
			if x, ok := selector.X.(*ast.Ident); ok && x.Name == pkg {
				objections = append(objections, fmt.Sprintf("%s: %s.%s: %s", s.at(n), pkg, name, objection))
			}
		}
		return true
	})
	return objections
}
