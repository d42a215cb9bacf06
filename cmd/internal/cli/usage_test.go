package cli

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// deadEndpoint is a port that nobody listens on. The listener that reserved it
// never accepted, so that nothing keeps the port.
func deadEndpoint(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Whatever cannot be is refused with exit code 2 and the reason, and without a
// request: there is nobody who could answer one.
func TestWrongUsage(t *testing.T) {
	c := at(deadEndpoint(t)).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=1h")
	long := strings.Repeat("x", 300)
	tests := []struct {
		args string // separated by one space each
		want string
	}{
		{"a", `no command "a"; see`},
		{"nonsense", `no command "nonsense"; see "fencelock --help"`},
		{"statsu", `did you mean "status"?`},
		{"--nonsense", `unknown flag: --nonsense; see "fencelock --help"`},
		{"locks --prefix", `locks: unknown flag: --prefix; see "fencelock locks --help"`},
		{"locks --endpoint a:1", "did you mean --endpoints?"},
		{"--version", `unknown flag: --version; did you mean "fencelock version"?`},
		{"locks --ouptut json", "did you mean --output?"},
		{"member lsit", `did you mean "list"?`},
		{"locks --tree=maybe", `locks: --tree "maybe": want true or false; see "fencelock locks --help"`},
		{"cert create --client a --days soon", `--days "soon": want a number, 1 to 3650; see`},
		{"cert create --client a/b", `client "a/b": want letters`},
		{"cert create --client a --dir ", "its name is empty"},
		{"member add a:1 --wait soon", `--wait "soon": want a number with a unit`},
		{"member add a:1 --wait -1s", `--wait "-1s": want 0 or more`},
		{"bench --html /", "--html /: it is a folder"},
		{"demo --html .", "--html .: it is a folder"},
		{"locks /", `prefix "/": a segment between "/" is empty`},
		{"snapshot restore f --floor now", `--floor "now": want a whole number; see`},
		{"version x", `version: want no arguments, got 1 argument; see "fencelock version --help"`},
		{"locks a b", `locks: want at most PREFIX, got 2 arguments; see "fencelock locks --help"`},
		{"kv", "kv: want one of del, get, list, put"},
		{"kv pot g k v", `did you mean "put"?`},
		{"kv put g k", "kv put: want GUARD, KEY and VALUE, got 2 arguments"},
		{"kv put g k -5", "an argument that begins with - goes after --"},
		{"kv get g", "kv get: want GUARD and KEY"},
		{"kv get g k", `no sequencer; run it under "fencelock lock g -- COMMAND", or pass --sequencer`},
		{"kv get g k --sequencer g", "malformed"},
		{"kv get g k --sequencer g#0", "malformed"},
		{"kv get g k --sequencer g#-1", "malformed"},
		{"kv get g k --sequencer g#99999999999999999999", "malformed"},
		{"kv get g k --peek --sequencer g#1", "give one of --peek and --sequencer"},
		{"kv put g k v --peek", "unknown flag: --peek"},
		{"kv get a//b k --peek", `a segment between "/" is empty`},
		{"kv get .. k --peek", `the segment ".." is not allowed`},
		{"kv get a#b k --peek", `"#" is not allowed`},
		{"kv get " + long + " k --peek", "it has 300 bytes"},
		{"kv get g  --peek", "key is empty"},
		{"kv list g " + strings.Repeat("k", 1025) + " --peek", "1025 bytes"},
		{"check x", "malformed"},
		{"check", "check: want SEQUENCER, got 0 arguments"},
		{"check a//b#7", `a segment between "/" is empty`},
		{"locks /", "invalid name"},
		{"locks a//", "invalid name"},
		{"locks --endpoints nowhere", "want a host and a port"},
		{"locks --dial-timeout -1", "want a number with a unit"},
		{"locks --dial-timeout 0s", "want more than zero"},
		{"locks --namespace a/../b", "invalid name"},
		{"locks -o xml", "want one of table, json, yaml"},
		{"locks --user u", "set FENCELOCK_CLIENT_PASSWORD"},
		{"locks --user u:p", "the password does not belong on a command line"},
		{"locks --cert x", "--cert and --key go together"},
		{"locks --cacert /none", "read CA"},
		{"locks --config /none.yaml", "/none.yaml: no such file"},
		{"locks --config ", "the file's name is empty"},
		{"version x", "want no arguments"},
		{"server x", "want no arguments"},
		{"server --cert x", "--cert is for commands that connect to members; a member has --client-cert, and --peer-cert"},
		{"server --endpoints a:1", "--endpoints is for commands that connect to members"},
		{"server --client-cert x", "--client-cert and --client-key go together"},
		{"server --peers 127.0.0.1:1,127.0.0.1:2", "pass --name"},
		{"server --heartbeat 0", "--heartbeat"},
		{"server --election 200ms", "want at least 5 heartbeats"},
		{"server --quota none", "want a number of bytes"},
	}
	for _, test := range tests {
		args := strings.Split(test.args, " ")
		r := c.run(args...).want(t, codeUsage, "fencelock: ", test.want)
		if r.stdout != "" || t.Failed() {
			t.Fatalf("%q: standard output %q", test.args, r.stdout)
		}
	}
}

// A bad setting is refused wherever it comes from, by every command.
func TestBadEnvironment(t *testing.T) {
	for _, args := range []string{"locks", "status", "check g#1", "kv get g k --peek", "server", "version"} {
		r := at(deadEndpoint(t)).with("FENCELOCK_CLIENT_TTL=1ms").run(strings.Fields(args)...)
		r.want(t, codeUsage, "FENCELOCK_CLIENT_TTL", "1ms", "want at least 1s")
	}
}

// What Kubernetes and fencelock itself put into the environment disturbs nothing.
func TestForeignEnvironment(t *testing.T) {
	caller{}.with("FENCELOCK_PORT=tcp://10.0.0.1:2379", "FENCELOCK_LOCK=x", "FENCELOCK_TOKEN=y", "FENCELOCK_SEQUENCER=z").
		run("version").want(t, codeOK)
}

// Without a cluster each command ends by itself, in time, and says whom it asked.
func TestNoCluster(t *testing.T) {
	const limit = 300 * time.Millisecond
	endpoint := deadEndpoint(t)
	for _, args := range []string{
		"locks", "status", "check g#1",
		"kv get g k --peek", "kv list g --peek", "kv get g k --sequencer g#1",
		"kv put g k v --sequencer g#1", "kv del g k --sequencer g#1", "kv list g --sequencer g#1",
	} {
		start := time.Now()
		r := at(endpoint).run(append(strings.Fields(args), "--dial-timeout", limit.String())...)
		r.want(t, codeFailure, "fencelock: ", endpoint, "cluster unavailable")
		if took := time.Since(start); took < limit/2 || took > 10*limit {
			t.Errorf("%s: took %v, want about %v", args, took, limit)
		}
	}
}

// An interruption does not wait for the time-out.
func TestInterrupted(t *testing.T) {
	for _, args := range []string{"locks", "status", "check g#1", "kv get g k --peek", "kv put g k v --sequencer g#1"} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		c := at(deadEndpoint(t)).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=1h")
		c.runContext(ctx, strings.Fields(args)...).want(t, codeFailure)
		cancel()
	}
}

func TestHelp(t *testing.T) {
	for _, args := range []string{"", "--help", "help", "help kv put", "kv get -h", "server --help"} {
		if r := (caller{}).run(strings.Fields(args)...).want(t, codeOK); !strings.Contains(r.stdout, "Usage:") {
			t.Errorf("%q prints %q, want the usage", args, r.stdout)
		}
	}
}
