package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	folderPrefix = "fencelock-server-"
	memory       = "/dev/shm" // small in containers that do not say otherwise
)

// newFolder makes a folder for a server's data, named after this process, and
// removes those that dead processes have left. Data that need not be durable lie
// in memory, if there is enough of it.
func newFolder(durable bool) (string, error) {
	sweep()
	in := os.TempDir()
	if !durable && roomy(memory) {
		in = memory
	}
	folder, err := os.MkdirTemp(in, fmt.Sprintf("%s%d-", folderPrefix, os.Getpid()))
	if err != nil {
		return "", err
	}
	return folder, handOver(folder)
}

func sweep() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	inMemory, _ := filepath.Glob(filepath.Join(memory, folderPrefix+"*"))
	for _, folder := range append(folders, inMemory...) {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), folderPrefix), "-")
		if pid, err := strconv.Atoi(owner); err == nil && !alive(pid) {
			_ = os.RemoveAll(folder)
		}
	}
}
