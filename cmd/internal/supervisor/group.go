//go:build linux || darwin

package supervisor

import "golang.org/x/sys/unix"

// group is a process group, named by the process id of its leader. It must not be
// used once the leader has been reaped.
type group int

// signal sends to every process of the group. EPERM means that none of them may
// be signalled.
func (g group) signal(s unix.Signal) error { return unix.Kill(-int(g), s) }

// terminate asks every process of the group to end, also those that are stopped.
func (g group) terminate() {
	_ = g.signal(unix.SIGTERM)
	_ = g.signal(unix.SIGCONT)
}
