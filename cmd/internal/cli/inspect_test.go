//go:build unix

package cli

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// inspected is what -o json says about a lock.
func inspected(t *testing.T, c caller, name string) (findings string, deadlock []any) {
	t.Helper()
	got := decode(t, c.run("inspect", name, "-o", "json").want(t, codeOK).stdout).(map[string]any)
	return fmt.Sprint(got["findings"]), got["deadlock"].([]any)
}

// owned is a client with a name.
func owned(t *testing.T, endpoint, owner string, ttl time.Duration) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{Endpoints: []string{endpoint}, Owner: owner, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// waitIn waits for a lock in the background, until the test ends.
func waitIn(t *testing.T, c *client.Client, name string, waiters int) {
	t.Helper()
	ctx, cancel := context.WithCancel(testContext(t))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = c.Lock(ctx, name)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	for {
		info, err := c.Inspect(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Waiters) == waiters {
			return
		}
	}
}

// Whom does the holder wait for itself? And if that comes back to it, everybody is
// named.
func TestInspectFollowsWaits(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	endpoint := cluster.Endpoint(0)
	ann, ben, cid := owned(t, endpoint, "ann", 0), owned(t, endpoint, "ben", 0), owned(t, endpoint, "cid", 0)
	mustLock(t, ann, "a")
	held := mustLock(t, ben, "b")
	mustLock(t, cid, "c")
	waitIn(t, ann, "b", 1)
	waitIn(t, cid, "a", 1)
	findings, deadlock := inspected(t, at(endpoint), "a")
	if want := "ann waits for b, which ben holds with token " + held.Token().String(); !strings.Contains(findings, want) || len(deadlock) > 0 {
		t.Errorf("findings %s, deadlock %v, want %q and none", findings, deadlock, want)
	}
	if findings, deadlock = inspected(t, at(endpoint), "b"); strings.Contains(findings, "waits for") || len(deadlock) > 0 {
		t.Errorf("findings %s, deadlock %v, want no waits of ben", findings, deadlock)
	}

	waitIn(t, ben, "c", 1)
	findings, deadlock = inspected(t, at(endpoint), "a")
	if want := []any{"ann", "ben", "cid"}; !reflect.DeepEqual(deadlock, want) {
		t.Errorf("deadlock %v, want %v", deadlock, want)
	}
	for _, want := range []string{"ann waits for b, which ben holds", "ben waits for c, which cid holds", "cid waits for a, which ann holds", "wait for each other", "fencelock break a --token "} {
		if !strings.Contains(findings, want) {
			t.Errorf("findings %s, want %q", findings, want)
		}
	}
}

// A circle that the holder stands outside of is told as well.
func TestInspectFindsACircleBehindTheHolder(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	endpoint := cluster.Endpoint(0)
	ann, ben, cid := owned(t, endpoint, "ann", 0), owned(t, endpoint, "ben", 0), owned(t, endpoint, "cid", 0)
	mustLock(t, ann, "a")
	mustLock(t, ben, "b")
	mustLock(t, cid, "c")
	waitIn(t, ann, "b", 1)
	waitIn(t, ben, "c", 1)
	waitIn(t, cid, "b", 2)
	waitIn(t, cid, "a", 1)
	_, deadlock := inspected(t, at(endpoint), "a")
	if fmt.Sprint(deadlock) != "[ben cid]" && fmt.Sprint(deadlock) != "[ann ben cid]" {
		t.Errorf("deadlock %v, want ben and cid, or all three", deadlock)
	}
}

func TestInspectOfForeignClaims(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	if _, err := cluster.Client(t).Put(testContext(t), "fencelock/lock/a/@/1", ""); err != nil {
		t.Fatal(err)
	}
	r := at(cluster.Endpoint(0)).run("inspect", "a").want(t, codeOK)
	for _, want := range []string{"unnamed, key fencelock/lock/a/@/1", "for ever", "has no lease, so it never ends by itself", "fencelock break a --token 2"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q does not contain %q", r.stdout, want)
		}
	}
	if _, err := cluster.Client(t).Put(testContext(t), "fencelock/fence/a", "nonsense"); err != nil {
		t.Fatal(err)
	}
	if r = at(cluster.Endpoint(0)).run("inspect", "a").want(t, codeOK); !strings.Contains(r.stdout, `! inspect "a": fence holds "nonsense"`) {
		t.Errorf("%q does not show the fence", r.stdout)
	}
	at(cluster.Endpoint(0)).run("break", "a", "--token", "2").want(t, codeOK)
}

// A holder that is stopped does not renew, and inspect says so before its lock is lost.
func TestInspectOfAStoppedHolder(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	p := startProcess(t, cluster.Endpoint(0), "lock", "--ttl", "12s", "--owner", "sleeper", "a", "--", "sleep", "100")
	c := at(cluster.Endpoint(0))
	await := func(part string) {
		t.Helper()
		for end := time.Now().Add(testTime); ; {
			findings, _ := inspected(t, c, "a")
			if strings.Contains(findings, part) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("findings %s, want %q", findings, part)
			}
		}
	}
	for len(decode(t, c.run("locks", "-o", "json").stdout).([]any)) == 0 {
	}
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	await("sleeper has not renewed its session for about ")
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Process.Signal(os.Interrupt)
	_, _ = p.out.ReadString('\n')
	_ = p.cmd.Wait()
}

// The fence is above the holder's token: somebody has closed it, by a restore say.
func TestInspectOfAFencedHolder(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	held := mustLock(t, newTestClient(t, cluster.Endpoints()), "a")
	if _, err := cluster.Client(t).Put(testContext(t), "fencelock/fence/a", fmt.Sprintf("%016x~", int64(held.Token()))); err != nil {
		t.Fatal(err)
	}
	r := at(cluster.Endpoint(0)).run("inspect", "a").want(t, codeOK)
	if !strings.Contains(r.stdout, "! the fence is above the holder's token "+held.Token().String()) {
		t.Errorf("%q does not say that the holder is refused", r.stdout)
	}
}
