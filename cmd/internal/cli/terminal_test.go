//go:build unix

package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// onTerminal80 runs a command on a terminal of 80 columns, types keys, and returns
// what was on the screen and the exit code.
func onTerminal80(t *testing.T, endpoint, keys string, env []string, args ...string) (screen string, code int) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(testContext(t), program, args...)
	cmd.Env = append(append(os.Environ(), "FENCELOCK_TEST_MAIN=1", "FENCELOCK_CLIENT_ENDPOINTS="+endpoint, "TERM=xterm", "NO_COLOR="), env...)
	term, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if _, err := io.WriteString(term, keys); err != nil {
		t.Fatal(err)
	}
	seen, err := io.ReadAll(term)
	if err != nil && !errors.Is(err, syscall.EIO) { // which is how the end of a terminal reads
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return strings.ReplaceAll(string(seen), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

func TestTableFitsTheTerminal(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	name := "a/very/long/" + strings.Repeat("name/", 20) + "of/a/lock"
	mustLock(t, newTestClient(t, cluster.Endpoints()), name)
	seen, _ := onTerminal80(t, cluster.Endpoint(0), "", nil, "locks")
	lines := strings.Split(seen, "\n")
	if !strings.HasPrefix(lines[0], bold+"NAME ") || !strings.HasPrefix(lines[1], "a/very/long/name") || !strings.Contains(lines[1], "…") {
		t.Errorf("on the screen %q, want a bold header and a name that is cut", seen)
	}
	for _, line := range lines {
		if n := len([]rune(strings.NewReplacer(bold, "", plain, "").Replace(line))); n > 80 {
			t.Errorf("line %q has %d columns, want at most 80", line, n)
		}
	}
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		if seen, _ := onTerminal80(t, cluster.Endpoint(0), "", []string{env}, "locks"); strings.Contains(seen, "\x1b") {
			t.Errorf("with %s: %q, want no colours", env, seen)
		}
	}
	if out := at(cluster.Endpoint(0)).run("locks").want(t, codeOK).stdout; !strings.Contains(out, name) || strings.Contains(out, "\x1b") {
		t.Errorf("in a pipe: %q, want the whole name and no colours", out)
	}
}

func TestErrorOnATerminal(t *testing.T) {
	seen, code := onTerminal80(t, "127.0.0.1:1", "", nil, "locks", "a//b")
	if code != codeUsage || !strings.HasPrefix(seen, red+"fencelock:"+plain+" ") {
		t.Errorf("exit code %d, on the screen %q, want 2 and a red name", code, seen)
	}
}

func TestBreakAsksOnATerminal(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	held := mustLock(t, newTestClient(t, cluster.Endpoints()), "acct")
	args := []string{"break", "acct", "--token", held.Token().String()}
	const question = `whose holder is tester? It is not told to stop. [y/N] `
	for _, keys := range []string{"n\n", "\n", "\x04", "yep\n"} {
		seen, code := onTerminal80(t, cluster.Endpoint(0), keys, nil, args...)
		if code != codeFailure || !strings.Contains(seen, question) || !strings.Contains(seen, "not confirmed, so nothing was done") {
			t.Errorf("%q: exit code %d, on the screen %q, want 1 and the question", keys, code, seen)
		}
	}
	if seen, code := onTerminal80(t, cluster.Endpoint(0), "\x03", nil, args...); code == codeOK {
		t.Errorf("Ctrl-C: exit code %d, on the screen %q", code, seen)
	}
	if err := held.Err(); err != nil {
		t.Fatalf("the lock has ended: %v", err)
	}
	seen, code := onTerminal80(t, cluster.Endpoint(0), "y\n", nil, args...)
	if code != codeOK || !strings.Contains(seen, question) || !strings.Contains(seen, "broken: acct") {
		t.Errorf("exit code %d, on the screen %q, want 0", code, seen)
	}
	next := mustLock(t, newTestClient(t, cluster.Endpoints()), "acct")
	seen, code = onTerminal80(t, cluster.Endpoint(0), "", nil, "break", "acct", "-y", "--token", next.Token().String())
	if code != codeOK || strings.Contains(seen, "[y/N]") {
		t.Errorf("with -y: exit code %d, on the screen %q, want 0 and no question", code, seen)
	}
}

// Values are no orders to the terminal, unless that is what was asked for.
func TestValueOnATerminal(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	held := mustLock(t, newTestClient(t, cluster.Endpoints()), "acct")
	if _, err := held.KV().Put(testContext(t), "k", []byte("\x1b[2Jx")); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"--peek": `"\x1b[2Jx"` + "\n", "--raw": "\x1b[2Jx", "--base64": "G1sySng=\n"} {
		if seen, code := onTerminal80(t, cluster.Endpoint(0), "", nil, "kv", "get", "acct", "k", "--peek", flag); code != codeOK || seen != want {
			t.Errorf("%s: exit code %d, on the screen %q, want %q", flag, code, seen, want)
		}
	}
}
