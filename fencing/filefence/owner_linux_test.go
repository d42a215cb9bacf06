package filefence_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/fencelock/fencelock/fencing/filefence"
)

const nobody = 65534

// Root replaces another user's file, and it stays theirs.
func TestOwnerIsKept(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can have files of several owners")
	}
	path := filepath.Join(t.TempDir(), "report")
	f := open(t, filefence.Config{Path: path})
	mustWrite(t, f, 1, "x")
	for _, name := range []string{path, path + ".fence"} {
		if err := os.Chown(name, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	mustWrite(t, f, 2, "y")
	for _, name := range []string{path, path + ".fence"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != nobody || stat.Gid != nobody {
			t.Errorf("%s belongs to %d:%d, want %d:%d", name, stat.Uid, stat.Gid, nobody, nobody)
		}
	}
}

// A user who may write the file and its folder, but cannot give it back to its
// owner, changes nothing.
func TestOwnerThatCannotBeKept(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can have files of several owners")
	}
	dir, err := os.MkdirTemp("/tmp", "filefence")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "report")
	f := open(t, filefence.Config{Path: path, Mode: 0o666})
	mustWrite(t, f, 1, "root's")
	for name, mode := range map[string]fs.FileMode{dir: 0o777, path: 0o666, path + ".fence": 0o666} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		if err := syscall.Setfsuid(nobody); err != nil {
			done <- err
			return
		}
		done <- f.Write(t.Context(), seq(1), []byte("nobody's"))
	}()
	if err := <-done; !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, want fs.ErrPermission", err)
	}
	wantText(t, path, "root's")
	if _, err := os.Stat(path + ".fence.data"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a temporary file is left: %v", err)
	}
}
