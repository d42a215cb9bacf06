//go:build linux

package supervisor_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a program on a terminal of its own, and the person before it.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	keys *os.File

	mu   sync.Mutex
	seen string // and not yet expected
}

// onTerminal starts a program that leads a session with a terminal.
func onTerminal(t *testing.T, endpoint string, args ...string) *terminal {
	t.Helper()
	master, slave := openPair(t)
	term := &terminal{t: t, keys: master, cmd: exec.Command(args[0], args[1:]...)}
	term.cmd.Env = append(os.Environ(), "FENCELOCK_CLIENT_ENDPOINTS="+endpoint, "PS1=$ ", "TERM=dumb", "HISTFILE=")
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = slave, slave, slave
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	var reading sync.WaitGroup
	reading.Go(term.read)
	t.Cleanup(func() {
		_ = term.cmd.Process.Kill()
		_ = term.cmd.Wait()
		master.Close()
		reading.Wait()
	})
	return term
}

// openPair makes a pseudo terminal.
func openPair(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var number int
	conn, err := master.SyscallConn()
	if err == nil {
		err = conn.Control(func(fd uintptr) {
			_ = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
			number, _ = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		})
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

func (term *terminal) read() {
	buffer := make([]byte, 4096)
	for {
		n, err := term.keys.Read(buffer)
		if err != nil {
			return // EIO: nobody has the terminal open any more
		}
		term.mu.Lock()
		term.seen += string(buffer[:n])
		term.mu.Unlock()
	}
}

// types presses keys.
func (term *terminal) types(keys string) {
	term.t.Helper()
	if _, err := term.keys.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// shows waits for text on the screen, after what was waited for before.
func (term *terminal) shows(text string) {
	term.t.Helper()
	defer func() {
		if term.t.Failed() {
			term.t.Logf("on the screen: %q", term.seen)
		}
	}()
	eventually(term.t, fmt.Sprintf("%q on the screen", text), func() bool {
		term.mu.Lock()
		defer term.mu.Unlock()
		_, after, found := strings.Cut(term.seen, text)
		if found {
			term.seen = after
		}
		return found
	})
}

func (term *terminal) ends(code int) {
	term.t.Helper()
	timer := time.AfterFunc(testTime, func() { _ = term.cmd.Process.Kill() })
	defer timer.Stop()
	_ = term.cmd.Wait()
	if got := term.cmd.ProcessState.ExitCode(); got != code {
		term.t.Errorf("%v: %v, want exit code %d", term.cmd.Args, term.cmd.ProcessState, code)
	}
}

// talking is a command that answers each line. (Echoes are not waited for: a shell
// that changes the terminal's mode may swallow one.)
const talking = `sh -c 'echo rea""dy; while read line; do echo got $line; done'`

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	ctrlZ = "\x1a"
)

// bash is an interactive shell, which knows job control.
func bash(t *testing.T, endpoint string) *terminal {
	t.Helper()
	term := onTerminal(t, endpoint, "bash", "--norc", "--noprofile", "-i")
	term.shows("$ ")
	return term
}

func TestCommandHasTheTerminal(t *testing.T) {
	_, other := newMember(t)
	term := onTerminal(t, other.endpoint, lock("sh", "-c", `set -- $(cat /proc/$$/stat); echo group $5 foreground $8; read line; echo got $line; exit 6`)...)
	term.shows("group ")
	var group, foreground int
	eventually(t, "a line", func() bool {
		term.mu.Lock()
		defer term.mu.Unlock()
		n, _ := fmt.Sscanf(term.seen, "%d foreground %d\r\n", &group, &foreground)
		return n == 2
	})
	if group != foreground {
		t.Errorf("the command's group is %d, the terminal's foreground group %d, want the same", group, foreground)
	}
	term.types("hello\n")
	term.shows("got hello")
	term.ends(6)
}

func TestCtrlC(t *testing.T) {
	_, other := newMember(t)
	t.Run("while the command runs", func(t *testing.T) {
		term := onTerminal(t, other.endpoint, shell("echo ready; sleep 1000")...)
		term.shows("ready")
		term.types(ctrlC)
		term.ends(130)
		other.isFree("x")
	})
	t.Run("while waiting", func(t *testing.T) {
		other.lock("x")
		term := onTerminal(t, other.endpoint, shell("echo ran")...)
		eventually(t, "a waiter", func() bool { return len(other.inspect("x").Waiters) == 1 })
		term.types(ctrlC)
		term.ends(130)
		if waiters := other.inspect("x").Waiters; len(waiters) > 0 {
			t.Errorf("claims are left: %+v", waiters)
		}
	})
}

func TestCtrlZ(t *testing.T) {
	_, other := newMember(t)
	term := bash(t, other.endpoint)
	term.types("fencelock lock x -- " + talking + "; echo code $?.\n")
	term.shows("ready")
	term.types("one\n")
	term.shows("got one")
	term.types(ctrlZ)
	term.shows("Stopped")
	term.types("echo at the $((1+1))nd prompt\n")
	term.shows("at the 2nd prompt")
	term.types("fg; echo code $?.\n")
	term.types("two\n")
	term.shows("got two")
	term.types(ctrlD)
	term.shows("code 0.")
	other.isFree("x")
	term.types("echo at the $((1+2))rd prompt\n")
	term.shows("at the 3rd prompt")
}

// Nobody could continue what Ctrl-Z stopped, so it does not stop.
func TestCtrlZWithoutAShell(t *testing.T) {
	_, other := newMember(t)
	term := onTerminal(t, other.endpoint, shell("exec "+talking)...)
	term.shows("ready")
	term.types(ctrlZ)
	term.types("one\n")
	term.shows("got one")
	term.types(ctrlD)
	term.ends(0)
}

func TestBackgroundJobIsBroughtToTheFront(t *testing.T) {
	_, other := newMember(t)
	term := bash(t, other.endpoint)
	term.types("fencelock lock x -- sh -c 'read line; echo got $line' &\n")
	term.shows("$ ")
	eventually(t, "a stopped command", func() bool {
		term.types("jobs\n")
		term.mu.Lock()
		defer term.mu.Unlock()
		return strings.Contains(term.seen, "Stopped")
	})
	term.types("fg; echo code $?.\n")
	term.shows("fg")
	term.types("hello\n")
	term.shows("got hello")
	term.shows("code 0.")
}

// A pager at the end of the pipe reads the terminal, so the command must not have it.
func TestPagerHasTheTerminal(t *testing.T) {
	_, other := newMember(t)
	term := bash(t, other.endpoint)
	term.types("fencelock lock x -- sh -c 'echo page; sleep 1000' | sh -c 'read page; echo the $page; read key </dev/tty; echo key $key'\n")
	term.shows("the page")
	term.types("q\n")
	term.shows("key q")
	term.types(ctrlC) // for the rest of the job
	term.shows("$ ")
	eventually(t, "a free lock", func() bool { return len(other.inspect("x").Holders) == 0 })
}

// A command in a pipe gets the terminal when it reads from it.
func TestCommandInAPipeReadsTheTerminal(t *testing.T) {
	_, other := newMember(t)
	term := bash(t, other.endpoint)
	term.types("fencelock lock x -- sh -c 'read line; echo got $line' | cat\n")
	eventually(t, "a holder", func() bool { return len(other.inspect("x").Holders) == 1 })
	term.types("hello\n")
	term.shows("got hello")
}

func TestInteractiveShellUnderTheLock(t *testing.T) {
	_, other := newMember(t)
	term := bash(t, other.endpoint)
	term.types("fencelock lock x -- env PS1=inner'> ' bash --norc --noprofile -i; echo code $?.\n")
	term.shows("inner> ")
	term.types(talking + "\n")
	term.shows("ready")
	term.types(ctrlZ)
	term.shows("Stopped")
	term.types("fg\n")
	term.types("one\n")
	term.shows("got one")
	term.types(ctrlC)
	term.shows("inner> ")
	term.types("exit 8\n")
	term.shows("code 8.")
	term.types("echo back at $((2+2))\n")
	term.shows("back at 4")
}
