//go:build linux || darwin

package supervisor

import (
	"io/fs"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// stopTime is how long a stop signal to oneself may take to work. A stop that
// does not come by then does not come: the kernel ignores it where nobody could
// end it.
const stopTime = 50 * time.Millisecond

// terminal is the controlling terminal, which one process group at a time may
// read from: the foreground group. The shell made fencelock's group that, and
// fencelock passes it on. Without a terminal there is nothing to pass on.
type terminal struct {
	fd    int // -1: there is none
	own   group
	given bool // to the command's group

	// What it sent to fencelock, and the command needs: SIGWINCH, SIGTSTP.
	resizes, stops chan os.Signal
}

func openTerminal() *terminal {
	t := &terminal{fd: -1, own: group(unix.Getpgrp()), resizes: make(chan os.Signal, 1), stops: make(chan os.Signal, 1)}
	if fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0); err == nil {
		t.fd = fd
	}
	return t
}

// claim makes fencelock ready to pass the terminal on and take it back. The
// command must have been forked: it would inherit that SIGTTOU is ignored.
func (t *terminal) claim() {
	signal.Notify(t.resizes, unix.SIGWINCH)
	if t.fd >= 0 {
		signal.Ignore(unix.SIGTTOU) // sent to who moves the foreground from the background
		signal.Notify(t.stops, unix.SIGTSTP)
	}
}

// wantedBy reports whether the command should have the terminal from the start:
// it reads from it, and it does not feed a program that may want to read from the
// terminal itself, such as a pager. A command that needs it later is stopped by the
// kernel, and gets it then.
func wantedBy(cfg Config) bool {
	if _, err := foregroundOf(int(cfg.Stdin.Fd())); err != nil {
		return false
	}
	out, err := cfg.Stdout.Stat()
	return err == nil && out.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0
}

// foreground reports whether fencelock has the terminal.
func (t *terminal) foreground() bool {
	if t.fd < 0 {
		return false
	}
	now, err := foregroundOf(t.fd)
	return err == nil && now == t.own
}

// giveTo passes the terminal on, if fencelock has it.
func (t *terminal) giveTo(g group) {
	if t.foreground() {
		t.given = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, int(g)) == nil
	}
}

// takeBack takes the terminal back, if it was passed on.
func (t *terminal) takeBack() {
	if t.given {
		t.given = false
		_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, int(t.own))
	}
}

// suspend stops fencelock and its group, as the terminal would have done had the
// command been in it, and returns when it has been continued. Where nobody could
// continue it, the kernel ignores both signals. SIGTTIN does for fencelock itself:
// Go cannot give SIGTSTP back to the kernel once it has been listened for.
func (t *terminal) suspend() {
	t.takeBack()
	_ = unix.Kill(0, unix.SIGTSTP)
	_ = unix.Kill(unix.Getpid(), unix.SIGTTIN)
	<-time.After(stopTime)
	select {
	case <-t.stops: // fencelock's own
	default:
	}
}

func (t *terminal) close() {
	signal.Stop(t.resizes)
	signal.Stop(t.stops)
	if t.fd >= 0 {
		signal.Reset(unix.SIGTTOU)
		unix.Close(t.fd)
	}
}
