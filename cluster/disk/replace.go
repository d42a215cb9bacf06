// Package disk writes files that are whole after a power loss: beside their place
// first, synced, and then renamed.
package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Part is the end of the name of what is not complete yet.
const Part = ".part"

// ReplaceJSON is Replace with v as JSON that people can read.
func ReplaceJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return Replace(path, append(data, '\n'))
}

// Replace writes a file beside path, with mode 0600, and gives it its name when it
// is on disk. It leaves nothing behind when it fails.
func Replace(path string, data []byte) error {
	f, err := os.OpenFile(path+Part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(path+Part)))
	}
	return Complete(path)
}

// Complete gives what lies in path+Part, synced, its name, and syncs the folder.
func Complete(path string) error {
	if err := os.Rename(path+Part, path); err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.RemoveAll(path+Part)))
	}
	return SyncFolder(filepath.Dir(path))
}

// SyncTree puts every folder below path on disk, and the files in them.
func SyncTree(path string) error {
	return filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return SyncFolder(at)
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
