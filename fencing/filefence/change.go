package filefence

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fencelock/fencelock/fencing"
)

// tryCreate puts a side file that says "no fence yet" where there is none, and
// locks it, unless somebody else is about to. It has its text before it has the
// name: an empty side file is one that lost its fence.
//
// A file of its own, locked and always empty, keeps the creators apart, and the
// side file is looked for again under that lock. A creator that dies leaves the
// file unlocked, and in nobody's way.
func (g *grip) tryCreate() (done bool, err error) {
	path := g.path + sideNew
	g.step("create " + sideNew)
	turn, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, g.sideMode())
	if err != nil {
		return false, err
	}
	defer turn.Close()
	g.step("lock " + sideNew)
	if held, err := tryHold(turn, path); err != nil || !held {
		return false, err
	}
	defer os.Remove(path) // or whoever raises the fence does
	if _, err := os.Stat(g.sidePath()); !errors.Is(err, fs.ErrNotExist) {
		return false, err // somebody was faster: lock theirs
	}
	if err := g.replaceSide(fencing.Sequencer{}); err != nil {
		return false, fmt.Errorf("create the fence: %w", err)
	}
	return true, nil
}

// raise puts a side file that says seq into the place of the old one.
func (g *grip) raise(seq fencing.Sequencer) error {
	if err := g.replaceSide(seq); err != nil {
		return fmt.Errorf("raise the fence: %w", err)
	}
	os.Remove(g.path + sideNew) // of a creator that died; while there is a side file, nobody needs it
	return g.settle()
}

// replaceSide puts a new side file into the place of the old one, or of none. The
// new one is locked before it has the name, so that nobody gets in between.
func (g *grip) replaceSide(seq fencing.Sequencer) error {
	next, err := g.replace(g.sidePath(), sideTemp, g.sideMode(), func(next *os.File) error {
		locked, err := tryFlock(next)
		if err == nil && !locked {
			err = fmt.Errorf("%s: somebody else locked it", next.Name())
		}
		if err == nil {
			_, err = next.WriteString(encode(seq))
		}
		return err
	})
	if err != nil {
		return err
	}
	if g.side != nil {
		g.side.Close()
	}
	g.side, g.record = next, seq
	return nil
}

// settle makes sure that the fence is on the disk. Whoever renamed it may have
// died before it synced the folder; so each File does, once for each record.
func (g *grip) settle() error {
	state := g.path + "\n" + encode(g.record)
	if g.durable == state {
		return nil
	}
	if err := g.syncFolder(); err != nil {
		return fmt.Errorf("raise the fence: %w", err)
	}
	g.durable = state
	return nil
}

func (g *grip) read() ([]byte, error) {
	if _, err := g.info(); err != nil {
		return nil, err
	}
	return os.ReadFile(g.path)
}

// open opens what there is to append to.
func (g *grip) open() (io.ReadCloser, error) {
	if _, err := g.info(); errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(bytes.NewReader(nil)), nil
	} else if err != nil {
		return nil, err
	}
	return os.Open(g.path)
}

// write replaces the file by one that holds what the readers bring.
func (g *grip) write(readers ...io.Reader) error {
	if _, err := g.info(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	next, err := g.replace(g.path, dataTemp, g.config.Mode, func(next *os.File) error {
		for _, r := range readers {
			if _, err := io.Copy(next, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	next.Close() // synced before
	return g.finish()
}

func (g *grip) remove() error {
	if _, err := g.info(); err != nil {
		return err
	}
	g.step("remove the file")
	if err := os.Remove(g.path); err != nil {
		return err
	}
	return g.finish()
}

// finish makes a change of the file last, one that can be seen already.
func (g *grip) finish() error {
	if err := g.syncFolder(); err != nil {
		return fmt.Errorf("%w: the change can be seen, but may not outlast a power failure: %w", fencing.ErrUncertain, err)
	}
	return nil
}

// info describes the file, and refuses what a rename would destroy or a read
// would hang on.
func (g *grip) info() (fs.FileInfo, error) {
	info, err := os.Stat(g.path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: %v", g.path, info.Mode())
	}
	return info, err
}

// replace fills a temporary file and renames it to path, all but the folder's
// sync. Mode and owner are those of the file that was there; mode is for one that
// was not. It returns the new file, still open.
func (g *grip) replace(path, suffix string, mode fs.FileMode, fill func(*os.File) error) (next *os.File, err error) {
	old, err := os.Stat(path)
	if err == nil {
		mode = 0o600 // until it is known whose it is to be
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	temp := g.path + suffix
	g.step("create " + suffix)
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if next, err = os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode); err != nil {
		return nil, err
	}
	if err := g.fillAndRename(next, path, suffix, old, fill); err != nil {
		next.Close()
		os.Remove(temp) // or the next operation does
		return nil, err
	}
	return next, nil
}

func (g *grip) fillAndRename(next *os.File, path, suffix string, old fs.FileInfo, fill func(*os.File) error) error {
	if old != nil {
		if err := keepOwner(next, old); err != nil {
			return fmt.Errorf("keep the owner: %w", err)
		}
		if err := next.Chmod(old.Mode()); err != nil {
			return fmt.Errorf("keep the mode: %w", err)
		}
	}
	g.step("fill " + suffix)
	if err := fill(next); err != nil {
		return err
	}
	g.step("sync " + suffix)
	if err := next.Sync(); err != nil {
		return err
	}
	g.step("rename " + suffix)
	return os.Rename(next.Name(), path)
}

func (g *grip) syncFolder() error {
	g.step("sync the folder")
	folder, err := os.Open(filepath.Dir(g.path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
