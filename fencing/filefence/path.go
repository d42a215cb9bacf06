package filefence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What is added to the file's name.
const (
	sideSuffix = ".fence"
	sideNew    = ".fence.new"  // whose lock is the turn to create the side file
	sideTemp   = ".fence.tmp"  // a side file that is being written
	dataTemp   = ".fence.data" // a file that is being written
)

// maxLinks is how many symbolic links Linux follows before it gives up.
const maxLinks = 40

func checkPath(path string) error {
	switch base := filepath.Base(path); {
	case path == "", base == ".", base == "..", strings.HasSuffix(path, string(filepath.Separator)):
		return fmt.Errorf("path %q: want the name of a file", path)
	default:
		for _, own := range []string{sideSuffix, sideNew, sideTemp, dataTemp} {
			if strings.HasSuffix(base, own) {
				return fmt.Errorf("path %q: names like this are the fence's own", path)
			}
		}
	}
	return nil
}

// resolve follows links, also one that leads to a file that does not exist yet: all
// names of a file must lead to one fence.
func resolve(path string) (string, error) {
	for range maxLinks {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return real, checkPath(real)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		folder, base := filepath.Split(path)
		if folder, err = filepath.EvalSymlinks(folder + "."); err != nil {
			return "", err
		}
		path = filepath.Join(folder, base)
		to, err := os.Readlink(path)
		if err != nil { // no link, and no file either
			return path, checkPath(path)
		}
		if !filepath.IsAbs(to) {
			to = folder + string(filepath.Separator) + to
		}
		path = to
	}
	return "", fmt.Errorf("%s: more than %d symbolic links", path, maxLinks)
}
