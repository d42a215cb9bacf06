package clustertest

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/members"
)

// AddLearner adds a member that stays a learner, runs it, and returns its number.
// Members that have just started take some 5 s until they allow it.
func (c *Cluster) AddLearner() int {
	c.t.Helper()
	cfg := c.guest()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	change := members.NewChange(members.Config{Etcd: c.Client(c.t)})
	added, list, err := change.AddLearner(ctx, []string{"http://" + cfg.ListenPeer[0]})
	if err != nil {
		c.t.Fatalf("add a learner: %v", err)
	}
	cfg.Existing = true
	cfg.InitialCluster = map[string][]string{cfg.Name: added.Peers}
	for _, m := range list.Members {
		if m.ID != added.ID {
			cfg.InitialCluster[m.Name] = m.Peers
		}
	}
	i := c.grow(cfg)
	if err := c.start([]int{i}); err != nil {
		c.t.Fatalf("start the learner: %v", err)
	}
	return i
}

// Join starts a new member that joins the cluster, and returns its number.
func (c *Cluster) Join() int {
	c.t.Helper()
	via := cluster.Via{Endpoints: c.Endpoints()}
	i := c.grow(c.guest())
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	m, err := cluster.Join(ctx, c.configs[i], via)
	if err != nil {
		c.t.Fatalf("join: %v", err)
	}
	c.Members[i], c.ids[i] = m, m.ID()
	c.configs[i].Existing = true // Restart asks nobody
	return i
}

// guest is the configuration of a further member.
func (c *Cluster) guest() cluster.Config {
	c.t.Helper()
	cfg := Configs(c.t, Config{Members: 1, Heartbeat: c.configs[0].Heartbeat, Election: c.configs[0].Election})[0]
	cfg.Name, cfg.InitialCluster = name(len(c.configs)), nil
	cfg.DataDir = filepath.Join(filepath.Dir(cfg.DataDir), cfg.Name)
	return cfg
}

func (c *Cluster) grow(cfg cluster.Config) int {
	c.configs = append(slices.Clip(c.configs), cfg)
	c.Members = append(c.Members, nil)
	c.ids = append(c.ids, 0)
	return len(c.configs) - 1
}
