//go:build linux

package supervisor_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestStandardInputReachesTheCommand(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, lock("cat")...)
	for _, word := range []string{"one", "two"} {
		if _, err := io.WriteString(p.stdin, word+"\n"); err != nil {
			t.Fatal(err)
		}
		p.expect(word)
	}
	p.stdin.Close()
	p.ends(0)
}

// Neither the keeper nor what the command leaves behind keeps a pipe open.
func TestPipelineEnds(t *testing.T) {
	_, other := newMember(t)
	for script, parts := range map[string][]string{
		"fencelock lock x -- echo done 2>&1 | cat":                           nil,
		"echo done | fencelock lock x -- cat | cat":                          nil,
		"fencelock lock x -- sh -c 'sleep 1000 & echo done' 2>/dev/null|cat": nil,
	} {
		p := start(t, other.endpoint, "sh", "-c", script)
		p.expect("done")
		p.ends(0, parts...)
		other.isFree("x")
	}
}

// A file that fencelock was given by its caller reaches the command under its
// number; one that fencelock has opened does not.
func TestDescriptors(t *testing.T) {
	_, other := newMember(t)
	given, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer given.Close()
	list := func(args ...string) string {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.ExtraFiles = []*os.File{nil, given}
		p := startCommand(t, other.endpoint, cmd)
		defer p.ends(0)
		return p.line()
	}
	script := []string{"sh", "-c", "cd /proc/$$/fd && echo *"}
	want := list(script...)
	if !strings.Contains(want, " 4") {
		t.Fatalf("a command without fencelock has descriptors %s, want 4 among them", want)
	}
	if got := list(lock(script...)...); got != want {
		t.Errorf("the command has descriptors %s, want %s, as without fencelock", got, want)
	}
}

// Processes that the command leaves in its group: those that end soon are waited
// for, so that no output is lost; the lock is held that long.
func TestLeftBehindButEnding(t *testing.T) {
	_, other := newMember(t)
	other.lock("warm up")
	p := start(t, other.endpoint, shell(`exec 3<&0; (read line <&3; echo got $line) & echo $!`)...)
	left := p.pid()
	other.seesLocked("x")
	if gone(left) {
		t.Error("the process left behind was killed at once")
	}
	io.WriteString(p.stdin, "it\n")
	p.expect("got it")
	p.ends(0)
	other.isFree("x")
}

func TestLeftBehindIsEnded(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, shell(`sh -c 'trap "echo term" TERM; echo $$; while :; do sleep 0.01; done' & exit 3`)...)
	left := p.pid()
	p.expect("term")
	p.ends(3, "left processes behind")
	if !gone(left) {
		t.Errorf("process %d lives on without the lock", left)
	}
	other.isFree("x")
}
