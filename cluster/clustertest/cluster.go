package clustertest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster"
)

// Config describes a cluster for a test.
type Config struct {
	Members int // default 3

	// Heartbeat and Election are the members'; default 100 ms and 1 s, as in
	// production. A shorter election makes leader changes faster and allows
	// shorter leases: at least 1.5 elections, in whole seconds.
	Heartbeat, Election time.Duration

	Fsync bool // sync the disk, as in production; default: do not, for speed

	// Edit, if not nil, changes the configuration of member i before its first
	// start: a quota, TLS. Names, addresses and folders are already in it.
	Edit func(i int, cfg *cluster.Config)
}

// limit is how long any step may take: a start, an election, a recovery. They
// take a second or two; the rest is for a loaded machine under -race.
const limit = time.Minute

// startAttempts is how often a start is tried on new ports when another process
// was faster to take one.
const startAttempts = 5

// Cluster is a running cluster.
type Cluster struct {
	// Members has nil for a member that is stopped.
	Members []*cluster.Member

	t       testing.TB
	configs []cluster.Config
	ids     []uint64
	cuts    map[int]bool // members that Cut has cut off
}

// Start runs n members with the default Config and waits until all are ready.
func Start(t testing.TB, n int) *Cluster {
	t.Helper()
	return StartConfig(t, Config{Members: n})
}

// StartConfig runs the members of cfg and waits until all are ready.
func StartConfig(t testing.TB, cfg Config) *Cluster {
	t.Helper()
	c := &Cluster{t: t, cuts: map[int]bool{}}
	t.TempDir() // removed after killAll, since it was first
	t.Cleanup(c.killAll)
	for range startAttempts {
		c.configs = Configs(t, cfg)
		c.Members = make([]*cluster.Member, len(c.configs))
		c.ids = make([]uint64, len(c.configs))
		err := c.start(c.stopped())
		if err == nil {
			return c
		}
		c.killAll()
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatalf("start cluster: %v", err)
		}
	}
	t.Fatalf("start cluster: ports were taken %d times in a row", startAttempts)
	return nil
}

// Configs returns the configurations of a cluster, for tests that start its
// members themselves. Another process may still take the ports before they do.
func Configs(t testing.TB, cfg Config) []cluster.Config {
	t.Helper()
	if cfg.Members == 0 {
		cfg.Members = 3
	}
	dir := t.TempDir()
	peers := map[string][]string{}
	for i := range cfg.Members {
		peers[name(i)] = []string{FreeAddress(t)}
	}
	configs := make([]cluster.Config, cfg.Members)
	for i := range configs {
		configs[i] = memberConfig(cfg, i, peers)
		configs[i].DataDir = filepath.Join(dir, name(i))
		configs[i].ListenClient = []string{FreeAddress(t)}
		if cfg.Edit != nil {
			cfg.Edit(i, &configs[i])
		}
	}
	return configs
}

func memberConfig(cfg Config, i int, peers map[string][]string) cluster.Config {
	return cluster.Config{
		Name:           name(i),
		ListenPeer:     peers[name(i)],
		InitialCluster: peers,
		Heartbeat:      cfg.Heartbeat,
		Election:       cfg.Election,
		UnsafeNoFsync:  !cfg.Fsync,
		StartTimeout:   limit,
	}
}

func name(i int) string { return fmt.Sprintf("m%d", i) }

// start starts members at the same time. The first failure ends the other starts.
func (c *Cluster) start(members []int) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, i := range members {
		wg.Go(func() {
			m, err := cluster.Start(ctx, c.configs[i])
			if err != nil {
				cancel(err) // keeps the first
				return
			}
			c.Members[i], c.ids[i] = m, m.ID()
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// killAll is not in a hurry to be polite.
func (c *Cluster) killAll() {
	var wg sync.WaitGroup
	for i, m := range c.Members {
		if m == nil {
			continue
		}
		wg.Go(func() {
			if err := m.Kill(); err != nil {
				c.t.Errorf("kill member %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	clear(c.Members)
}
