//go:build unix

package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// liveTerminal is a command on a terminal of 100 columns and 30 lines, which a test
// types into and looks at while it runs.
type liveTerminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	file *os.File
	seen string // all that the command has written and see has read
	text chan string
}

func startOnTerminal(t *testing.T, endpoint string, args ...string) *liveTerminal {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(testContext(t), program, args...)
	cmd.Env = append(os.Environ(), "FENCELOCK_TEST_MAIN=1", "FENCELOCK_CLIENT_ENDPOINTS="+endpoint, "TERM=xterm-256color", "NO_COLOR=")
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	x := &liveTerminal{t: t, cmd: cmd, file: file, text: make(chan string)}
	done := make(chan struct{})
	go func() {
		defer close(x.text)
		part := make([]byte, 64<<10)
		for {
			n, err := file.Read(part)
			if err != nil { // the command has ended
				return
			}
			select {
			case x.text <- string(part[:n]):
			case <-done:
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(done)
		_ = cmd.Process.Kill()
		_ = file.Close()
		for range x.text { // until the reader has ended
		}
	})
	return x
}

// see waits for each part, from where it has looked last.
func (x *liveTerminal) see(parts ...string) {
	x.t.Helper()
	limit := time.After(testTime / 3)
	from := len(x.seen)
	for {
		missing := ""
		for _, part := range parts {
			if !strings.Contains(x.seen[from:], part) {
				missing = part
			}
		}
		if missing == "" {
			return
		}
		select {
		case text, ok := <-x.text:
			if !ok {
				x.t.Fatalf("the command has ended before there was %q in %q", missing, x.seen[from:])
			}
			x.seen += text
		case <-limit:
			x.t.Fatalf("no %q in %q", missing, x.seen[from:])
		}
	}
}

func (x *liveTerminal) press(keys string) {
	x.t.Helper()
	if _, err := x.file.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// end waits for the command and returns its exit code.
func (x *liveTerminal) end() int {
	x.t.Helper()
	limit := time.After(testTime / 3)
	for {
		select {
		case text, ok := <-x.text:
			if !ok {
				_ = x.cmd.Wait()
				return x.cmd.ProcessState.ExitCode()
			}
			x.seen += text
		case <-limit:
			x.t.Fatalf("the command goes on; on the screen %q", x.seen)
		}
	}
}
