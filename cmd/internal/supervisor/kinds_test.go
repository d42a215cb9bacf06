//go:build linux

package supervisor_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing"
)

// outputs prints what fencelock tells the command, a dash for what it does not.
const outputs = `echo ${FENCELOCK_LOCK--} ${FENCELOCK_TOKEN--} ${FENCELOCK_SEQUENCER--} ${FENCELOCK_SEQUENCERS--}; `

// inherited is an environment with the outputs of an outer lock.
var inherited = []string{"env", "FENCELOCK_LOCK=o", "FENCELOCK_TOKEN=1", "FENCELOCK_SEQUENCER=o#1", "FENCELOCK_SEQUENCERS=o#1"}

func TestSharedLock(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, append(inherited, "fencelock", "lock", "-s", "x", "--", "sh", "-c", outputs+"cat")...)
	p.expect("x - - -")
	start(t, other.endpoint, "fencelock", "lock", "-s", "-n", "x", "--", "echo", "together").ends(0)
	start(t, other.endpoint, "fencelock", "lock", "-n", "x", "--", "true").ends(124, `lock "x" is held by`)
	p.stdin.Close()
	p.ends(0)
	other.isFree("x")

	other.lock("y")
	start(t, other.endpoint, "fencelock", "lock", "-s", "-n", "y", "--", "true").ends(124, `lock "y" is held by tester`)
}

func TestSeveralLocks(t *testing.T) {
	_, other := newMember(t)
	script := outputs + `fencelock kv put a k v && fencelock kv put "b c" k v && fencelock kv get a k; echo; fencelock kv put d k v; echo $?; cat`
	p := start(t, other.endpoint, append(inherited, "fencelock", "lock", "b c", "a", "a", "--", "sh", "-c", script)...)
	token := other.tokenFrom(p)
	p.expect("v")
	p.expect("3") // no sequencer of d
	for _, name := range []string{"a", "b c"} {
		if got := other.isHeld(name).Token; got != token {
			t.Errorf("%q is held with token %v, want %v", name, got, token)
		}
	}
	start(t, other.endpoint, "fencelock", "lock", "-n", "z", "a", "--", "true").ends(124, `lock "a" is held by`)
	other.isFree("z")
	p.stdin.Close()
	p.ends(0, "sequencer of another lock")
	other.isFree("a")
	other.isFree("b c")
}

// tokenFrom reads the outputs of the locks "b c" and "a".
func (o other) tokenFrom(p *process) fencing.Token {
	o.t.Helper()
	words := strings.Fields(p.line())
	if len(words) != 5 || words[0] != "-" || words[2] != "-" || words[3] != "b%20c#"+words[1] || words[4] != "a#"+words[1] {
		o.t.Fatalf("the command got %q, want - TOKEN - b%%20c#TOKEN a#TOKEN", words)
	}
	n, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil {
		o.t.Fatal(err)
	}
	return fencing.Token(n)
}

func TestSemaphore(t *testing.T) {
	_, other := newMember(t)
	permit := func(script string, flags ...string) *process {
		args := append([]string{"fencelock", "lock", "--limit", "2"}, flags...)
		return start(t, other.endpoint, append(append(inherited, args...), "s", "--", "sh", "-c", script)...)
	}
	var held []*process
	for range 2 {
		p := permit(outputs + "cat")
		p.expect("s - - -")
		held = append(held, p)
	}
	permit("echo ran", "-n").ends(124, `semaphore "s"`)
	start(t, other.endpoint, "fencelock", "lock", "--limit", "3", "s", "--", "true").ends(125, "its limit is 2, not 3")
	next := permit(outputs)
	held[0].stdin.Close()
	held[0].ends(0)
	next.expect("s - - -")
	next.ends(0, "")
	held[1].stdin.Close()
	held[1].ends(0)
}

func TestHoldSeveralWithoutACommand(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, "fencelock", "lock", "--hold", "x", "y")
	first, second := p.line(), p.line()
	if token := other.isHeld("x").Token.String(); first != "x#"+token || second != "y#"+token {
		t.Errorf("printed %q and %q, want x#%s and y#%s", first, second, token, token)
	}
	p.stdin.Close()
	p.ends(0)
	other.isFree("x")
	other.isFree("y")
}

func TestHoldTogetherWithoutACommand(t *testing.T) {
	_, other := newMember(t)
	for _, flags := range [][]string{{"--shared"}, {"--limit", "1"}} {
		p := start(t, other.endpoint, append([]string{"fencelock", "lock", "x"}, flags...)...)
		p.expect("x")
		p.stdin.Close()
		p.ends(0)
	}
}

// The loss of one of several locks ends the command.
func TestOneOfSeveralLocksIsLost(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, "fencelock", "lock", "x", "y", "--", "sh", "-c", "echo ready; cat")
	p.expect("ready")
	other.breakLock("y")
	p.ends(123, `locks ["x" "y"]`, "lost")
	other.isFree("x")
}
