//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

func TestBench(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	picture := filepath.Join(t.TempDir(), "bench.html")
	c := at(cluster.Endpoint(0))
	r := c.run("bench", "--clients", "2", "--duration", "100ms", "--html", picture).want(t, codeOK)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if len(lines) != 6 || strings.Join(strings.Fields(lines[0]), " ") != "WORK CLIENTS OPERATIONS PER SECOND P50 P90 P99 MAX" || !strings.HasPrefix(lines[2], "handover   2 ") {
		t.Errorf("prints %s, want a header and five works", r.stdout)
	}
	if page, err := os.ReadFile(picture); err != nil || strings.Count(string(page), "<svg") != 5 || !strings.Contains(string(page), cluster.Endpoint(0)) {
		t.Errorf("picture: %v, %s; want five, and the endpoint", err, page)
	}
	r = c.run("bench", "--run", "put,get", "--clients", "1", "--duration", "50ms", "--ttl", "3s", "-o", "json").want(t, codeOK)
	var report struct {
		Works []struct {
			Work string
			Max  int64 `json:"max_us"`
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || len(report.Works) != 2 || report.Works[1].Work != "get" || report.Works[1].Max == 0 {
		t.Errorf("%v, %s; want put and get", err, r.stdout)
	}
	mustHaveNoKeys(t, cluster)
}

// mustHaveNoKeys: nothing is left in the whole store.
func mustHaveNoKeys(t *testing.T, cluster *clustertest.Cluster) {
	t.Helper()
	all, err := cluster.Client(t).Get(testContext(t), "", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range all.Kvs {
		t.Errorf("left behind: %s", kv.Key)
	}
}

func TestBenchUsage(t *testing.T) {
	c := at(deadEndpoint(t)).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=300ms")
	c.run("bench", "--run", "lock,sing").want(t, codeUsage, `--run "sing"`, "want some of lock, handover, shared, put, get")
	c.run("bench", "--run", "").want(t, codeUsage, "--run")
	c.run("bench", "--clients", "0").want(t, codeUsage, "want a number, 1 to 1000")
	c.run("bench", "--duration", "0").want(t, codeUsage, "want more than zero")
	c.run("bench", "--html", "/none/x.html").want(t, codeUsage, "/none")
	c.run("bench", "--html", "").want(t, codeUsage, "name is empty")
	c.run("bench", "--duration", "1s").want(t, codeFailure, "bench: measure lock", "cluster unavailable")
}

// On a terminal it shows how far it is, and Ctrl-C leaves nothing behind.
func TestBenchOnATerminal(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	seen, code := onTerminal80(t, cluster.Endpoint(0), "", nil, "bench", "--run", "lock", "--clients", "1", "--duration", "300ms")
	if code != codeOK || !strings.Contains(seen, "lock  ") || !strings.Contains(seen, "%") {
		t.Errorf("exit code %d, on the screen %q, want a bar", code, seen)
	}
	term := startOnTerminal(t, cluster.Endpoint(0), "bench", "--run", "put", "--duration", "1h")
	term.see("put ")
	term.press("\x03")
	if code := term.end(); code != codeFailure || !strings.Contains(term.seen, "interrupted") {
		t.Errorf("Ctrl-C: exit code %d, on the screen %q, want 1", code, term.seen)
	}
	mustHaveNoKeys(t, cluster)
}
