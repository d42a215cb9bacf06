package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing"
)

// awaitWaiter returns when somebody waits for the lock.
func awaitWaiter(t *testing.T, c *client.Client, name string) {
	t.Helper()
	ctx := testContext(t)
	for {
		info, err := c.Inspect(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Waiters) > 0 {
			return
		}
	}
}

func TestLocks(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	c := at(cluster.Endpoints()...)
	c.run("locks", "-o", "json").want(t, codeOK).prints(t, "[]\n")

	holder, waiter := newTestClient(t, cluster.Endpoints()), newTestClient(t, cluster.Endpoints())
	held, other := mustLock(t, holder, "acct/1"), mustLock(t, holder, "other")
	ctx, cancel := context.WithCancel(testContext(t))
	waited := make(chan error, 1)
	go func() {
		_, err := waiter.Lock(ctx, "acct/1")
		waited <- err
	}()
	awaitWaiter(t, holder, "acct/1")

	lines := strings.Split(c.run("locks").want(t, codeOK).stdout, "\n")
	if got, want := strings.Fields(lines[0]), "NAME TOKEN HOLDER CLAIMED TTL LEFT WAITERS LABELS"; strings.Join(got, " ") != want {
		t.Errorf("header %q, want %q", got, want)
	}
	if got := strings.Fields(lines[1]); got[0] != "acct/1" || got[1] != held.Token().String() || got[2] != "tester" || got[8] != "1" {
		t.Errorf("first line %q, want acct/1, %v, tester, 1 waiter", got, held.Token())
	}
	if got := strings.Fields(lines[2]); got[0] != "other" || got[1] != other.Token().String() || got[8] != "0" {
		t.Errorf("second line %q, want other, %v, 0 waiters", got, other.Token())
	}

	list := decode(t, c.run("locks", "acct/", "-o", "json").want(t, codeOK).stdout).([]any)
	if len(list) != 1 {
		t.Fatalf("locks with the prefix acct/: %v, want one", list)
	}
	lock := list[0].(map[string]any)
	first := lock["holders"].([]any)[0].(map[string]any)
	if lock["name"] != "acct/1" || first["token"] != held.Token().String() || first["owner"] != "tester" || first["mode"] != "exclusive" {
		t.Errorf("lock %v, want acct/1 held by tester with the token %v as a string", lock, held.Token())
	}
	if len(lock["waiters"].([]any)) != 1 {
		t.Errorf("waiters %v, want one", lock["waiters"])
	}
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("the waiter got %v", err)
	}
}

// What foreign clients put into a queue is shown, without harm to a terminal.
func TestLocksOfForeignClients(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	etcd := cluster.Client(t)
	for key, value := range map[string]string{
		"fencelock/lock/a/@/1": "",
		"fencelock/lock/b/@/1": `{"owner":"\u001b[31mred\nnext","mode":"exclusive"}`,
	} {
		if _, err := etcd.Put(testContext(t), key, value); err != nil {
			t.Fatal(err)
		}
	}
	out := at(cluster.Endpoints()...).run("locks").want(t, codeOK).stdout
	for _, want := range []string{"unnamed, key fencelock/lock/a/@/1", `"\x1b[31mred\nnext"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q does not contain %q", out, want)
		}
	}
}

func TestCheck(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	held := mustLock(t, newTestClient(t, cluster.Endpoints()), "a b")
	c := at(cluster.Endpoints()...)
	seq := held.Sequencer().String()
	c.run("check", seq).want(t, codeOK).prints(t, seq+" holds the lock\n")

	got := decode(t, c.run("check", seq, "-o", "json").want(t, codeOK).stdout).(map[string]any)
	if got["sequencer"] != seq || got["lock"] != "a b" || got["token"] != held.Token().String() || got["held"] != true {
		t.Errorf("as JSON: %v", got)
	}
	c.run("check", "a%20b#1").want(t, codeRefused, "never issued").prints(t, "")
	c.run("check", "other#"+held.Token().String()).want(t, codeRefused)
	if err := held.Unlock(testContext(t)); err != nil {
		t.Fatal(err)
	}
	c.run("check", seq).want(t, codeRefused, seq, "not held").prints(t, "")
}

// A restored cluster, and the old one that nobody has stopped, in one list of
// endpoints: a lock would have two holders.
func TestStatusOfTwoClusters(t *testing.T) {
	old, restored := clustertest.Start(t, 1), clustertest.Start(t, 1)
	endpoints := append(old.Endpoints(), restored.Endpoints()...)
	got := at(endpoints...).run("status", "-o", "json").want(t, codeFailure, endpoints[0], endpoints[1], "different clusters", "stop the cluster")
	if state := decode(t, got.stdout).(map[string]any); state["quorum"] != false {
		t.Errorf("quorum %v, want false", state["quorum"])
	}
}

func TestStatus(t *testing.T) {
	cluster := clustertest.Start(t, 3)
	dead := deadEndpoint(t)
	c := at(append(cluster.Endpoints(), dead)...).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=2s")

	got := decode(t, c.run("status", "-o", "json").want(t, codeOK).stdout).(map[string]any)
	if got["quorum"] != true {
		t.Errorf("quorum %v, want true", got["quorum"])
	}
	leaders := 0
	for i, e := range got["endpoints"].([]any) {
		e := e.(map[string]any)
		if i == 3 {
			if e["reachable"] != false || e["endpoint"] != dead || len(e["errors"].([]any)) != 1 {
				t.Errorf("dead endpoint: %v", e)
			}
			continue
		}
		if e["leader"] == true {
			leaders++
		}
		if e["reachable"] != true || e["name"] != fmt.Sprintf("m%d", i) || e["version"] != "3.7.3" || e["learner"] != false ||
			e["revision"].(string) == "" || e["db_size"].(float64) == 0 || e["raft_term"].(float64) == 0 {
			t.Errorf("endpoint %d: %v", i, e)
		}
	}
	if leaders != 1 {
		t.Errorf("%d leaders, want 1", leaders)
	}

	cluster.Kill(0)
	cluster.Kill(1)
	r := c.run("status").want(t, codeFailure, "fencelock: status of ", "no quorum", cluster.Endpoint(2))
	if !strings.Contains(r.stdout, "m2") || strings.Count(r.stdout, "unreachable") != 3 {
		t.Errorf("table %q, want m2 and three that are unreachable", r.stdout)
	}
}

func TestVersion(t *testing.T) {
	got := decode(t, caller{}.run("version", "-o", "json").want(t, codeOK).stdout).(map[string]any)
	if got["etcd"] != "3.7.3" || got["version"] == "" || !strings.HasPrefix(got["go"].(string), "go1.") {
		t.Errorf("version %v", got)
	}
	if out := (caller{}).run("version").want(t, codeOK).stdout; !strings.Contains(out, "fencelock ") || !strings.Contains(out, "etcd ") {
		t.Errorf("version %q", out)
	}
}

func TestExitCodes(t *testing.T) {
	root := newRootCommand(&app{})
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{context.Canceled, 1},
		{fmt.Errorf("x: %w", fencing.ErrUnavailable), 1},
		{&usageError{err: errors.New("x")}, 2},
		{fmt.Errorf("x: %w", fencing.ErrInvalidName), 2},
		{fmt.Errorf("x: %w", fencing.ErrMalformed), 2},
		{fmt.Errorf("x: %w", fencing.ErrMissing), 2},
		{fmt.Errorf("x: %w", &fencing.StaleError{}), 3},
		{fmt.Errorf("x: %w", fencing.ErrNotHeld), 3},
		{fmt.Errorf("x: %w", fencing.ErrNotIssued), 3},
		{fmt.Errorf("x: %w", fencing.ErrWrongGuard), 3},
		{fmt.Errorf("x: %w", errNotFound), 4},
		{fmt.Errorf("x: %w", fencing.ErrUncertain), 5},
		{fmt.Errorf("x: %w: %w", fencing.ErrUncertain, context.Canceled), 5},
		{errors.Join(fencing.ErrNotHeld, fencing.ErrUncertain), 5},
		{fmt.Errorf("x: %w", &exitError{code: 42}), 42},
	} {
		if got := codeOf(root, test.err); got != test.want {
			t.Errorf("%v: exit code %d, want %d", test.err, got, test.want)
		}
	}
	root.Annotations = map[string]string{annotationFailure: "125"}
	if got := codeOf(root, &usageError{err: errors.New("x")}); got != 125 {
		t.Errorf("with an annotation: exit code %d, want 125", got)
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputFails(t *testing.T) {
	for _, format := range []string{"table", "json", "yaml"} {
		var stderr strings.Builder
		code := Main(context.Background(), Process{Args: []string{"version", "-o", format}, Stdin: strings.NewReader(""), Stdout: full{}, Stderr: &stderr})
		result{code: code, stderr: stderr.String()}.want(t, codeFailure, "no space left")
	}
	if err := (&app{Process: Process{Stdout: io.Discard}}).print("table", version{}); err != nil {
		t.Error(err)
	}
}

func TestAge(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		since time.Time
		want  string
	}{{now.Add(-90 * time.Second), "1m30s ago"}, {now.Add(time.Hour), "0s ago"}, {time.Time{}, "?"}} {
		if got := (claim{Since: test.since}).age(now); got != test.want {
			t.Errorf("age %q, want %q", got, test.want)
		}
	}
}
