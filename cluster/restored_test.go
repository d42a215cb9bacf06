package cluster_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/cluster/snapshot"
)

// A restored member meets one of the old cluster that nobody has stopped: the two do
// not mix, and the restored one says what to stop. It must not tell that its folder is
// empty, nor only to replace a member.
func TestRestoredMeetsTheOldCluster(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, 3)
	file := filepath.Join(t.TempDir(), "old.db")
	put(t, c.Client(t), "k", "v")
	if _, err := snapshot.Save(t.Context(), c.Client(t), snapshot.SaveConfig{Path: file}); err != nil {
		t.Fatal(err)
	}
	c.Stop(1)
	cfg := edited(c.Config(1), func(c *cluster.Config) { c.DataDir = filepath.Join(t.TempDir(), "restored") })
	if _, err := snapshot.Restore(t.Context(), snapshot.RestoreConfig{Snapshot: file, DataDir: cfg.DataDir}); err != nil {
		t.Fatal(err)
	}
	err := refused(t, t.Context(), cfg)
	wants(t, "the others run", err, cluster.ErrReplace, "holds a restored snapshot", "stop all its members")
	c.Restart(1) // as it was, with its own folder
	put(t, c.Client(t), "k", "w")
}

// Single nodes mostly have the same address. Their clusters differ all the same, so
// that whoever sees two of them can tell.
func TestSingleNodesAreDifferentClusters(t *testing.T) {
	t.Parallel()
	cfg := single(t)
	ids := map[uint64]bool{}
	for range 2 {
		m := start(t, cfg)
		resp, err := dial(t, m).Get(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		ids[resp.Header.ClusterId] = true
		shut(t, m)
		wipe(t, cfg)
	}
	if len(ids) != 2 {
		t.Errorf("two single nodes have the cluster ids %v, want two", ids)
	}
}

// A floor that was taken from a clock which has been set back since is taken again.
func TestTokenFloorOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	configs := withFloor(clustertest.Configs(t, clustertest.Config{}), cluster.FloorNow)
	refused(t, t.Context(), edited(configs[0], func(c *cluster.Config) { c.StartTimeout = time.Second }))
	origin, _, err := snapshot.ReadOrigin(configs[0].DataDir)
	if err != nil {
		t.Fatal(err)
	}
	origin.Floor = time.Now().Add(24 * time.Hour).UnixMicro()
	if err := snapshot.WriteOrigin(configs[0].DataDir, origin); err != nil {
		t.Fatal(err)
	}
	if got := tokenOf(t, allStarted(t, configs...)[0]); got > time.Now().UnixMicro() {
		t.Errorf("token %d is ahead of the clock, %d", got, time.Now().UnixMicro())
	}
}
