package snapshot_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/cluster/snapshot"
)

// badFiles are files that look more and more like a snapshot.
func badFiles(t *testing.T, good string) map[string]string {
	t.Helper()
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]byte{}, whole...)
	changed[len(changed)/2]++
	dir := t.TempDir()
	foreign := filepath.Join(dir, "bolt.db")
	db, err := bbolt.Open(foreign, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(other)
	cut := whole[:len(whole)/2/4096*4096]
	cutSum := sha256.Sum256(cut)
	files := map[string]string{"folder": dir}
	for name, content := range map[string][]byte{
		"empty":                     {},
		"text":                      []byte("hello"),
		"cut in the middle":         whole[:len(whole)/2],
		"cut by a byte":             whole[:len(whole)-1],
		"without its sum":           whole[:len(whole)-sha256.Size],
		"changed":                   changed,
		"foreign":                   slices.Concat(other, sum[:]),
		"cut, with a sum that fits": slices.Concat(cut, cutSum[:]),
	} {
		files[name] = filepath.Join(dir, name)
		if err := os.WriteFile(files[name], content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestBadFilesAreRefused(t *testing.T) {
	for name, path := range badFiles(t, newDay(t).file) {
		if _, err := snapshot.Verify(t.Context(), path); !errors.Is(err, snapshot.ErrDamaged) {
			t.Errorf("verify %s: got %v, want %v", name, err, snapshot.ErrDamaged)
		}
		parent := t.TempDir()
		_, err := snapshot.Restore(t.Context(), snapshot.RestoreConfig{Snapshot: path, DataDir: filepath.Join(parent, "m")})
		if !errors.Is(err, snapshot.ErrDamaged) {
			t.Errorf("restore %s: got %v, want %v", name, err, snapshot.ErrDamaged)
		}
		if got := folderOf(t, parent); got != "[]" {
			t.Errorf("restore %s: left %s", name, got)
		}
	}
	if _, err := snapshot.Verify(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
}

func TestRestoreRefusesAFloor(t *testing.T) {
	d := newDay(t)
	for _, bad := range []int64{d.revision, -1, snapshot.MaxFloor + 1} {
		dir := t.TempDir()
		if _, err := snapshot.Restore(t.Context(), snapshot.RestoreConfig{Snapshot: d.file, DataDir: dir, Floor: bad}); err == nil {
			t.Errorf("floor %d: got no error, want one", bad)
		}
		if got := folderOf(t, dir); got != "[]" {
			t.Errorf("floor %d: left %s", bad, got)
		}
	}
	restored(t, d.file, t.TempDir(), d.revision+1)
}

func TestRestoreRefusesAFolderWithData(t *testing.T) {
	d := newDay(t)
	for _, there := range []string{"member", "member.json", "something"} {
		dir := t.TempDir()
		makeFolder(t, filepath.Join(dir, there))
		_, err := snapshot.Restore(t.Context(), snapshot.RestoreConfig{Snapshot: d.file, DataDir: dir})
		if !errors.Is(err, snapshot.ErrNotEmpty) || folderOf(t, dir) != "["+there+"]" {
			t.Errorf("folder with %s: got %v, and %s in it, want %v", there, err, folderOf(t, dir), snapshot.ErrNotEmpty)
		}
	}
	dir := t.TempDir()
	restored(t, d.file, dir, 0)
	if _, err := snapshot.Restore(t.Context(), snapshot.RestoreConfig{Snapshot: d.file, DataDir: dir}); !errors.Is(err, snapshot.ErrNotEmpty) {
		t.Errorf("second restore: got %v, want %v", err, snapshot.ErrNotEmpty)
	}
	if _, err := snapshot.Restore(t.Context(), snapshot.RestoreConfig{Snapshot: d.file, DataDir: filepath.Join(d.file, "m")}); err == nil {
		t.Error("a folder below a file: got no error, want one")
	}
}

// An interrupted restore leaves what nothing starts from, and what the next one
// replaces.
func TestRestoreGoesOnAfterACrash(t *testing.T) {
	d := newDay(t)
	cfg := clustertest.Configs(t, clustertest.Config{Members: 1})[0]
	restored(t, d.file, cfg.DataDir, 0)
	if err := os.Rename(filepath.Join(cfg.DataDir, "origin.db"), filepath.Join(cfg.DataDir, "origin.db.part")); err != nil {
		t.Fatal(err)
	}
	err := snapshot.Apply(cfg.DataDir, snapshot.Membership{Name: "a", InitialCluster: "a=http://127.0.0.1:1", PeerURLs: []string{"http://127.0.0.1:1"}})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("apply: got %v, want %v", err, fs.ErrNotExist)
	}
	if got, want := folderOf(t, cfg.DataDir), "[origin.db.part origin.json]"; got != want {
		t.Errorf("apply left %s, want %s", got, want)
	}
	restored(t, d.file, cfg.DataDir, 0)
	if got, want := folderOf(t, cfg.DataDir), "[origin.db origin.json]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestApplyRefusesAChangedDatabase(t *testing.T) {
	d := newDay(t)
	cfg := clustertest.Configs(t, clustertest.Config{Members: 1})[0]
	restored(t, d.file, cfg.DataDir, 0)
	f, err := os.OpenFile(filepath.Join(cfg.DataDir, "origin.db"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	err = snapshot.Apply(cfg.DataDir, snapshot.Membership{Name: "a", InitialCluster: "a=http://127.0.0.1:1", PeerURLs: []string{"http://127.0.0.1:1"}})
	if err == nil || folderOf(t, cfg.DataDir) != "[origin.db origin.json]" {
		t.Errorf("got %v, and %s, want an error and no member", err, folderOf(t, cfg.DataDir))
	}
}

func TestRestoreInterrupted(t *testing.T) {
	d := newDay(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	parent := t.TempDir()
	_, err := snapshot.Restore(ctx, snapshot.RestoreConfig{Snapshot: d.file, DataDir: filepath.Join(parent, "m")})
	if !errors.Is(err, context.Canceled) || folderOf(t, parent) != "[]" {
		t.Errorf("got %v, and %s, want %v and nothing", err, folderOf(t, parent), context.Canceled)
	}
}
