package rules

import (
	"os/exec"
	"testing"
)

// The library is for services on any system; members run on Linux.
func TestLibraryBuildsElsewhere(t *testing.T) {
	for _, goos := range []string{"darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			build := exec.CommandContext(t.Context(), "go", "build", "./fencing/...", "./client/...")
			build.Dir = root
			build.Env = append(build.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Errorf("go build: %v\n%s", err, out)
			}
		})
	}
}
