// Command fencelock takes locks, runs commands under them, reads and writes what
// they guard, and runs the members of the cluster that keeps them. See
// "fencelock help".
package main

import (
	"context"
	"os"

	"github.com/fencelock/fencelock/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.Process{
		Args:   os.Args[1:],
		Env:    os.Environ(),
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	}))
}
