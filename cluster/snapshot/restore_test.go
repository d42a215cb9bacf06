package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/cluster/snapshot"
	"github.com/fencelock/fencelock/fencing/keys"
)

// day is a cluster on the day of a snapshot.
type day struct {
	file     string
	info     snapshot.Info
	revision int64 // of the last write
	kept     int64 // of fencelock/kv/a/@/x
}

// newDay has claims with a lease and without, fences in two namespaces, data, a
// record that looks like a fence, and a user.
func newDay(t *testing.T) day {
	t.Helper()
	c := clustertest.Start(t, 1)
	etcd := c.Client(t)
	lease, err := etcd.Grant(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	fence := string(keys.Claimed(7))
	var d day
	put(t, etcd, "fencelock/kv/a/@/x", "old")
	d.kept = put(t, etcd, "fencelock/kv/a/@/x", "new")
	put(t, etcd, "fencelock/kv/a/@/fence/b", fence)
	put(t, etcd, "fencelock/kv/a/@/gone", "")
	if _, err := etcd.Delete(t.Context(), "fencelock/kv/a/@/gone"); err != nil {
		t.Fatal(err)
	}
	put(t, etcd, "fencelock/lock/a/@/1-1", "{}", clientv3.WithLease(lease.ID))
	put(t, etcd, "fencelock/lock/a/@/2-1", "{}")
	put(t, etcd, "fencelock/semaphore/s/limit", "3")
	put(t, etcd, "fencelock/semaphore/s/@/1-1", "{}", clientv3.WithLease(lease.ID))
	put(t, etcd, "elsewhere", "", clientv3.WithLease(lease.ID))
	put(t, etcd, "fencelock/fence/a", fence)
	put(t, etcd, "other/space/fence/a/b", fence)
	put(t, etcd, "other/space/lock/a/b/@/3-1", "{}")
	if _, err := etcd.UserAdd(t.Context(), "root", "secret"); err != nil {
		t.Fatal(err)
	}
	d.revision = put(t, etcd, "last", "")
	d.file = filepath.Join(t.TempDir(), "day.db")
	d.info = saved(t, etcd, d.file)
	return d
}

func saved(t *testing.T, etcd *clientv3.Client, path string) snapshot.Info {
	t.Helper()
	revision, err := snapshot.Revision(t.Context(), etcd)
	if err != nil {
		t.Fatal(err)
	}
	info, err := snapshot.Save(t.Context(), etcd, snapshot.SaveConfig{Path: path, AtLeast: revision})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func restored(t *testing.T, file, dir string, floor int64) snapshot.Restored {
	t.Helper()
	r, err := snapshot.Restore(t.Context(), snapshot.RestoreConfig{Snapshot: file, DataDir: dir, Floor: floor})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVerifyTellsWhatIsIn(t *testing.T) {
	d := newDay(t)
	got, err := snapshot.Verify(t.Context(), d.file)
	if err != nil {
		t.Fatal(err)
	}
	if got.Revision != d.revision || got.Keys != 11 || got.Locks != 3 || got.Fences != 2 || got.Leases != 1 {
		t.Errorf("got %+v, want revision %d, 11 keys, 3 locks, 2 fences, 1 lease", got, d.revision)
	}
	if got.SHA256 != d.info.SHA256 || got.Size != d.info.Size || time.Since(got.Modified) > time.Hour {
		t.Errorf("got %+v, want what was saved: %+v", got, d.info)
	}
	if info, err := os.Stat(d.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
}

func TestRestoreEdits(t *testing.T) {
	d := newDay(t)
	configs := clustertest.Configs(t, clustertest.Config{Members: 3})
	digests, births := map[string]bool{}, map[string]bool{}
	for _, cfg := range configs {
		r := restored(t, d.file, cfg.DataDir, floor)
		digests[r.Origin.Snapshot], births[r.Origin.Birth] = true, true
		if got, want := fmt.Sprint(r.Namespaces), "[fencelock/ other/space/]"; got != want || r.Dropped != 5 || r.Origin.Floor != floor {
			t.Errorf("got namespaces %s, %d keys dropped, floor %d, want %s, 5, %d", got, r.Dropped, r.Origin.Floor, want, int64(floor))
		}
		if kept, ok, err := snapshot.ReadOrigin(cfg.DataDir); kept != r.Origin || !ok || err != nil {
			t.Errorf("origin.json: got %v, %t, %v, want %v", kept, ok, err, r.Origin)
		}
		if digest, err := snapshot.Digest(cfg.DataDir); digest != r.Origin.Snapshot || err != nil {
			t.Errorf("origin.db has the sum %s, %v, want %s", digest, err, r.Origin.Snapshot)
		}
		apply(t, cfg)
	}
	if len(digests) != 1 || len(births) != 3 {
		t.Errorf("got %d databases and %d births, want 1 and 3", len(digests), len(births))
	}
	endpoints := startAll(t, configs...)
	checkEdited(t, dial(t, endpoints...), d)
	hashes := map[uint32]bool{}
	for _, endpoint := range endpoints {
		resp, err := dial(t, endpoint).HashKV(t.Context(), endpoint, floor)
		if err != nil {
			t.Fatal(err)
		}
		hashes[resp.Hash] = true
	}
	if len(hashes) != 1 {
		t.Errorf("got %d different hashes at the floor, want one", len(hashes))
	}
}

func checkEdited(t *testing.T, etcd *clientv3.Client, d day) {
	t.Helper()
	resp, err := etcd.Get(t.Context(), "", clientv3.WithFromKey())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, kv := range resp.Kvs {
		at := kv.ModRevision
		if at < d.kept || at > d.kept && at < floor {
			at = 0
		}
		got = append(got, fmt.Sprintf("%s=%s@%d", kv.Key, kv.Value, at))
		if kv.Lease != 0 {
			t.Errorf("%s has the lease %x, want none", kv.Key, kv.Lease)
		}
	}
	closed := string(keys.Closed(floor))
	want := []string{
		"fencelock/fence/a=" + closed + fmt.Sprintf("@%d", int64(floor)),
		"fencelock/kv/a/@/fence/b=" + string(keys.Claimed(7)) + "@0",
		fmt.Sprintf("fencelock/kv/a/@/x=new@%d", d.kept),
		"fencelock/semaphore/s/limit=3@0",
		"last=@0",
		"other/space/fence/a/b=" + closed + fmt.Sprintf("@%d", int64(floor)),
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if leases, err := etcd.Leases(t.Context()); err != nil || len(leases.Leases) != 0 {
		t.Errorf("got leases %v, %v, want none", leases, err)
	}
	if users, err := etcd.UserList(t.Context()); err != nil || fmt.Sprint(users.Users) != "[root]" {
		t.Errorf("got users %v, %v, want root", users, err)
	}
	checkHistory(t, etcd, d)
}

// checkHistory: who stood in the old history is told so, and the new one begins
// above the floor.
func checkHistory(t *testing.T, etcd *clientv3.Client, d day) {
	t.Helper()
	if _, err := etcd.Get(t.Context(), "last", clientv3.WithRev(d.revision)); !errors.Is(err, rpctypes.ErrCompacted) {
		t.Errorf("read at the snapshot's revision: got %v, want %v", err, rpctypes.ErrCompacted)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if resp := <-etcd.Watch(ctx, "last", clientv3.WithRev(d.revision+1)); !errors.Is(resp.Err(), rpctypes.ErrCompacted) {
		t.Errorf("watch from the snapshot's revision: got %v, want %v", resp.Err(), rpctypes.ErrCompacted)
	}
	if got := put(t, etcd, "next", ""); got != floor+1 {
		t.Errorf("got revision %d, want %d", got, int64(floor+1))
	}
}

// Two restores of one snapshot: the second is above whatever the first issued, as
// long as that was less than a million a second.
func TestRestoreTwiceRises(t *testing.T) {
	d := newDay(t)
	wantRising(t, d.file, d.revision)
}

// wantRising restores a snapshot twice by default. Each floor lies in the past: a cluster that is made anew begins at the present.
func wantRising(t *testing.T, file string, revision int64) {
	t.Helper()
	first := restored(t, file, filepath.Join(t.TempDir(), "m"), 0)
	second := restored(t, file, filepath.Join(t.TempDir(), "m"), 0)
	floors := []int64{revision, first.Origin.Floor, second.Origin.Floor, time.Now().UnixMicro()}
	if !slices.IsSorted(floors) || len(slices.Compact(floors)) < 4 {
		t.Errorf("got %d: want that the revision, the floors of the two restores and the present rise", floors)
	}
	if first.Origin.Birth == second.Origin.Birth {
		t.Errorf("both have the birth %s", first.Origin.Birth)
	}
}

// A restored cluster can be saved and restored again, at once and more than once.
func TestRestoreOfARestore(t *testing.T) {
	d := newDay(t)
	cfg := clustertest.Configs(t, clustertest.Config{Members: 1})[0]
	restored(t, d.file, cfg.DataDir, 0)
	apply(t, cfg)
	again := filepath.Join(t.TempDir(), "again.db")
	info := saved(t, dial(t, startAll(t, cfg)...), again)
	wantRising(t, again, info.Revision)
	if info.Fences != 2 {
		t.Errorf("got %d fences, want 2", info.Fences)
	}
}

// Where tokens are ahead of the clock, every restore of the snapshot would begin at
// the same floor; so somebody has to say at which one, also beyond the highest floor
// that a new cluster may have.
func TestRestoreAheadOfTheClock(t *testing.T) {
	d := newDay(t)
	cfg := clustertest.Configs(t, clustertest.Config{Members: 1})[0]
	restored(t, d.file, cfg.DataDir, snapshot.MaxFloor)
	apply(t, cfg)
	again := filepath.Join(t.TempDir(), "again.db")
	info := saved(t, dial(t, startAll(t, cfg)...), again)
	dir, next := filepath.Join(t.TempDir(), "m"), info.Revision+1_000_000_000
	_, err := snapshot.Restore(t.Context(), snapshot.RestoreConfig{Snapshot: again, DataDir: dir})
	if !errors.Is(err, snapshot.ErrClock) || !strings.Contains(err.Error(), fmt.Sprintf("--floor N, above every token that was ever issued: %d", next)) {
		t.Errorf("got %v, want ErrClock, and the floor for a first restore", err)
	}
	if r := restored(t, again, dir, next); r.Origin.Floor != next {
		t.Errorf("got floor %d, want %d", r.Origin.Floor, next)
	}
	if _, err := snapshot.Restore(t.Context(), snapshot.RestoreConfig{Snapshot: again, DataDir: dir + "2", Floor: next + 1}); err == nil {
		t.Error("a floor that was mistyped: got no error")
	}
}

// A cluster that has stored nothing can be saved, too.
func TestEmptyCluster(t *testing.T) {
	file := filepath.Join(t.TempDir(), "empty.db")
	info := saved(t, clustertest.Start(t, 1).Client(t), file)
	if info.Revision != 1 || info.Keys != 0 {
		t.Errorf("got revision %d and %d keys, want 1 and none", info.Revision, info.Keys)
	}
	restored(t, file, t.TempDir(), 2)
}
