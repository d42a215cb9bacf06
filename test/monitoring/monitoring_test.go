// Package monitoring tests what deploy/ has for Prometheus and Grafana against a
// real member's /metrics.
package monitoring

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

const deploy = "../../deploy"

func TestMain(m *testing.M) { clustertest.Main(m) }

// scraped has the names of all metrics of a member of three.
func scraped(t *testing.T) map[string]bool {
	t.Helper()
	c := clustertest.StartConfig(t, clustertest.Config{Edit: func(_ int, cfg *cluster.Config) { cfg.ListenMetrics = "127.0.0.1:0" }})
	resp, err := http.Get("http://" + c.Members[0].MetricsAddr() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		names[regexp.MustCompile("^[a-z_]*").FindString(line)] = true
	}
	return names
}

// named are the metrics in an expression.
func named(expr string) []string {
	return regexp.MustCompile(`\b(fencelock|etcd|go|process|grpc)_[a-z_]+`).FindAllString(expr, -1)
}

func alertExprs(t *testing.T) (exprs []string) {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []struct{ Expr string }
		}
	}
	if err := yaml.Unmarshal(read(t, "prometheus/alerts.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			exprs = append(exprs, rule.Expr)
		}
	}
	return exprs
}

func dashboardExprs(t *testing.T) (exprs []string) {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Query string }
		}
	}
	if err := json.Unmarshal(read(t, "grafana/fencelock.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, variable := range dashboard.Templating.List {
		exprs = append(exprs, variable.Query)
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	return exprs
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Alerts and panels ask for metrics that there are.
func TestMetricsExist(t *testing.T) {
	names := scraped(t)
	for what, exprs := range map[string][]string{"alerts": alertExprs(t), "dashboard": dashboardExprs(t)} {
		if len(exprs) < 10 {
			t.Errorf("%s: found %d expressions, want all", what, len(exprs))
		}
		for _, expr := range exprs {
			for _, name := range named(expr) {
				if !names[name] {
					t.Errorf("%s: %q: /metrics has no %s", what, expr, name)
				}
			}
		}
	}
	if got := named("rate(fencelock_none[5m])"); len(got) != 1 || names[got[0]] {
		t.Errorf("a metric that does not exist: found %q", got)
	}
}

func promtool(t *testing.T, dir string, args ...string) ([]byte, error) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool; on Debian: apt-get install prometheus")
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

// Each alert fires when it should, and not before.
func TestAlerts(t *testing.T) {
	dir := filepath.Join(deploy, "prometheus")
	for _, kind := range []string{"check rules alerts.yaml", "test rules alerts_test.yaml"} {
		if out, err := promtool(t, dir, strings.Fields(kind)...); err != nil {
			t.Errorf("promtool %s: %v\n%s", kind, err, out)
		}
	}
	tests := string(read(t, "prometheus/alerts_test.yaml"))
	for _, found := range regexp.MustCompile("(?m)- alert: (.*)$").FindAllStringSubmatch(string(read(t, "prometheus/alerts.yaml")), -1) {
		if strings.Count(tests, "alertname: "+found[1]) < 2 {
			t.Errorf("alert %s: has no test that it fires, and that it does not", found[1])
		}
	}
}

// Promtool's tests can fail: rules that never fire do not pass.
func TestAlertsCanFail(t *testing.T) {
	dir := t.TempDir()
	rules := regexp.MustCompile("expr: .*").ReplaceAll(read(t, "prometheus/alerts.yaml"), []byte("expr: vector(0) > 1"))
	for name, text := range map[string][]byte{"alerts.yaml": rules, "alerts_test.yaml": read(t, "prometheus/alerts_test.yaml")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := promtool(t, dir, "test", "rules", "alerts_test.yaml"); err == nil {
		t.Errorf("rules that never fire pass:\n%s", out)
	}
}
