// Package testbinary builds a program once for all tests of a package.
package testbinary

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// variable tells the tests, and processes that they start, where Main has built the
// program.
const variable = "FENCELOCK_TEST_BINARY"

// Path is where the program is.
func Path() string { return os.Getenv(variable) }

// Main parses flags, has the program built into a folder of its own, runs the tests
// of a package, removes the folder, and fails if goroutines are left:
//
//	func TestMain(m *testing.M) { testbinary.Main(m, build) }
func Main(m *testing.M, build func(dir string) (path string, err error)) {
	flag.Parse()
	dir, err := prepare(build)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func prepare(build func(dir string) (string, error)) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "fencelock-test-binary-"); err != nil {
		return "", err
	}
	path, err := build(dir)
	return dir, errors.Join(err, os.Setenv(variable, path))
}
