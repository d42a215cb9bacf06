//go:build linux

package world

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// FolderPrefix and the run's process id begin the names of its folders.
const FolderPrefix = "fencelock-chaos-"

// memory is where disks lie if it is roomy.
const memory = "/dev/shm"

// newFolder makes the folder of the disks and sockets. Others look into it: servers
// do not run as root.
func newFolder() (string, error) {
	in := os.TempDir()
	var fs unix.Statfs_t
	const enough = 6 << 30 // five disks full, and a copy
	if unix.Statfs(memory, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= enough {
		in = memory
	}
	folder, err := os.MkdirTemp(in, fmt.Sprintf("%s%d-", FolderPrefix, os.Getpid()))
	if err != nil {
		return "", err
	}
	return folder, os.Chmod(folder, 0o755)
}

// sweep removes what dead runs have left. What it may not, stays.
func sweep() {
	names, _ := filepath.Glob("/run/netns/" + namespacePrefix + "*")
	for _, path := range names {
		if name := filepath.Base(path); orphan(name, namespacePrefix) {
			_ = ip("netns del %s", name)
		}
	}
	for _, in := range []string{memory, os.TempDir()} {
		folders, _ := filepath.Glob(filepath.Join(in, FolderPrefix+"*"))
		for _, folder := range folders {
			if orphan(filepath.Base(folder), FolderPrefix) {
				_ = removeFolder(folder)
			}
		}
	}
}

// orphan reports whether the process that a name bears is dead.
func orphan(name, prefix string) bool {
	owner, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "-")
	pid, err := strconv.Atoi(owner)
	return err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// removeFolder removes a folder of disks, and what is still mounted there.
func removeFolder(folder string) error {
	for _, m := range mounts() {
		if strings.HasPrefix(m.at, folder+"/") {
			if err := unix.Unmount(m.at, unix.MNT_DETACH); err != nil {
				return fmt.Errorf("unmount %s: %w", m.at, err)
			}
		}
	}
	return os.RemoveAll(folder)
}

// mount is one that this process sees.
type mount struct{ at, source string }

// mounts reads /proc/self/mounts: source, folder, type, options.
func mounts() []mount {
	text, _ := os.ReadFile("/proc/self/mounts")
	var all []mount
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 {
			all = append(all, mount{words[1], words[0]})
		}
	}
	return all
}
