package rules

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// Every way into package client has an Example of its own: its functions, and the
// methods of Client. Everything else that it exports is called in some Example.
func TestClientIsShownByExamples(t *testing.T) {
	report(t, notShown(loadSources(t), "client", "Client"))
}

func TestExampleRuleCanFail(t *testing.T) {
	code := parse(t, "p/p.go", "package p\nfunc New() {}\nfunc hidden() {}\ntype C struct{}\nfunc (c *C) Do() {}\ntype h struct{}\nfunc (*h) Err() {}\nfunc (*h) end() {}\n")
	for text, want := range map[string]int{
		"package p":                      3,
		"package p\nfunc ExampleNew(){}": 2,
		"package p\nfunc ExampleNew(){}\nfunc ExampleC_Do(){ x.Do() }":                    1,
		"package p\nfunc ExampleNew(){}\nfunc ExampleC_Do(){}\nfunc TestErr(){ x.Err() }": 1,
		"package p\nfunc ExampleNew(){}\nfunc ExampleC_Do(){ x.Err() }":                   0,
		"package p\nfunc ExampleNew_one(){}\nfunc ExampleC_Do_two(){ x.Err() }":           0,
		"package p\nfunc Example(){ New(); x.Do(); x.Err() }":                             2,
	} {
		if got := notShown([]source{code, parse(t, "p/p_test.go", text)}, "p", "C"); len(got) != want {
			t.Errorf("%q: got objections %q, want %d", text, got, want)
		}
	}
}

// notShown objects to what a package exports and no Example shows.
func notShown(sources []source, dir, entry string) (objections []string) {
	examples, called := map[string]bool{}, map[string]bool{}
	eachFunction(sources, dir, func(s source, f *ast.FuncDecl) {
		if !s.isTest() || !strings.HasPrefix(f.Name.Name, "Example") {
			return
		}
		examples[f.Name.Name] = true
		ast.Inspect(f, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				called[selector.Sel.Name] = true
			}
			return true
		})
	})
	eachFunction(sources, dir, func(s source, f *ast.FuncDecl) {
		name, of := f.Name.Name, receiver(f)
		switch {
		case s.isTest() || !f.Name.IsExported() || implementsForOthers(of):
		case of == "" && !hasExample(examples, name):
			objections = append(objections, s.at(f)+": no Example"+name)
		case of == entry && !hasExample(examples, of+"_"+name):
			objections = append(objections, s.at(f)+": no Example"+of+"_"+name)
		case of != "" && of != entry && !called[name] && !isTold(name):
			objections = append(objections, s.at(f)+": no Example calls "+of+"."+name)
		}
	})
	return objections
}

// hasExample reports whether something has an Example, perhaps with a suffix.
func hasExample(examples map[string]bool, of string) bool {
	for name := range examples {
		if name == "Example"+of || strings.HasPrefix(name, "Example"+of+"_") {
			return true
		}
	}
	return false
}

// isTold reports whether a method is called by the errors package, and by nobody else.
func isTold(method string) bool { return method == "Error" || method == "Is" }

func eachFunction(sources []source, dir string, visit func(source, *ast.FuncDecl)) {
	for _, s := range sources {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && s.dir() == dir {
				visit(s, f)
			}
		}
	}
}

// receiver is the type whose method a function is, "" if it is none.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// implementsForOthers reports whether a type of package client is there to be
// called by a library, or by default, and not by users.
func implementsForOthers(receiver string) bool {
	return slices.Contains([]string{"unobserved", "loginStream", "fileCredentials"}, receiver)
}
