//go:build linux

package supervisor_test

import (
	"os/exec"
	"syscall"
	"testing"
)

// trapping is a command that prints the names of the signals it gets, and ends
// with QUIT. It has a child that would end with each of them.
func trapping() string {
	return `exec 2>/dev/null # where the shell tells of its killed children
		for s in INT TERM HUP USR1 USR2 WINCH; do trap "echo $s" $s; done
		trap "echo QUIT; exit 5" QUIT
		echo ready
		while :; do sleep 0.01; done`
}

func TestSignalsAreForwarded(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, shell(trapping())...)
	p.expect("ready")
	for _, s := range []struct {
		signal syscall.Signal
		name   string
	}{
		{syscall.SIGINT, "INT"}, {syscall.SIGTERM, "TERM"}, {syscall.SIGHUP, "HUP"},
		{syscall.SIGUSR1, "USR1"}, {syscall.SIGUSR2, "USR2"}, {syscall.SIGWINCH, "WINCH"},
	} {
		p.signal(s.signal)
		p.expect(s.name)
		other.seesLocked("x") // the command goes on, so it keeps its lock
	}
	p.signal(syscall.SIGQUIT)
	p.expect("QUIT")
	p.ends(5)
	other.isFree("x")
}

func TestSignalReachesTheWholeGroup(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, shell("sleep 1000 & echo $!; sleep 1000 & echo $!; wait")...)
	children := []int{p.pid(), p.pid()}
	p.signal(syscall.SIGTERM)
	p.ends(143)
	for _, child := range children {
		if !gone(child) {
			t.Errorf("child %d lives on", child)
		}
	}
	other.isFree("x")
}

func TestLockIsFreedAfterTheEnd(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, shell(`exec 2>/dev/null; trap "echo trapped; cat; echo cleaned up; exit 9" TERM; echo ready; while :; do sleep 0.01; done`)...)
	p.expect("ready")
	p.signal(syscall.SIGTERM)
	p.expect("trapped")
	other.seesLocked("x") // it is told to end, and has not yet
	p.stdin.Close()
	p.expect("cleaned up")
	p.ends(9)
	other.isFree("x")
}

func TestSignalWhileWaiting(t *testing.T) {
	_, other := newMember(t)
	other.lock("x")
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(s.String(), func(t *testing.T) {
			p := start(t, other.endpoint, lock("echo", "ran")...)
			eventually(t, "a waiter", func() bool { return len(other.inspect("x").Waiters) == 1 })
			p.signal(s)
			p.ends(128+int(s), `lock "x"`)
			if waiters := other.inspect("x").Waiters; len(waiters) > 0 {
				t.Errorf("claims are left: %+v", waiters)
			}
		})
	}
}

// Under nohup SIGHUP stays ignored, for the command too.
func TestIgnoredSignalStaysIgnored(t *testing.T) {
	_, other := newMember(t)
	p := startCommand(t, other.endpoint, exec.Command("sh", "-c", `trap "" HUP; exec fencelock lock x -- sh -c 'echo $PPID; kill -HUP $PPID; kill -HUP $$; cat'`))
	p.pid()
	p.stdin.Close()
	p.ends(0)
}
