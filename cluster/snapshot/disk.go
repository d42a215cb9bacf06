package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// part is the end of the name of what is not complete yet.
const part = ".part"

// replaceFile writes a file beside path and gives it its name when it is on disk.
// It leaves nothing behind when it fails.
func replaceFile(path string, data []byte) error {
	f, err := os.OpenFile(path+part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(path+part)))
	}
	return complete(path)
}

// complete gives what lies in path.part, synced, its name, and syncs the folder.
func complete(path string) error {
	if err := os.Rename(path+part, path); err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.RemoveAll(path+part)))
	}
	return syncFolder(filepath.Dir(path))
}

// syncTree puts every folder below path on disk, and the files in them.
func syncTree(path string) error {
	return filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return syncFolder(at)
		}
		return syncFile(at)
	})
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
