//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filefence

import (
	"errors"
	"io/fs"
	"os"
)

func supported() error { return errors.ErrUnsupported }

func tryFlock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func keepOwner(*os.File, fs.FileInfo) error { return errors.ErrUnsupported }
