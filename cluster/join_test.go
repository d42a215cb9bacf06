package cluster_test

import (
	"strings"
	"testing"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// via is the way to the members of c.
func via(c *clustertest.Cluster) cluster.Via { return cluster.Via{Endpoints: c.Endpoints()} }

// guest is a member that is not in a cluster yet.
func guest(t *testing.T, name string) cluster.Config {
	t.Helper()
	cfg := single(t)
	cfg.InitialCluster = nil
	cfg.Name = name
	return cfg
}

func join(t *testing.T, c *clustertest.Cluster, cfg cluster.Config) *cluster.Member {
	t.Helper()
	m, err := cluster.Join(t.Context(), cfg, via(c))
	if err != nil {
		t.Fatalf("join: %v", err)
	}
	t.Cleanup(func() { shut(t, m) })
	return m
}

// members lists "name voter" or "name learner".
func members(t *testing.T, c *clustertest.Cluster) []string {
	t.Helper()
	list, err := c.Client(t).MemberList(t.Context())
	if err != nil {
		t.Fatalf("list members: %v", err)
	}
	var texts []string
	for _, m := range list.Members {
		role := "voter"
		if m.IsLearner {
			role = "learner"
		}
		texts = append(texts, m.Name+" "+role)
	}
	return texts
}

func TestJoin(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 1)
	put(t, c.Client(t), "k", "v")
	cfg := guest(t, "new")
	m, err := cluster.Join(t.Context(), cfg, via(c))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(members(t, c), ", "); !strings.Contains(got, "new voter") {
		t.Errorf("members %s, want new to vote", got)
	}
	got, err := dial(t, m).Get(t.Context(), "k")
	if err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "v" {
		t.Errorf("read through the new member: %v, %v; want v", got, err)
	}
	shut(t, m)

	// The same call starts it again, and asks nobody for that.
	again, err := cluster.Join(t.Context(), cfg, cluster.Via{Endpoints: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatalf("second start: %v", err)
	}
	shut(t, again)
}
