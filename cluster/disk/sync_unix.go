//go:build unix

package disk

import (
	"errors"
	"fmt"
	"os"
)

// SyncFolder makes a rename in path last through a power loss.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}
