//go:build linux || darwin

package supervisor

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	// restTime is how long processes that the command left behind in its group
	// may take to end by themselves: the tee of a "> >(tee log)" has to read its
	// pipe to the end.
	restTime = time.Second

	// restLook is how often they are looked at.
	restLook = 20 * time.Millisecond
)

// leftovers are what the command leaves behind in its group when it ends. They
// would go on without the lock, so they end before it is freed: by themselves,
// else by SIGTERM, else by SIGKILL.
type leftovers struct {
	termAt, killAt time.Time // zero while the command runs
	asked, killed  bool
	notes          []string
}

// begin is called when the command has ended.
func (l *leftovers) begin(grace time.Duration) {
	l.termAt = time.Now().Add(restTime)
	l.killAt = l.termAt.Add(grace)
}

// left reports whether the command has ended.
func (l *leftovers) left() bool { return !l.termAt.IsZero() }

// over reports whether the command has ended and nothing is left, or all of it
// killed.
func (l *leftovers) over(g group) bool {
	now := time.Now()
	switch {
	case !l.left():
		return false
	case l.killed || !g.alive():
		return true
	case now.After(l.killAt):
		_ = g.signal(unix.SIGKILL)
		l.killed = true
		return true
	case now.After(l.termAt) && !l.asked:
		l.asked = true
		l.notes = append(l.notes, "the command left processes behind in its process group; they are told to end before the lock is freed")
		g.terminate()
	}
	return false
}

// next is how long until the next look.
func (l *leftovers) next() time.Duration {
	if l.left() {
		return restLook
	}
	return lookEvery
}
