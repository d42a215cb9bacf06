//go:build linux

package world

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// Program is what members run, for Build.
const Program = "cmd/fencelock"

// Build compiles a program of this module's, named by its folder in the source tree,
// into a folder of the caller's. The process is run in that tree. overlay is a file
// for "go build -overlay"; empty: none.
func Build(ctx context.Context, folder, overlay, program string) (binary string, err error) {
	binary = filepath.Join(folder, path.Base(program))
	args := []string{"build", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "github.com/fencelock/fencelock/"+program)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s, inside of fencelock's source tree: %w\n%s", program, err, out)
	}
	return binary, nil
}
