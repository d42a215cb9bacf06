package cli

import (
	"testing"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

func TestHealth(t *testing.T) {
	cfg := clustertest.Configs(t, clustertest.Config{Members: 1})[0]
	cfg.ListenMetrics = "127.0.0.1:0"
	m, err := cluster.Start(testContext(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	address := m.MetricsAddr()
	c := caller{env: []string{"FENCELOCK_SERVER_LISTEN_METRICS=" + address}}
	c.run("health").want(t, codeOK).prints(t, "ready\n")
	c.run("health", "--live").want(t, codeOK).prints(t, "alive\n")
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	c.run("health").want(t, codeFailure, "fencelock: health: ask http://"+address+"/readyz", "does the member run")
	caller{}.run("health", "--listen-metrics", "off").want(t, codeUsage, `--listen-metrics is "off"`)
}
