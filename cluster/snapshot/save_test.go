package snapshot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/cluster/snapshot"
)

// A member that is cut off still gives a snapshot, without an error; it must not
// become the file.
func TestSaveRefusesACutOffMember(t *testing.T) {
	c := clustertest.Start(t, 3)
	put(t, c.Client(t), "k", "before")
	c.Isolate(0)
	last := put(t, c.MemberClient(t, 1), "k", "after")

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if revision, err := snapshot.Revision(ctx, c.MemberClient(t, 0)); err == nil {
		t.Errorf("the member that is cut off says revision %d, want an error", revision)
	}
	revision, err := snapshot.Revision(t.Context(), c.MemberClient(t, 1))
	if err != nil || revision != last {
		t.Fatalf("got revision %d, %v, want %d", revision, err, last)
	}
	dir := t.TempDir()
	cfg := snapshot.SaveConfig{Path: filepath.Join(dir, "s.db"), AtLeast: revision}
	if _, err := snapshot.Save(t.Context(), c.MemberClient(t, 0), cfg); !errors.Is(err, snapshot.ErrSource) {
		t.Errorf("got %v, want %v", err, snapshot.ErrSource)
	}
	if got := folderOf(t, dir); got != "[]" {
		t.Errorf("left %s", got)
	}
	for _, i := range []int{1, 2} {
		cfg.Force = true
		if info, err := snapshot.Save(t.Context(), c.MemberClient(t, i), cfg); err != nil || info.Revision != last {
			t.Errorf("member %d: got revision %d, %v, want %d", i, info.Revision, err, last)
		}
	}
	c.Heal(0)
}

func TestSaveKeepsAFile(t *testing.T) {
	etcd := clustertest.Start(t, 1).Client(t)
	dir := t.TempDir()
	cfg := snapshot.SaveConfig{Path: filepath.Join(dir, "s.db")}
	if err := os.WriteFile(cfg.Path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Save(t.Context(), etcd, cfg); !errors.Is(err, snapshot.ErrExists) {
		t.Errorf("got %v, want %v", err, snapshot.ErrExists)
	}
	if text, _ := os.ReadFile(cfg.Path); string(text) != "mine" {
		t.Errorf("the file is now %q", text)
	}
	cfg.Force = true
	if _, err := snapshot.Save(t.Context(), etcd, cfg); err != nil {
		t.Error(err)
	}
	if _, err := snapshot.Verify(t.Context(), cfg.Path); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{dir, filepath.Join(dir, "none", "s.db")} {
		if _, err := snapshot.Save(t.Context(), etcd, snapshot.SaveConfig{Path: bad, Force: true}); err == nil {
			t.Errorf("%s: got no error, want one", bad)
		}
	}
	if got := folderOf(t, dir); got != "[s.db]" {
		t.Errorf("left %s", got)
	}
}

func TestSaveInterrupted(t *testing.T) {
	etcd := clustertest.Start(t, 1).Client(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []int64
	_, err := snapshot.Save(ctx, etcd, snapshot.SaveConfig{Path: filepath.Join(dir, "s.db"), Progress: func(done, total int64) {
		seen = append(seen, done, total)
		cancel()
	}})
	if !errors.Is(err, context.Canceled) || folderOf(t, dir) != "[]" {
		t.Errorf("got %v, and %s, want %v and nothing", err, folderOf(t, dir), context.Canceled)
	}
	if len(seen) == 0 || seen[0] <= 0 || seen[1] < seen[0] {
		t.Errorf("got the progress %v, want a part of the whole", seen)
	}
}
