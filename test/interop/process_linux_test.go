package interop

import "syscall"

// dieWithParent makes a process end with the test's, even if that is killed.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
