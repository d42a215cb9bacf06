//go:build !linux

package interop

import "syscall"

// dieWithParent has no counterpart here: processes end when their tests do.
func dieWithParent() *syscall.SysProcAttr { return nil }
