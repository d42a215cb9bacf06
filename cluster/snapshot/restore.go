package snapshot

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"github.com/fencelock/fencelock/cluster/disk"
)

// margin is more revisions than a cluster makes in the days after a snapshot: 10,000
// a second for a day.
const margin = 1_000_000_000

// ErrNotEmpty: the data folder has something in it. Nothing was touched.
var ErrNotEmpty = errors.New("not empty")

// RestoreConfig says what to stage, and where.
type RestoreConfig struct {
	Snapshot string // the file
	DataDir  string // made with mode 0700 if missing; else it must be empty

	// Floor is what every later token is above. It must be the same on every
	// member, and above every token that was ever issued; what is known to be too
	// low is refused. Default: the microseconds since 1970, or
	// ErrClock if they are not above the snapshot's revision.
	Floor int64

	// Namespaces to edit, beside the default one and those found by their fences.
	Namespaces []string
}

// Restored is what was staged.
type Restored struct {
	Snapshot   Info
	Origin     Origin
	Namespaces []string // edited
	Dropped    int      // keys that were bound to a lease, or claims
}

// Restore stages an edited copy of a snapshot as the first data of a member. The
// folder has all of it, or what [Apply] refuses. When it fails, it leaves nothing;
// after a crash, the same call makes it whole.
func Restore(ctx context.Context, cfg RestoreConfig) (Restored, error) {
	made, err := openFolder(cfg.DataDir)
	if err != nil {
		return Restored{}, fmt.Errorf("restore: %w", err)
	}
	result, err := restore(ctx, cfg)
	if err != nil {
		return Restored{}, fmt.Errorf("restore: %w", errors.Join(err, discard(cfg.DataDir, made)))
	}
	return result, nil
}

func restore(ctx context.Context, cfg RestoreConfig) (result Restored, err error) {
	path := filepath.Join(cfg.DataDir, originDB)
	result.Snapshot, err = verify(ctx, cfg.Snapshot, cfg.Namespaces, func(tx *bbolt.Tx, c *content) error {
		floor := cfg.Floor
		if floor == 0 {
			if floor, err = defaultFloor(c.revision, time.Now()); err != nil {
				return err
			}
		}
		if err := checkFloor(floor, c.revision); err != nil {
			return err
		}
		result.Origin.Floor = floor
		result.Namespaces = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.spaces.named, c.spaces.found))))
		return writeStore(path+disk.Part, func(s *store) error {
			result.Dropped, err = edit(ctx, tx, c, floor, s)
			return err
		})
	})
	if err != nil {
		return Restored{}, err
	}
	if result.Origin.Snapshot, err = digestOf(path + disk.Part); err != nil {
		return Restored{}, err
	}
	result.Origin.Birth = newBirth()
	// In this order: a database without the note of what it is could pass for
	// another one, and a note without its database is refused.
	if err := WriteOrigin(cfg.DataDir, result.Origin); err != nil {
		return Restored{}, err
	}
	return result, disk.Complete(path)
}

func newBirth() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// openFolder makes dir if it is missing, and checks that nothing is in it but what
// an interrupted restore may leave. It removes that.
func openFolder(dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return false, err
	}
	staged := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == originDB })
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "lost+found", name == "lock" && !e.IsDir(): // a file system's own; a member's that could not start
		case strings.HasSuffix(name, disk.Part), name == originFile && !staged:
		default:
			return false, fmt.Errorf("data folder %s: %w: it has %s; nothing was touched; stop the member and move its folder away, or use another one with --data-dir",
				dir, ErrNotEmpty, name)
		}
	}
	return false, discard(dir, false)
}

// discard removes what an unfinished restore has left, and the folder if it made
// it.
func discard(dir string, made bool) error {
	if made {
		return os.RemoveAll(dir)
	}
	var errs []error
	for _, name := range []string{originDB + disk.Part, originFile + disk.Part, originFile} {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, name)))
	}
	return errors.Join(errs...)
}
