//go:build linux

package supervisor_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain builds the program and puts it in front of PATH: these tests are about
// processes, so they use real ones.
func TestMain(m *testing.M) {
	folder, err := build()
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		os.Setenv("PATH", folder+":"+os.Getenv("PATH"))
		code = m.Run()
	}
	os.RemoveAll(folder)
	os.Exit(code)
}

func build() (folder string, err error) {
	if folder, err = os.MkdirTemp("", "fencelock"); err != nil {
		return "", err
	}
	args := append([]string{"build", "-o", filepath.Join(folder, "fencelock")}, buildFlags()...)
	out, err := exec.Command("go", append(args, "../../fencelock")...).CombinedOutput()
	if err != nil {
		return folder, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return folder, nil
}
