package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"go.etcd.io/bbolt"
	boltErrors "go.etcd.io/bbolt/errors"
)

// storeLockWait is how long another process may take to let go of the database:
// bbolt tries every 50 ms.
const storeLockWait = 200 * time.Millisecond

// storedMembers opens the database as etcd will, but read-only, and returns the
// members in it. etcd waits without end for a database that another process
// holds, and panics over one that it cannot open; here both are errors.
// The members may be missing after a crash in the first moments.
func storedMembers(path string) (members map[string][]string, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && info.Size() == 0) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: storeLockWait})
	if errors.Is(err, boltErrors.ErrTimeout) {
		return nil, fmt.Errorf("database: %w", ErrInUse)
	}
	if err != nil {
		return nil, damaged(err)
	}
	defer func() {
		if p := recover(); p != nil { // bbolt's answer to pages that make no sense
			err = damaged(fmt.Errorf("%v", p))
		}
		err = errors.Join(err, db.Close())
	}()
	err = db.View(func(tx *bbolt.Tx) error {
		members, err = readMembers(tx)
		return err
	})
	return members, err
}

func damaged(err error) error {
	return fmt.Errorf("open database: %w; replace this member, or restore a snapshot", err)
}

// readMembers reads etcd's bucket of members, JSON of membership.Member.
func readMembers(tx *bbolt.Tx) (map[string][]string, error) {
	bucket := tx.Bucket([]byte("members"))
	if bucket == nil {
		return nil, nil
	}
	members := map[string][]string{}
	err := bucket.ForEach(func(_, value []byte) error {
		var m struct {
			Name     string   `json:"name"`
			PeerURLs []string `json:"peerURLs"`
		}
		if err := json.Unmarshal(value, &m); err != nil {
			return fmt.Errorf("read database: member: %w", err)
		}
		members[m.Name] = append(members[m.Name], m.PeerURLs...) // an added member has no name before it runs
		return nil
	})
	return members, err
}
