package cluster

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

// folder is a data folder that this process has locked.
type folder struct {
	path string
	lock *os.File
}

// openFolder makes and locks the data folder and checks that what is in it, if
// anything, is this member's. It changes nothing in a folder that it refuses,
// except for adding the lock file.
func openFolder(cfg Config) (*folder, error) {
	path, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := makeFolder(path, cfg.Logger); err != nil {
		return nil, err
	}
	lock, err := lockFile(filepath.Join(path, "lock"))
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	f := &folder{path: path, lock: lock}
	if err := f.claim(cfg); err != nil {
		f.close()
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	return f, nil
}

func (f *folder) close() { _ = f.lock.Close() }

func (f *folder) identityPath() string { return filepath.Join(f.path, "member.json") }
func (f *folder) storePath() string    { return filepath.Join(f.path, "member", "snap", "db") }

// hasData reports whether a member has ever run here: etcd goes by its log, too.
func (f *folder) hasData() bool { return wal.Exist(filepath.Join(f.path, "member", "wal")) }

// claim writes whose folder this is, or checks it.
func (f *folder) claim(cfg Config) error {
	if !f.hasData() && !f.ran() {
		if err := f.bear(cfg); err != nil {
			return err
		}
		return writeIdentity(f.identityPath(), identityOf(cfg))
	}
	have, err := readIdentity(f.identityPath())
	if err != nil {
		return err
	}
	stored, err := storedMembers(f.storePath())
	if err != nil {
		return err
	}
	if err := have.admits(identityOf(cfg), stored); err != nil {
		return err
	}
	warnMoved(cfg, stored)
	return f.noteTiming(cfg, have)
}

// warnMoved says so where a restart advertises what nobody will hear of.
func warnMoved(cfg Config, stored map[string][]string) {
	known, want := slices.Sorted(slices.Values(stored[cfg.Name])), identityOf(cfg).Peers[cfg.Name]
	if len(known) > 0 && !slices.Equal(known, want) {
		cfg.Logger.Warn("the other members dial this one at the address with which it became a member, not at the one of this start; "+
			"to move it, let a new member join there, and remove this one", zap.Strings("known", known), zap.Strings("this start", want))
	}
}

// noteTiming warns when the timing is not that of the last start.
func (f *folder) noteTiming(cfg Config, last identity) error {
	now := identityOf(cfg).timing
	if last.timing == now {
		return nil
	}
	if last.timing != (timing{}) {
		cfg.Logger.Warn("heartbeat or election are not those of the last start; they have to be the same on all members: restart the others with these, one after another",
			zap.Stringer("last", last.timing), zap.Stringer("now", now))
	}
	last.timing = now
	return writeIdentity(f.identityPath(), last)
}

// makeFolder leaves the mode of an existing folder alone, since it may be one
// that others use as well; etcd's own folder in it has mode 0700 in any case.
func makeFolder(path string, log *zap.Logger) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("make data folder: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 && runtime.GOOS != "windows" {
		log.Warn("the data folder is open to other users; chmod 700 it",
			zap.String("path", path), zap.Stringer("mode", fs.FileMode(info.Mode().Perm())))
	}
	return nil
}
