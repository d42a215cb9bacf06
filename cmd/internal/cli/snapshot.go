package cli

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/cluster/snapshot"
)

func newSnapshotCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Back up a cluster, and begin a new one from a backup",
		Args:  noSuchCommand,
		RunE:  commandMissing,
	}
	cmd.AddCommand(newSnapshotSaveCommand(a), newSnapshotVerifyCommand(a), newSnapshotRestoreCommand(a))
	return cmd
}

// snapshotState is what a snapshot file says about itself.
type snapshotState struct {
	Path     string    `json:"path"`
	SHA256   string    `json:"sha256"` // of the database, as at the file's end
	Size     int64     `json:"size"`   // bytes
	Modified time.Time `json:"modified"`
	Revision int64     `json:"revision,string"`
	Keys     int       `json:"keys"`
	Locks    int       `json:"locks"` // held or waited for, semaphores too
	Fences   int       `json:"fences"`
	Leases   int       `json:"leases"`
	Version  string    `json:"version,omitempty"` // of etcd's storage
}

func stateOf(info snapshot.Info) snapshotState {
	return snapshotState(info)
}

func (s snapshotState) table(w io.Writer) {
	row(w, "FILE", s.Path)
	row(w, "SIZE", fmt.Sprintf("%d bytes", s.Size))
	row(w, "MODIFIED", s.Modified.Format(time.RFC3339))
	row(w, "SHA-256", s.SHA256)
	row(w, "REVISION", strconv.FormatInt(s.Revision, 10))
	row(w, "KEYS", strconv.Itoa(s.Keys))
	row(w, "LOCKS", strconv.Itoa(s.Locks))
	row(w, "FENCES", strconv.Itoa(s.Fences))
	row(w, "LEASES", strconv.Itoa(s.Leases))
	if s.Version != "" {
		row(w, "STORAGE", s.Version)
	}
}
