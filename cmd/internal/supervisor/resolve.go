//go:build linux || darwin

package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// defaultPath is where execvp looks when PATH is not set.
const defaultPath = "/bin:/usr/bin"

// Resolve finds the file of a command as execvp does: a name with a slash is a
// file, any other is looked for in the folders of path, which is a value of PATH.
// It tells ErrNotFound from ErrNotExecutable, so that a lock need not be taken
// for nothing.
func Resolve(args []string, path string) (Command, error) {
	name := args[0]
	if strings.ContainsRune(name, '/') {
		return Command{Path: name, Args: args}, executable(name)
	}
	if path == "" {
		path = defaultPath
	}
	err := fmt.Errorf("%w: %q is in no folder of PATH", ErrNotFound, name)
	for _, folder := range filepath.SplitList(path) {
		file := filepath.Join(folder, name)
		fault := executable(file)
		if fault == nil && name != "" {
			return Command{Path: file, Args: args}, nil
		}
		if name != "" && !errors.Is(fault, ErrNotFound) {
			err = fault
		}
	}
	return Command{}, err
}

// executable says why a file cannot be run.
func executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf("%w: there is no file %q", ErrNotFound, file)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotExecutable, err)
	case info.IsDir():
		return fmt.Errorf("%w: %q is a folder", ErrNotExecutable, file)
	case unix.Access(file, unix.X_OK) != nil:
		return fmt.Errorf("%w: no permission for %q; perhaps chmod +x", ErrNotExecutable, file)
	}
	return nil
}
