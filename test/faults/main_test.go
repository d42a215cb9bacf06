//go:build linux

// The program under test is built once.

package faults

import (
	"context"
	"testing"

	"github.com/fencelock/fencelock/test/chaos/world"
	"github.com/fencelock/fencelock/test/testbinary"
)

func TestMain(m *testing.M) {
	testbinary.Main(m, func(dir string) (string, error) { return world.Build(context.Background(), dir, "", world.Program) })
}
