package rules

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/fencelock/fencelock"
)

// graph is who imports whom: tests are left out, everything that is linked is in.
type graph map[string][]string

func loadGraph(t *testing.T) graph {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports", "./...")
	list.Dir = root
	out, err := list.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("go list: %v\n%s", err, exit.Stderr)
	} else if err != nil {
		t.Fatalf("go list: %v", err)
	}
	g := graph{}
	for packages := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := packages.Decode(&p); err == io.EOF {
			return g
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		g[p.ImportPath] = p.Imports
	}
}

// own is the module's packages.
func (g graph) own() []string {
	var own []string
	for pkg := range g {
		if matches(pkg, "./...") {
			own = append(own, pkg)
		}
	}
	slices.Sort(own)
	return own
}

// links is every package that pkg links, with the chain of imports that leads
// there.
func (g graph) links(pkg string) map[string][]string {
	chains := map[string][]string{}
	for queue := [][]string{{pkg}}; len(queue) > 0; queue = queue[1:] {
		chain := queue[0]
		for _, next := range g[chain[len(chain)-1]] {
			if _, seen := chains[next]; !seen {
				chains[next] = append(slices.Clone(chain), next)
				queue = append(queue, chains[next])
			}
		}
	}
	return chains
}

// imports is what pkg itself imports, in the form of links.
func (g graph) imports(pkg string) map[string][]string {
	chains := map[string][]string{}
	for _, next := range g[pkg] {
		chains[next] = []string{pkg, next}
	}
	return chains
}

// matches knows "std", import paths, paths in this module ("./client"), and
// both with "/..." (it and all below) or with path.Match's wildcards.
func matches(pkg, pattern string) bool {
	if pattern == "std" {
		first, _, _ := strings.Cut(pkg, "/")
		return !strings.Contains(first, ".")
	}
	pattern = full(pattern)
	if above, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == above || strings.HasPrefix(pkg, above+"/")
	}
	ok, _ := path.Match(pattern, pkg)
	return ok
}

func matchesAny(pkg string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pkg, pattern) })
}

// full spells "./client" as an import path, and leaves other patterns alone.
func full(pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, "./"); ok {
		return module + "/" + rest
	}
	return pattern
}

func short(pkg string) string { return strings.TrimPrefix(pkg, module+"/") }
