package cluster_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// tokenOf returns the revision of a new key, which is what a lock's token is.
func tokenOf(t *testing.T, m *cluster.Member) int64 {
	t.Helper()
	resp, err := dial(t, m).Put(t.Context(), "key", "")
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Revision
}

func withFloor(configs []cluster.Config, floor int64) []cluster.Config {
	var list []cluster.Config
	for _, cfg := range configs {
		list = append(list, edited(cfg, func(c *cluster.Config) { c.TokenFloor = floor }))
	}
	return list
}

func TestTokenFloorSingleNode(t *testing.T) {
	t.Parallel()
	const floor = 5_000_000_000
	cfg := withFloor([]cluster.Config{single(t)}, floor)[0]
	m := start(t, cfg)
	if got := tokenOf(t, m); got <= floor || got > floor+100 {
		t.Errorf("first token %d, want just above %d", got, int64(floor))
	}
	shut(t, m)
	if _, err := os.Stat(filepath.Join(cfg.DataDir, "origin.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("origin.db: got %v, want none", err)
	}
	cfg.TokenFloor = 6_000_000_000 // there is data: no effect
	if got := tokenOf(t, start(t, cfg)); got > floor+100 {
		t.Errorf("after a restart with another floor: token %d, want just above %d", got, int64(floor))
	}
}

func TestTokenFloorThreeMembers(t *testing.T) {
	t.Parallel()
	const floor = 5_000_000_000
	members := allStarted(t, withFloor(clustertest.Configs(t, clustertest.Config{}), floor)...)
	last := int64(floor)
	for _, m := range members { // one history, whoever is asked
		got := tokenOf(t, m)
		if got <= last || got > floor+100 {
			t.Errorf("token %d from %s, want above %d, and not much", got, m.Name(), last)
		}
		last = got
	}
}

// Three hosts do not take the same time for now: the largest is decided on.
func TestTokenFloorNow(t *testing.T) {
	t.Parallel()
	configs := withFloor(clustertest.Configs(t, clustertest.Config{}), cluster.FloorNow)
	early := edited(configs[0], func(c *cluster.Config) { c.StartTimeout = time.Second })
	refused(t, t.Context(), early) // is born a second before the others
	before := time.Now().UnixMicro()
	members := allStarted(t, configs...)
	last := before
	for _, m := range members {
		got := tokenOf(t, m)
		if got <= last || got > time.Now().UnixMicro() {
			t.Errorf("token %d from %s, want above %d and in the past", got, m.Name(), last)
		}
		last = got
	}
}

// Until there is data, the last command's floor counts.
func TestTokenFloorCorrected(t *testing.T) {
	t.Parallel()
	configs := withFloor(clustertest.Configs(t, clustertest.Config{}), 1_000)
	for i := range configs {
		refused(t, t.Context(), edited(configs[i], func(c *cluster.Config) { c.StartTimeout = time.Second }))
	}
	members := allStarted(t, withFloor(configs, 2_000)...)
	if got := tokenOf(t, members[0]); got <= 2_000 || got > 2_100 {
		t.Errorf("token %d, want just above 2000", got)
	}
	for _, floor := range []int64{-2, 1<<52 + 1} {
		wants(t, "floor out of range", refused(t, t.Context(), withFloor(configs, floor)[0]), nil, "token floor")
	}
}
