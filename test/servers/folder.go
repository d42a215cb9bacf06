package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const folderPrefix = "fencelock-server-"

// newFolder makes a folder for a server's data, named after this process, and
// removes those that dead processes have left.
func newFolder() (string, error) {
	sweep()
	folder, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", folderPrefix, os.Getpid()))
	if err != nil {
		return "", err
	}
	return folder, handOver(folder)
}

func sweep() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	for _, folder := range folders {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), folderPrefix), "-")
		if pid, err := strconv.Atoi(owner); err == nil && !alive(pid) {
			_ = os.RemoveAll(folder)
		}
	}
}
