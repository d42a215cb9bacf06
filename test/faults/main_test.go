// The program under test is built once.

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// binaryVariable tells the tests where TestMain has built the program.
const binaryVariable = "FENCELOCK_TEST_BINARY"

func TestMain(m *testing.M) {
	dir, err := build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func build() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "fencelock-faults"); err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "fencelock")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/fencelock").CombinedOutput(); err != nil {
		return dir, fmt.Errorf("build: %w: %s", err, out)
	}
	return dir, os.Setenv(binaryVariable, binary)
}
