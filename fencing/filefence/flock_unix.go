//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filefence

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func supported() error { return nil }

// tryFlock locks f unless another open file has locked it. The lock ends when f is
// closed, or with the process.
func tryFlock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}

// keepOwner gives f to the owner and the group of old.
func keepOwner(f *os.File, old fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	is, want := info.Sys().(*syscall.Stat_t), old.Sys().(*syscall.Stat_t)
	if is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
