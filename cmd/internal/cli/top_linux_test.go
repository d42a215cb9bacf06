package cli

import (
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// mustBeRestored: the terminal is as a shell needs it.
func (x *liveTerminal) mustBeRestored() {
	x.t.Helper()
	state, err := unix.IoctlGetTermios(int(x.file.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	if want := uint32(unix.ECHO | unix.ICANON | unix.ISIG); state.Lflag&want != want {
		x.t.Errorf("local modes %#x, want echo, lines and signals", state.Lflag)
	}
	for _, pair := range [][2]string{{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?25l", "\x1b[?25h"}} { // other screen, cursor
		if on, off := strings.LastIndex(x.seen, pair[0]), strings.LastIndex(x.seen, pair[1]); off < on {
			x.t.Errorf("%q is not undone by %q at the end of %q", pair[0], pair[1], x.seen)
		}
	}
}

func TestTop(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	c := newTestClient(t, cluster.Endpoints())
	held := mustLock(t, c, "acct/42")
	term := startOnTerminal(t, cluster.Endpoint(0), "top")
	term.see("\x1b[?1049h", "HELD FOR", "acct/42", held.Token().String(), "tester")
	mustLock(t, c, "jobs/nightly")
	term.see("jobs/nightly")
	term.press("/")
	term.see("filter:")
	term.press("acct\r")
	term.see("1 of 2")
	term.press("\r")
	term.see("nobody waits", "exclusive")
	term.press("q")
	if code := term.end(); code != codeOK {
		t.Errorf("q: exit code %d, on the screen %q", code, term.seen)
	}
	term.mustBeRestored()
}

func TestTopEnds(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	for name, end := range map[string]func(*liveTerminal){
		"Ctrl-C":  func(x *liveTerminal) { x.press("\x03") },
		"SIGTERM": func(x *liveTerminal) { _ = x.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":  func(x *liveTerminal) { _ = x.cmd.Process.Signal(syscall.SIGINT) },
	} {
		term := startOnTerminal(t, cluster.Endpoint(0), "top")
		term.see("no lock is held")
		end(term)
		if code := term.end(); code != codeOK {
			t.Errorf("%s: exit code %d, on the screen %q", name, code, term.seen)
		}
		term.mustBeRestored()
	}
}

// The cluster goes and comes back: the screen says so, and goes on.
func TestTopOutlivesTheCluster(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	c := newTestClient(t, cluster.Endpoints())
	mustLock(t, c, "acct")
	term := startOnTerminal(t, cluster.Endpoint(0), "top", "--dial-timeout", "300ms")
	term.see("acct")
	cluster.Stop(0)
	term.see("no answer")
	cluster.Restart(0)
	mustLock(t, newTestClient(t, cluster.Endpoints()), "later")
	term.see("later")
	term.press("q")
	if code := term.end(); code != codeOK {
		t.Errorf("exit code %d, on the screen %q", code, term.seen)
	}
	term.mustBeRestored()
}

func TestTopWithoutACluster(t *testing.T) {
	term := startOnTerminal(t, deadEndpoint(t), "top", "--dial-timeout", "200ms")
	term.see("no answer from the cluster")
	term.press("q")
	if code := term.end(); code != codeOK {
		t.Errorf("exit code %d, on the screen %q", code, term.seen)
	}
}

func TestTopNeedsATerminal(t *testing.T) {
	c := at(deadEndpoint(t))
	c.run("top").want(t, codeFailure, "needs a terminal", "fencelock locks", "fencelock watch")
	c.run("top", "a//b").want(t, codeUsage, "top: ", "invalid name")
	seen, code := onTerminal80(t, deadEndpoint(t), "", []string{"TERM=dumb"}, "top")
	if code != codeFailure || !strings.Contains(seen, "needs a terminal") {
		t.Errorf("exit code %d, on the screen %q, want 1 and advice", code, seen)
	}
}
