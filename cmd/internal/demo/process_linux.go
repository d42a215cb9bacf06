package demo

import "syscall"

// dieWithParent has the kernel kill the child when the demo dies, stopped or not.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
