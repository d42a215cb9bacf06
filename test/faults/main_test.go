//go:build linux

// The program under test is built once.

package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/fencelock/fencelock/test/chaos/world"
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
	binary, err := world.Build(context.Background(), dir, "", world.Program)
	return dir, errors.Join(err, os.Setenv(binaryVariable, binary))
}
