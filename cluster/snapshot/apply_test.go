package snapshot_test

import (
	"testing"

	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/cluster/snapshot"
)

const floor = 5_000_000_000

func TestEmptyStartsAboveTheFloor(t *testing.T) {
	for _, n := range []int{1, 3} {
		configs := clustertest.Configs(t, clustertest.Config{Members: n})
		digests := map[string]bool{}
		for _, cfg := range configs {
			makeFolder(t, cfg.DataDir)
			if err := snapshot.Empty(cfg.DataDir, floor); err != nil {
				t.Fatal(err)
			}
			digest, err := snapshot.Digest(cfg.DataDir)
			if err != nil {
				t.Fatal(err)
			}
			digests[digest] = true
			apply(t, cfg)
		}
		if len(digests) != 1 {
			t.Errorf("got %d different databases for one floor, want the same bytes", len(digests))
		}
		endpoints := startAll(t, configs...)
		for i, endpoint := range endpoints {
			if got, want := put(t, dial(t, endpoint), "k", "v"), int64(floor+1+i); got != want {
				t.Errorf("member %d of %d: got revision %d, want %d", i, n, got, want)
			}
		}
	}
}

func TestEmptyRefusesAFloor(t *testing.T) {
	for _, bad := range []int64{-1, 0, snapshot.MaxFloor + 1} {
		dir := t.TempDir()
		if err := snapshot.Empty(dir, bad); err == nil {
			t.Errorf("floor %d: got no error, want one", bad)
		}
		if got := folderOf(t, dir); got != "[]" {
			t.Errorf("floor %d: left %s", bad, got)
		}
	}
}

func TestOriginIsKept(t *testing.T) {
	dir := t.TempDir()
	if _, ok, err := snapshot.ReadOrigin(dir); ok || err != nil {
		t.Errorf("no origin: got %t, %v, want false", ok, err)
	}
	want := snapshot.Origin{Birth: "00112233445566778899aabbccddeeff", Floor: 1 << 52}
	if err := snapshot.WriteOrigin(dir, want); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := snapshot.ReadOrigin(dir); got != want || !ok || err != nil {
		t.Errorf("got %v, %t, %v, want %v", got, ok, err, want)
	}
	if got := folderOf(t, dir); got != "[origin.json]" {
		t.Errorf("got %s, want only origin.json", got)
	}
}
