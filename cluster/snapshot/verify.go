package snapshot

import (
	"context"
	"fmt"
	"os"
	"time"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/server/v3/storage/schema"
)

// Info is what a snapshot file says about itself.
type Info struct {
	Path     string
	SHA256   string    // of the database, in hex, as at the end of the file
	Size     int64     // of the file, in bytes
	Modified time.Time // of the file: when it was saved, unless it was copied since
	Revision int64     // the store's: no token in it is higher
	Keys     int       // that live at Revision
	Locks    int       // that somebody holds or waits for, semaphores too
	Fences   int
	Leases   int
	Version  string // of etcd's storage; empty if unknown
}

// Verify reads a whole snapshot file: its checksum, every page of the database,
// and every key. Namespaces are those to count locks and fences in, beside the
// default one and those that are found by their fences.
func Verify(ctx context.Context, path string, namespaces ...string) (Info, error) {
	info, err := verify(ctx, path, namespaces, func(*bbolt.Tx, *content) error { return nil })
	if err != nil {
		return Info{}, fmt.Errorf("verify snapshot: %w", err)
	}
	return info, nil
}

// verify hands what is in the file to use, once it is known to be whole.
func verify(ctx context.Context, path string, namespaces []string, use func(*bbolt.Tx, *content) error) (Info, error) {
	s, err := namedSpaces(namespaces)
	if err != nil {
		return Info{}, err
	}
	info, err := readFile(ctx, path)
	if err != nil {
		return Info{}, err
	}
	err = view(path, func(tx *bbolt.Tx) error {
		if err := checkPages(tx); err != nil {
			return err
		}
		c, err := scan(ctx, tx, s)
		if err != nil {
			return err
		}
		info.add(tx, c)
		return use(tx, c)
	})
	return info, err
}

func readFile(ctx context.Context, path string) (Info, error) {
	sum, _, err := checkSum(ctx, path)
	if err != nil {
		return Info{}, err
	}
	stat, err := os.Stat(path)
	if err != nil {
		return Info{}, err
	}
	return Info{Path: path, SHA256: sum, Size: stat.Size(), Modified: stat.ModTime()}, nil
}

func (i *Info) add(tx *bbolt.Tx, c *content) {
	i.Revision, i.Keys, i.Locks = c.revision, len(c.live), c.locks()
	i.Fences = c.count(func(e entry) bool { return e.fence })
	i.Leases = leases(tx)
	i.Version = string(tx.Bucket(schema.Meta.Name()).Get(schema.MetaStorageVersionName))
}
