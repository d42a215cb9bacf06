//go:build !unix

package cluster

import (
	"fmt"
	"os"
)

// lockFile locks nothing here. What is left is the database's own lock, which
// checkStore tries: it refuses a second member from the moment the first one has
// opened its database.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	return f, nil
}
