//go:build !linux && !darwin

package supervisor

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Supported says why commands cannot be run under a lock on this system.
func Supported() error {
	return fmt.Errorf("run a command under a lock on %s: %w; use the Go client, or fencelock on Linux or macOS", runtime.GOOS, errors.ErrUnsupported)
}

// Forwarded are the signals that end a wait for the lock.
func Forwarded() []os.Signal { return []os.Signal{os.Interrupt} }

// Resolve returns what Supported does.
func Resolve([]string, string) (Command, error) { return Command{}, Supported() }

// Run returns what Supported does.
func Run(Config) (Result, error) { return Result{}, Supported() }

// Gate returns what Supported does.
func Gate([]string) error { return Supported() }

// Keeper returns what Supported does.
func Keeper(*os.File) error { return Supported() }
