package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fencelock/fencelock/cluster/snapshot"
)

// stage makes what the folder is to begin with the data of etcd: a snapshot that
// was restored into it, or nothing above a token floor. Without either, etcd makes
// its own.
func (m *Member) stage(origin snapshot.Origin, floor int64) error {
	if origin.Snapshot == "" && floor == 0 {
		return nil
	}
	// An earlier start may have left a database, but no log, so that nothing
	// depends on it.
	if err := os.RemoveAll(filepath.Join(m.folder.path, "member")); err != nil {
		return fmt.Errorf("stage first data: %w", err)
	}
	if origin.Snapshot == "" {
		if err := snapshot.Empty(m.folder.path, floor); err != nil {
			return err
		}
	}
	a, err := m.cfg.addresses()
	if err != nil {
		return err
	}
	return snapshot.Apply(m.folder.path, snapshot.Membership{
		Name:           m.cfg.Name,
		ClusterToken:   m.cfg.ClusterToken,
		InitialCluster: initialCluster(a.peers),
		PeerURLs:       texts(a.advertisePeer),
	})
}

// dropStaged frees the space of what stage has copied.
func (f *folder) dropStaged() error {
	if err := os.Remove(filepath.Join(f.path, "origin.db")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove staged data: %w", err)
	}
	return nil
}
