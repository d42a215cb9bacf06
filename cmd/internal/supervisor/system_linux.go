package supervisor

import (
	"bytes"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cldStopped is the code of a siginfo for a child that has stopped, from <signal.h>.
const cldStopped = 5

// childInfo is the part of a siginfo_t that tells of a child.
type childInfo struct {
	_      [3]int32 // signal, errno, code
	_      [0]uintptr
	_      [2]int32 // pid, uid
	status int32
}

// awaitChange waits until the process has stopped or ended. It does not reap it.
func awaitChange(pid int) (change, error) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return change{}, err
		case info.Code != cldStopped:
			return change{}, nil
		default:
			// Take the stop away, or it would be reported again.
			_ = unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOHANG, nil)
			return change{stopped: unix.Signal((*childInfo)(unsafe.Pointer(&info)).status)}, nil
		}
	}
}

// alive reports whether a process of the group can still run.
func (g group) alive() bool {
	proc, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if of, err := unix.Getpgid(pid); err == nil && of == int(g) && !zombie(name) {
			return true
		}
	}
	return false
}

// zombie reports whether a process has ended and only waits to be reaped. Its
// state follows its name, which may itself contain anything but ends at the last
// parenthesis.
func zombie(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return true
	}
	after := bytes.LastIndexByte(stat, ')') + 2
	return after >= len(stat) || stat[after] == 'Z' || stat[after] == 'X'
}

// foregroundOf returns the foreground group of a terminal. It is an error if the
// descriptor is not this session's controlling terminal.
func foregroundOf(tty int) (group, error) {
	of, err := unix.IoctlGetUint32(tty, unix.TIOCGPGRP)
	return group(of), err
}
