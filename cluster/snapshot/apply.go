package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/config"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/cluster/disk"
)

// lockWait is how long another process may take to let go of a database.
const lockWait = 200 * time.Millisecond

// Membership is the cluster that a staged folder becomes a member of, in etcd's
// words. All but Name and PeerURLs is the same on every member.
type Membership struct {
	Name           string   // this member's
	ClusterToken   string   // tells clusters with the same addresses apart
	InitialCluster string   // all members: "a=http://…,b=http://…"
	PeerURLs       []string // this member's, as in InitialCluster
}

// Apply makes the staged database the data of a member: dir/member is complete,
// or not there. A folder that has one already is left as it is, so that a start
// that was interrupted goes on.
func Apply(dir string, m Membership) error {
	member := filepath.Join(dir, memberFolder)
	if _, err := os.Stat(member); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	cluster, err := m.cluster()
	if err != nil {
		return fmt.Errorf("apply %s: %w", originDB, err)
	}
	err = os.RemoveAll(member + disk.Part) // of a run that was killed
	if err == nil {
		err = build(dir, member+disk.Part, cluster, m.Name)
	}
	if err != nil {
		return fmt.Errorf("apply %s: %w", originDB, errors.Join(err, os.RemoveAll(member+disk.Part)))
	}
	return disk.Complete(member)
}

// cluster checks m as etcd does.
func (m Membership) cluster() (*membership.RaftCluster, error) {
	own, err := types.NewURLs(m.PeerURLs)
	if err != nil {
		return nil, err
	}
	all, err := types.NewURLsMap(m.InitialCluster)
	if err != nil {
		return nil, err
	}
	server := config.ServerConfig{
		Logger: zap.NewNop(), Name: m.Name, PeerURLs: own,
		InitialPeerURLsMap: all, InitialClusterToken: m.ClusterToken,
	}
	if err := server.VerifyBootstrap(); err != nil {
		return nil, err
	}
	return membership.NewClusterFromURLsMap(zap.NewNop(), m.ClusterToken, all)
}

// build makes in folder what etcd would have written after its first start.
func build(dir, folder string, cluster *membership.RaftCluster, name string) error {
	snapDir, walDir := filepath.Join(folder, "snap"), filepath.Join(folder, "wal")
	if err := os.MkdirAll(snapDir, 0o700); err != nil {
		return err
	}
	if err := copyStaged(dir, filepath.Join(snapDir, "db")); err != nil {
		return err
	}
	last, err := writeLog(walDir, snapDir, cluster, name)
	if err != nil {
		return err
	}
	if err := putMembers(filepath.Join(snapDir, "db"), cluster, last); err != nil {
		return err
	}
	return disk.SyncTree(folder)
}

// copyStaged copies dir's origin.db, if it is what the origin says.
func copyStaged(dir, to string) error {
	o, ok, err := ReadOrigin(dir)
	if err != nil {
		return err
	}
	got, err := copyFile(filepath.Join(dir, originDB), to)
	if errors.Is(err, fs.ErrNotExist) && ok && o.Snapshot != "" {
		return fmt.Errorf(`%w: a restore into this folder was interrupted; empty the folder and run "fencelock snapshot restore" again`, err)
	}
	if err != nil {
		return err
	}
	if ok && o.Snapshot != "" && o.Snapshot != got {
		return fmt.Errorf("its SHA-256 is %s, and %s says %s: it was changed or damaged since it was staged; empty the folder and begin again",
			got, originFile, o.Snapshot)
	}
	return nil
}

// copyFile copies a file, and returns its SHA-256 in hex.
func copyFile(from, to string) (string, error) {
	source, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(target, h), source)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, target.Close())
}

// putMembers adds to the database who is in the cluster, and that the log has been
// applied up to its entry last.
func putMembers(path string, cluster *membership.RaftCluster, last uint64) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, NoFreelistSync: true})
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		members, err := tx.CreateBucketIfNotExists(schema.Members.Name())
		if err != nil {
			return err
		}
		for _, m := range cluster.Members() {
			value, err := json.Marshal(m)
			if err != nil {
				return err
			}
			if err := members.Put(schema.BackendMemberKey(m.ID), value); err != nil {
				return err
			}
		}
		meta, err := tx.CreateBucketIfNotExists(schema.Meta.Name())
		if err != nil {
			return err
		}
		return errors.Join(
			meta.Put(schema.MetaConsistentIndexKeyName, binary.BigEndian.AppendUint64(nil, last)),
			meta.Put(schema.MetaTermKeyName, binary.BigEndian.AppendUint64(nil, firstTerm)),
		)
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("write database: %w", err)
	}
	return nil
}
