//go:build unix && !linux

package demo

import "syscall"

// dieWithParent has nothing to add: a stopped process group that loses its parent
// gets SIGHUP and SIGCONT (POSIX, _exit), which ends the child.
func dieWithParent(*syscall.SysProcAttr) {}
