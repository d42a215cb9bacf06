//go:build linux

package supervisor_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// While it waits, a person sees for whom, in one line that is wiped out in the end.
func TestWaitingOnATerminal(t *testing.T) {
	_, other := newMember(t)
	held := other.lock("x")
	term := onTerminal(t, other.endpoint, lock("echo", "ran")...)
	term.shows("\rfencelock: waiting for lock \"x\" for 1s: held by tester, token " + held.Token().String() + ", claimed ")
	term.shows("\rfencelock: waiting for lock \"x\" for 2s")
	if err := held.Unlock(other.context()); err != nil {
		t.Fatal(err)
	}
	term.shows("\r\x1b[Kran")
	term.ends(0)
}

func TestWaitingOfSeveralKinds(t *testing.T) {
	_, other := newMember(t)
	other.lock("y")
	holder := start(t, other.endpoint, "fencelock", "lock", "--limit", "1", "s")
	holder.expect("s")
	for args, want := range map[string]string{
		"x y -- true":         `waiting for locks ["x" "y"] for 1s: "y" is held by tester, token `,
		"--shared y -- true":  `waiting for shared lock "y" for 1s: held by tester, token `,
		"--limit 1 s -- true": `waiting for semaphore "s" for 1s: the permit is held by `,
	} {
		p := start(t, other.endpoint, append([]string{"fencelock", "lock", "-w", "3s"}, strings.Fields(args)...)...)
		p.ends(124, want)
		if n := strings.Count(p.stderr.String(), "waiting for"); n != 1 {
			t.Errorf("it says %d times that it waits, want once: %q", n, p.stderr)
		}
	}
}

// Ctrl-S on the terminal, a full pipe: the lock is not held back by what cannot be
// said.
func TestStuckStandardError(t *testing.T) {
	_, other := newMember(t)
	held := other.lock("x")
	full, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	defer writer.Close()
	fill(t, writer)
	p := startWith(t, other.endpoint, writer, lock("echo", "ran")...)
	eventually(t, "a waiter", func() bool { return len(other.inspect("x").Waiters) == 1 })
	eventually(t, "a writer that is stuck", func() bool { return blockedOnWrite(p.cmd.Process.Pid) })
	if err := held.Unlock(other.context()); err != nil {
		t.Fatal(err)
	}
	p.expect("ran")
	p.await("end", p.ended)
	if got := p.cmd.ProcessState.ExitCode(); got != 0 {
		t.Errorf("exit code %d, want 0", got)
	}
}

// fill writes into a pipe until nothing more goes in.
func fill(t *testing.T, writer *os.File) {
	t.Helper()
	fd := int(writer.Fd()) // blocking from now on, for those who inherit it
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for size := 4096; size > 0; {
		if _, err := syscall.Write(fd, make([]byte, size)); err != nil {
			size /= 2
		}
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
}

// blockedOnWrite reports whether a thread of the process waits in a pipe's write.
func blockedOnWrite(pid int) bool {
	threads, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	for _, thread := range threads {
		call, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + thread.Name() + "/syscall")
		if strings.HasPrefix(string(call), strconv.Itoa(syscall.SYS_WRITE)+" 0x2 ") {
			return true
		}
	}
	return false
}
