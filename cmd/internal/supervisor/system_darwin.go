package supervisor

import "golang.org/x/sys/unix"

// stateZombie is SZOMB of <sys/proc.h>.
const stateZombie = 5

// awaitChange waits until the process has ended, and does not reap it. That it
// stops is not noticed here: waitid cannot be told to leave a process unreaped.
func awaitChange(pid int) (change, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return change{}, err
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	exit := []unix.Kevent_t{{Fflags: unix.NOTE_EXIT}}
	unix.SetKevent(&exit[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	for {
		switch _, err := unix.Kevent(queue, exit, exit, nil); err {
		case unix.EINTR:
		case unix.ESRCH: // it has ended before
			return change{}, nil
		default:
			return change{}, err
		}
	}
}

// alive reports whether a process of the group can still run.
func (g group) alive() bool {
	members, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", int(g))
	if err != nil {
		return false
	}
	for _, member := range members {
		if member.Proc.P_stat != stateZombie {
			return true
		}
	}
	return false
}

// foregroundOf returns the foreground group of a terminal. It is an error if the
// descriptor is not this session's controlling terminal.
func foregroundOf(tty int) (group, error) {
	of, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return group(of), err
}
