//go:build linux || darwin

package supervisor

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketPair makes a stream whose ends notice when the other one is gone. Neither
// end is inherited by processes, unless a process is given it. Reads of ours can
// have a deadline.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	if err := unix.SetNonblock(ends[0], true); err != nil {
		unix.Close(ends[0])
		unix.Close(ends[1])
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	return os.NewFile(uintptr(ends[0]), "helper"), os.NewFile(uintptr(ends[1]), "fencelock"), nil
}

// self is the file of this program. On Linux it is the very file that runs, also
// when another version has taken its place meanwhile; and a process that was
// started by this name is called "exe", so that a "killall -9 fencelock" does not
// hit the keeper.
func self() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}
