package rules

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// importRule binds the packages that match of and not except. Exactly one of the
// four lists is set; to link is to import, directly or through others.
type importRule struct {
	name                       string
	of, except                 []string
	mayLink, mayImport         []string // nothing else
	mustNotLink, mustNotImport []string
	unless                     []string // what mustNot… does not mean
	bad                        [2]string
}

var importRules = []importRule{{
	name:    "fencing is the standard library only",
	of:      []string{"./fencing"},
	mayLink: []string{"std"},
	bad:     [2]string{"./fencing", "golang.org/x/sys/unix"},
}, {
	name:    "fencing/keys adds only fencing",
	of:      []string{"./fencing/keys"},
	mayLink: []string{"std", "./fencing"},
	bad:     [2]string{"./fencing/keys", "./fencing/kv"},
}, {
	name: "fences need no driver",
	of: []string{"./fencing/sqlfence/...", "./fencing/redisfence/...",
		"./fencing/filefence/...", "./fencing/httpfence/...", "./fencing/memfence/..."},
	mayLink: []string{"std", "./fencing", "./fencing/keys"},
	bad:     [2]string{"./fencing/sqlfence", "github.com/jackc/pgx/v5"},
}, {
	name:      "the gRPC fence needs only gRPC",
	of:        []string{"./fencing/grpcfence/..."},
	mayImport: []string{"std", "./fencing", "./fencing/keys", "./fencing/grpcfence/...", "google.golang.org/..."},
	bad:       [2]string{"./fencing/grpcfence", "go.etcd.io/etcd/client/v3"},
}, {
	name:        "fencing knows neither client nor cluster nor config",
	of:          []string{"./fencing/..."},
	mustNotLink: []string{"./client/...", "./cluster/...", "./config/...", "./cmd/..."},
	bad:         [2]string{"./fencing/kv", "./client"},
}, {
	name:        "the client does not link the etcd server",
	of:          []string{"./client/...", "./fencing/..."},
	mustNotLink: []string{"go.etcd.io/etcd/server/..."},
	bad:         [2]string{"./client/metrics", "go.etcd.io/etcd/server/v3/embed"},
}, {
	name:        "client knows neither cluster nor config",
	of:          []string{"./client/..."},
	mustNotLink: []string{"./cluster/...", "./config/...", "./cmd/..."},
	bad:         [2]string{"./client", "./cluster"},
}, {
	name:        "cluster knows of the client only the rules of a queue",
	of:          []string{"./cluster/..."},
	mustNotLink: []string{"./client/...", "./config/...", "./cmd/..."},
	unless:      []string{"./client/queue"},
	bad:         [2]string{"./cluster", "./client"},
}, {
	name:          "only cluster imports the etcd server",
	of:            []string{"./..."},
	except:        []string{"./cluster/..."},
	mustNotImport: []string{"go.etcd.io/etcd/server/..."},
	bad:           [2]string{"./cmd/internal/cli", "go.etcd.io/etcd/server/v3/embed"},
}, {
	name:          "only cli imports cobra",
	of:            []string{"./..."},
	except:        []string{"./cmd/internal/cli/..."},
	mustNotImport: []string{"github.com/spf13/cobra/..."},
	bad:           [2]string{"./cmd/fencelock", "github.com/spf13/cobra"},
}, {
	name:          "only config imports viper",
	of:            []string{"./..."},
	except:        []string{"./config/..."},
	mustNotImport: []string{"github.com/spf13/viper/..."},
	bad:           [2]string{"./cmd/internal/cli", "github.com/spf13/viper"},
}, {
	name:          "only cli imports config",
	of:            []string{"./..."},
	except:        []string{"./cmd/internal/cli/...", "./config/..."},
	mustNotImport: []string{"./config/..."},
	bad:           [2]string{"./test/bench", "./config"},
}, {
	name:    "client/queue does not know where claims come from",
	of:      []string{"./client/queue/..."},
	mayLink: []string{"std", "./fencing", "./fencing/keys", "./client/queue/..."},
	bad:     [2]string{"./client/queue", "go.etcd.io/etcd/api/v3/mvccpb"},
}, {
	name:          "client/queue has no time and no network of its own",
	of:            []string{"./client/queue/..."},
	mustNotImport: []string{"time", "context", "net/...", "os/...", "syscall"},
	bad:           [2]string{"./client/queue", "time"},
}, {
	name:        "client/queue links no network",
	of:          []string{"./client/queue/..."},
	mustNotLink: []string{"net/..."},
	bad:         [2]string{"./client/queue", "net/http"},
}, {
	name:          "the product does not import what tests are made of",
	of:            []string{"./..."},
	except:        []string{"./test/...", "./*/*test"},
	mustNotImport: []string{"testing/...", "./test/...", "./*/*test"},
	bad:           [2]string{"./cmd/internal/cli", "./cluster/clustertest"},
}}

func TestImports(t *testing.T) {
	if text := readFile(t, filepath.Join(root, "go.mod")); !strings.HasPrefix(text, "module "+module+"\n") {
		t.Fatalf("go.mod does not begin with module %s", module)
	}
	g := loadGraph(t)
	if len(g.own()) == 0 {
		t.Fatalf("go list names no package of %s", module)
	}
	for _, r := range importRules {
		t.Run(r.name, func(t *testing.T) { report(t, r.objections(g)) })
	}
}

func TestImportRulesCanFail(t *testing.T) {
	for _, r := range importRules {
		t.Run(r.name, func(t *testing.T) {
			from, to := full(r.bad[0]), full(r.bad[1])
			if got := r.objections(graph{from: {"errors"}}); len(got) != 0 {
				t.Errorf("objects to importing errors: %q", got)
			}
			if got := r.objections(graph{from: {"errors", to}}); len(got) != 1 {
				t.Errorf("%s imports %s: got objections %q, want one", from, to, got)
			}
		})
	}
}

// A rule about links looks through the packages between.
func TestLinksAreFollowed(t *testing.T) {
	const server = "go.etcd.io/etcd/server/v3/embed"
	r := importRule{of: []string{"./client/..."}, mustNotLink: []string{"go.etcd.io/etcd/server/..."}}
	g := graph{full("./client"): {"example.com/between"}, "example.com/between": {server}}
	got, want := r.objections(g), []string{"client -> example.com/between -> " + server}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// objections is the chains of imports that break the rule.
func (r importRule) objections(g graph) []string {
	var objections []string
	for _, pkg := range g.own() {
		if !matchesAny(pkg, r.of) || matchesAny(pkg, r.except) {
			continue
		}
		reached := g.imports(pkg)
		if r.mayLink != nil || r.mustNotLink != nil {
			reached = g.links(pkg)
		}
		for to, chain := range reached {
			if r.forbids(to) {
				objections = append(objections, describe(chain))
			}
		}
	}
	slices.Sort(objections)
	return objections
}

func (r importRule) forbids(pkg string) bool {
	if may := slices.Concat(r.mayLink, r.mayImport); may != nil {
		return !matchesAny(pkg, may)
	}
	return matchesAny(pkg, slices.Concat(r.mustNotLink, r.mustNotImport)) && !matchesAny(pkg, r.unless)
}

func describe(chain []string) string {
	names := make([]string, len(chain))
	for i, pkg := range chain {
		names[i] = short(pkg)
	}
	return strings.Join(names, " -> ")
}

func report(t *testing.T, objections []string) {
	t.Helper()
	for _, objection := range objections {
		t.Error(objection)
	}
}
