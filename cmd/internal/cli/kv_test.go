package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// decode reads what -o json printed.
func decode(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("decode %q: %v", text, err)
	}
	return v
}

func TestKV(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	held := mustLock(t, newTestClient(t, cluster.Endpoints()), "acct")
	c := at(cluster.Endpoints()...).with("FENCELOCK_SEQUENCER=" + held.Sequencer().String())

	c.run("kv", "put", "acct", "balance", "10").want(t, codeOK).prints(t, "")
	c.run("kv", "get", "acct", "balance").want(t, codeOK).prints(t, "10")
	c.run("kv", "put", "acct", "balance", "--", "-5").want(t, codeOK).prints(t, "")
	c.run("kv", "get", "acct", "balance").want(t, codeOK).prints(t, "-5")
	c.run("kv", "put", "acct", "empty", "").want(t, codeOK)
	c.run("kv", "get", "acct", "empty").want(t, codeOK).prints(t, "")
	c.run("kv", "get", "acct", "none").want(t, codeNotFound, `get "none" of "acct": not found`).prints(t, "")
	c.run("kv", "del", "acct", "none").want(t, codeNotFound, `delete "none" of "acct": not found`)

	piped := c
	piped.stdin = "line\n\x00\xff"
	piped.run("kv", "put", "acct", "raw", "-").want(t, codeOK)
	c.run("kv", "get", "acct", "raw").want(t, codeOK).prints(t, piped.stdin)

	list := c.run("kv", "list", "acct").want(t, codeOK).stdout
	for i, want := range [][]string{{"KEY", "REVISION", "VALUE"}, {"balance", "", "-5"}, {"empty", "", `""`}, {"raw", "", `"line\n\x00\xff"`}} {
		cells := strings.Fields(strings.Split(list, "\n")[i])
		if cells[0] != want[0] || cells[2] != want[2] {
			t.Errorf("line %d of the list: %q, want %q", i, cells, want)
		}
	}
	if got := c.run("kv", "list", "acct", "b").stdout; strings.Contains(got, "raw") || !strings.Contains(got, "balance") {
		t.Errorf("list of keys with b: %q", got)
	}
	c.run("kv", "del", "acct", "balance").want(t, codeOK).prints(t, "")
	c.run("kv", "get", "acct", "balance").want(t, codeNotFound)
}

func TestKVShapes(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	held := mustLock(t, newTestClient(t, cluster.Endpoints()), "acct")
	c := at(cluster.Endpoints()...).with("FENCELOCK_SEQUENCER="+held.Sequencer().String(), "FENCELOCK_OUTPUT=json")
	binary := c
	binary.stdin = "\xff\x00"

	shape := func(r result) map[string]any {
		t.Helper()
		m, ok := decode(t, r.want(t, codeOK).stdout).(map[string]any)
		if !ok {
			t.Fatalf("%q is no object", r.stdout)
		}
		if revision, there := m["revision"]; there {
			if s, ok := revision.(string); !ok || s == "" {
				t.Errorf("revision %v, want a string", revision)
			}
			m["revision"] = ""
		}
		return m
	}
	for _, test := range []struct {
		got  result
		want map[string]any
	}{
		{c.run("kv", "put", "acct", "k", "ü"), map[string]any{"key": "k", "revision": ""}},
		{c.run("kv", "get", "acct", "k"), map[string]any{"key": "k", "value": "ü", "encoding": "utf-8", "revision": ""}},
		{binary.run("kv", "put", "acct", "\xfe", "-"), map[string]any{"key": "/g==", "key_encoding": "base64", "revision": ""}},
		{c.run("kv", "get", "acct", "\xfe"), map[string]any{"key": "/g==", "key_encoding": "base64", "value": "/wA=", "encoding": "base64", "revision": ""}},
		{c.run("kv", "del", "acct", "\xfe"), map[string]any{"key": "/g==", "key_encoding": "base64", "deleted": true}},
	} {
		if got := shape(test.got); !reflect.DeepEqual(got, test.want) {
			t.Errorf("got %v, want %v", got, test.want)
		}
	}
	if list, ok := decode(t, c.run("kv", "list", "acct").stdout).([]any); !ok || len(list) != 1 {
		t.Errorf("list %v, want one record", list)
	}
	c.run("kv", "list", "acct", "none").want(t, codeOK).prints(t, "[]\n")
	yaml := c.run("kv", "get", "acct", "k", "-o", "yaml").want(t, codeOK).stdout
	if !strings.Contains(yaml, "value: ü\n") || !strings.Contains(yaml, "encoding: utf-8\n") || !strings.Contains(yaml, `revision: "`) {
		t.Errorf("as YAML: %q", yaml)
	}
}

// The next holder has only read, and already the last one is refused: exit code
// 3, the highest token named, nothing written.
func TestStaleToken(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	client := newTestClient(t, cluster.Endpoints())
	first := mustLock(t, client, "acct")
	c := at(cluster.Endpoints()...)
	stale := c.with("FENCELOCK_SEQUENCER=" + first.Sequencer().String())
	stale.run("kv", "put", "acct", "balance", "10").want(t, codeOK)
	if err := first.Unlock(testContext(t)); err != nil {
		t.Fatal(err)
	}
	stale.run("kv", "put", "acct", "balance", "11").want(t, codeRefused, "not held")

	second := mustLock(t, client, "acct")
	c.run("kv", "get", "acct", "balance", "--sequencer", second.Sequencer().String()).want(t, codeOK).prints(t, "10")
	for _, args := range []string{"put acct balance 99", "get acct balance", "del acct balance", "list acct"} {
		stale.run(append([]string{"kv"}, strings.Fields(args)...)...).
			want(t, codeRefused, "stale fencing token", "token "+first.Token().String(), "has admitted "+second.Token().String()).prints(t, "")
	}
	c.run("kv", "get", "acct", "balance", "--peek").want(t, codeOK).prints(t, "10")
}

func TestRefusals(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	held := mustLock(t, newTestClient(t, cluster.Endpoints()), "acct")
	c := at(cluster.Endpoints()...)
	own := held.Sequencer().String()

	c.run("kv", "put", "other", "k", "v", "--sequencer", own).
		want(t, codeRefused, "sequencer of another lock", own, `"other"`)
	c.run("kv", "put", "acct", "k", "v", "--sequencer", "acct#9223372036854775807").
		want(t, codeRefused, "never issued", "9223372036854775807")
	c.with("FENCELOCK_SEQUENCER=other#1").run("kv", "put", "acct", "k", "v", "--sequencer", own).want(t, codeOK) // the flag decides
	c.run("kv", "get", "acct", "k", "--peek").want(t, codeOK).prints(t, "v")
	c.run("kv", "get", "other", "k", "--peek").want(t, codeNotFound)
}

// A peek needs no token, uses none that is there, and leaves the fence alone.
func TestPeek(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	etcd := cluster.Client(t)
	if _, err := etcd.Put(testContext(t), "fencelock/kv/acct/@/k", "v"); err != nil {
		t.Fatal(err)
	}
	c := at(cluster.Endpoints()...).with("FENCELOCK_SEQUENCER=another#7")
	c.run("kv", "get", "acct", "k", "--peek").want(t, codeOK).prints(t, "v")
	if got := c.run("kv", "list", "acct", "--peek").want(t, codeOK).stdout; !strings.Contains(got, "k ") {
		t.Errorf("list %q, want the key k", got)
	}
	c.run("kv", "get", "acct", "k", "--peek", "--namespace", "elsewhere/").want(t, codeNotFound)
	resp, err := etcd.Get(testContext(t), "fencelock/fence/", clientv3.WithPrefix())
	if err != nil || len(resp.Kvs) != 0 {
		t.Errorf("fences after a peek: %v, %v; want none", resp, err)
	}
}

// interrupting is an input that never comes; whoever reads it is interrupted.
type interrupting struct {
	io.Reader
	interrupt func()
}

func (i interrupting) Read(p []byte) (int, error) {
	i.interrupt()
	return i.Reader.Read(p)
}

// Reading a value that never comes ends with an interruption.
func TestInterruptedInput(t *testing.T) {
	never, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer never.Close()
	defer writer.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var stderr strings.Builder
	code := Main(ctx, Process{
		Args:  []string{"kv", "put", "g", "k", "-", "--sequencer", "g#1"},
		Stdin: interrupting{never, cancel}, Stdout: io.Discard, Stderr: &stderr,
	})
	result{code: code, stderr: stderr.String()}.want(t, codeFailure, "interrupted", "read the value")
}

func TestValueTooLarge(t *testing.T) {
	c := at(deadEndpoint(t))
	c.stdin = strings.Repeat("x", maxValue+1)
	c.run("kv", "put", "g", "k", "-", "--sequencer", "g#1").want(t, codeUsage, "more than 10485760 bytes")

	cluster := clustertest.Start(t, 1)
	held := mustLock(t, newTestClient(t, cluster.Endpoints()), "g")
	c = at(cluster.Endpoints()...).with("FENCELOCK_SEQUENCER=" + held.Sequencer().String())
	c.stdin = strings.Repeat("x", 3<<20)
	c.run("kv", "put", "g", "k", "-").want(t, codeFailure, "too large for one request")
}
