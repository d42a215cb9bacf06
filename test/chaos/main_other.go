//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "chaos: runs on Linux only: it needs network namespaces, loop devices and signals to stopped processes")
	os.Exit(2)
}
