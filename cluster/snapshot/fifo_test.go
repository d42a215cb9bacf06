//go:build unix

package snapshot_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/fencelock/fencelock/cluster/snapshot"
)

// A pipe that nobody writes to is refused; opening it would block, past any signal.
func TestPipeIsRefused(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "backup.db")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Verify(t.Context(), fifo); !errors.Is(err, snapshot.ErrDamaged) {
		t.Errorf("verify: got %v, want %v", err, snapshot.ErrDamaged)
	}
	_, err := snapshot.Restore(t.Context(), snapshot.RestoreConfig{Snapshot: fifo, DataDir: filepath.Join(t.TempDir(), "m")})
	if !errors.Is(err, snapshot.ErrDamaged) {
		t.Errorf("restore: got %v, want %v", err, snapshot.ErrDamaged)
	}
}
