//go:build linux

package supervisor_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// lock is the command line "fencelock lock x -- command".
func lock(command ...string) []string {
	return append([]string{"fencelock", "lock", "--ttl", ttl.String(), "x", "--"}, command...)
}

func shell(script string) []string { return lock("sh", "-c", script) }

func TestExitCodes(t *testing.T) {
	_, other := newMember(t)
	folder := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		args  []string
		code  int
		parts []string
	}{
		"success":              {lock("true"), 0, nil},
		"42":                   {shell("exit 42"), 42, nil},
		"255":                  {shell("exit 255"), 255, nil},
		"SIGTERM":              {shell("kill -TERM $$"), 143, nil},
		"SIGKILL":              {shell("kill -KILL $$"), 137, nil},
		"not found":            {lock("no-such-command"), 127, []string{"no-such-command", "PATH"}},
		"no such file":         {lock(folder + "/none"), 127, []string{"none"}},
		"no interpreter":       {lock(file("nowhere", "#!/no/such/shell\n", 0o755)), 127, []string{"nowhere"}},
		"not executable":       {lock(file("plain", "exit 0\n", 0o644)), 126, []string{"plain", "chmod"}},
		"a folder":             {lock(folder), 126, []string{"folder"}},
		"bad interpreter":      {lock(file("folder", "#!"+folder+"\n", 0o755)), 126, []string{"permission denied"}},
		"script without #!":    {lock(file("script", "exit $1\n", 0o755), "7"), 7, nil},
		"flags of the command": {shell(`test "$0$1" = -n--help`), 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			start(t, other.endpoint, c.args...).ends(c.code, c.parts...)
			other.isFree("x")
		})
	}
}

func TestArgumentsReachTheCommand(t *testing.T) {
	_, other := newMember(t)
	args := []string{"-h", "--help", "", "--config=none", "__gate", "--", "-n", "a b", "$HOME"}
	p := start(t, other.endpoint, lock(append([]string{"printf", `[%s]\n`}, args...)...)...)
	for _, want := range args {
		p.expect("[" + want + "]")
	}
	p.ends(0)
}

func TestWrongUsage(t *testing.T) {
	for line, part := range map[string]string{
		"lock":                               "NAME is missing",
		"lock -- true":                       "NAME is missing",
		"lock x true":                        `lock x -- true`,
		"lock x y":                           "--hold",
		"lock --hold x y -- true":            "without a command",
		"lock x --":                          `no command after "--"`,
		"lock --shared x y -- true":          "take one",
		"lock --limit 2 x y -- true":         "take one",
		"lock --shared --limit 2 x -- true":  "exclude",
		"lock --limit 0 x -- true":           "1 to 10000",
		"lock --limit 10001 x -- true":       "1 to 10000",
		"lock --limit abc x -- true":         "1 to 10000",
		"lock a//b -- true":                  "a segment",
		"lock --ttl 0 x -- true":             "--ttl",
		"lock --ttl -1s x -- true":           "--ttl",
		"lock --ttl 1ms x -- true":           "--ttl",
		"lock --ttl abc x -- true":           "--ttl",
		"lock --grace 6s x -- true":          "a third of the TTL",
		"lock --grace -1s x -- true":         "--grace",
		"lock --wait -1s x -- true":          "--wait",
		"lock -w abc x -- true":              "--wait",
		"lock -n -w 1s x -- true":            "exclude",
		"lock -w 1s --timeout 1s x -- true":  "one setting",
		"lock --timeout abc x -- true":       "such as 30s",
		"lock --ttl 9999999h x -- true":      "at most 250000h0m0s",
		"lock --grace abc x -- true":         "such as 30s",
		"lock -E 256 x -- true":              "0 to 255",
		"lock -E -1 x -- true":               "0 to 255",
		"lock -E abc x -- true":              "0 to 255",
		"lock --label a=1 --label a=1 x":     "was given before",
		"lock --label =1 x -- true":          "KEY=VALUE",
		"lock --label color x -- true":       "KEY=VALUE",
		"lock --endpoints 127.0.0.1:1 x y z": `after "--"`,
	} {
		t.Run(line, func(t *testing.T) {
			start(t, "127.0.0.1:1", append([]string{"fencelock"}, strings.Fields(line)...)...).ends(125, part)
		})
	}
}

func TestUnreachable(t *testing.T) {
	for _, flags := range []string{"--dial-timeout 1s", "--wait 1s", "--try --dial-timeout 1s"} {
		t.Run(flags, func(t *testing.T) {
			args := append([]string{"fencelock", "lock", "x"}, strings.Fields(flags)...)
			start(t, "127.0.0.1:1", append(args, "--", "true")...).ends(125, "127.0.0.1:1", `lock "x"`)
		})
	}
}

func TestNotAcquired(t *testing.T) {
	_, other := newMember(t)
	held := other.lock("x")
	for flags, code := range map[string]int{
		"--try": 124, "-n": 124, "--wait 1s": 124, "-w 0": 124, "--timeout 1s": 124,
		"-n -E 0": 0, "-w 1s -E 7": 7, "--try -E 255": 255,
	} {
		t.Run(flags, func(t *testing.T) {
			args := append([]string{"fencelock", "lock", "x"}, strings.Fields(flags)...)
			p := start(t, other.endpoint, append(args, "--", "echo", "ran")...)
			p.ends(code, `lock "x" is held by tester, token `+held.Token().String())
			if line, err := p.stdout.next(); err == nil {
				t.Errorf("the command ran and printed %q", line)
			}
			if waiters := other.inspect("x").Waiters; len(waiters) > 0 {
				t.Errorf("claims are left: %+v", waiters)
			}
		})
	}
}

func TestWaitsForTheLock(t *testing.T) {
	_, other := newMember(t)
	held := other.lock("x")
	p := start(t, other.endpoint, "fencelock", "lock", "-w", "1m", "x", "--", "echo", "ran")
	eventually(t, "a waiter", func() bool { return len(other.inspect("x").Waiters) == 1 })
	if err := held.Unlock(other.context()); err != nil {
		t.Fatal(err)
	}
	p.expect("ran")
	p.ends(0, "") // if the wait took a second, it says so
}

func TestLabels(t *testing.T) {
	_, other := newMember(t)
	p := start(t, other.endpoint, "fencelock", "lock", "--label", "job=a,b", "--label", "empty=", "x", "--", "cat")
	eventually(t, "a holder", func() bool { return len(other.inspect("x").Holders) == 1 })
	got := other.isHeld("x").Labels
	if len(got) != 2 || got["job"] != "a,b" || got["empty"] != "" {
		t.Errorf("labels %v, want job=a,b and empty=", got)
	}
	p.stdin.Close()
	p.ends(0)
}

func TestEnvironment(t *testing.T) {
	_, other := newMember(t)
	cmd := exec.Command("fencelock", "lock", "a b", "--", "sh", "-c", `echo "$FENCELOCK_LOCK"; echo $FENCELOCK_TOKEN; echo $FENCELOCK_SEQUENCER; env | grep -c -e ^FENCELOCK_LOCK= -e ^FENCELOCK_TOKEN= -e ^FENCELOCK_SEQUENCER=; fencelock check $FENCELOCK_SEQUENCER; echo $KEPT`)
	cmd.Env = append(os.Environ(), "FENCELOCK_LOCK=outer", "FENCELOCK_TOKEN=1", "FENCELOCK_SEQUENCER=outer#1", "KEPT=kept")
	p := startCommand(t, other.endpoint, cmd)
	p.expect("a b")
	token := p.line()
	p.expect("a%20b#" + token)
	p.expect("3")
	p.expect("a%20b#" + token + " holds the lock")
	p.expect("kept")
	p.ends(0)
}

func TestHoldWithoutACommand(t *testing.T) {
	_, other := newMember(t)
	hold := func(t *testing.T) *process {
		p := start(t, other.endpoint, "fencelock", "lock", "--ttl", ttl.String(), "x")
		if got, want := p.line(), "x#"+other.isHeld("x").Token.String(); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
		return p
	}
	t.Run("until the end of standard input", func(t *testing.T) {
		p := hold(t)
		p.stdin.Close()
		p.ends(0)
		other.isFree("x")
	})
	t.Run("until a signal", func(t *testing.T) {
		p := hold(t)
		p.signal(os.Interrupt)
		p.ends(0)
		other.isFree("x")
	})
	t.Run("until it is lost", func(t *testing.T) {
		p := hold(t)
		other.revoke("x")
		p.ends(123, `lock "x": lock lost`)
	})
}
