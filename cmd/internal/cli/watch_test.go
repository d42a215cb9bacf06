//go:build unix

package cli

import (
	"context"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// watching starts a watch and returns when it has seen an event: it does not say
// when it has begun.
func watching(t *testing.T, endpoint string, c *client.Client, args ...string) *process {
	t.Helper()
	p := startProcess(t, endpoint, append([]string{"watch"}, args...)...)
	ctx, cancel := context.WithCancel(testContext(t))
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for ; ctx.Err() == nil; <-ticker.C {
			if l, err := c.Lock(ctx, "warm/up"); err == nil {
				_ = l.Unlock(ctx)
			}
		}
	}()
	p.line()
	cancel()
	<-stopped
	return p
}

// next is the next line that is not about the warming up.
func (p *process) next(t *testing.T) string {
	t.Helper()
	for {
		if line := p.line(); !strings.Contains(line, "warm/up") {
			return line
		}
	}
}

func TestWatch(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	c := newTestClient(t, cluster.Endpoints())
	p := watching(t, cluster.Endpoint(0), c)
	held := mustLock(t, c, "acct")
	token := held.Token().String()
	at(cluster.Endpoint(0)).run("break", "acct", "--token", token).want(t, codeOK)
	shared, err := c.LockShared(testContext(t), "read\x7f") // refused
	if err == nil {
		t.Fatalf("locked %v", shared.Name())
	}
	if shared, err = c.LockShared(testContext(t), "read"); err != nil {
		t.Fatal(err)
	}
	if err := shared.Unlock(testContext(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`^\d\d:\d\d:\d\d\.\d{3}  acquired   acct  token ` + token + `  tester$`,
		`^\d\d:\d\d:\d\d\.\d{3}  broken     acct  token ` + token + `  tester$`,
		`^\d\d:\d\d:\d\d\.\d{3}  acquired   read  token \d+  tester  shared$`,
		`^\d\d:\d\d:\d\d\.\d{3}  released   read  token \d+  tester  shared$`,
	} {
		if got := p.next(t); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("line %q, want %s", got, want)
		}
	}
	p.end(os.Interrupt, codeOK)
	if p.stderr.Len() > 0 {
		t.Errorf("standard error %q, want none", &p.stderr)
	}
}

func TestWatchAsJSON(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	c := newTestClient(t, cluster.Endpoints())
	p := watching(t, cluster.Endpoint(0), c, "-o", "json")
	held := mustLock(t, c, "acct")
	got := decode(t, p.next(t)).(map[string]any)
	claim := got["claim"].(map[string]any)
	if got["event"] != "acquired" || got["lock"] != "acct" || got["revision"] != held.Token().String() || claim["token"] != held.Token().String() || claim["owner"] != "tester" {
		t.Errorf("event %v, want that tester has acquired acct with the token %v", got, held.Token())
	}
	if _, err := time.Parse(time.RFC3339, got["time"].(string)); err != nil {
		t.Error(err)
	}
	p.end(syscall.SIGTERM, codeOK)
}

// Whoever reads the events has gone: the watch ends with the next one, silently.
func TestWatchWithoutAReader(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	c := newTestClient(t, cluster.Endpoints())
	p := watching(t, cluster.Endpoint(0), c)
	p.pipe.Close()
	mustLock(t, c, "acct")
	_ = p.cmd.Wait()
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGPIPE || p.stderr.Len() > 0 {
		t.Errorf("%v, standard error %q, want SIGPIPE and none", p.cmd.ProcessState, &p.stderr)
	}
}

func TestWatchWithoutACluster(t *testing.T) {
	endpoint := deadEndpoint(t)
	at(endpoint).with("FENCELOCK_CLIENT_DIAL_TIMEOUT=300ms").run("watch").want(t, codeFailure, "cluster unavailable", endpoint+": connection refused")
	at(endpoint).run("watch", "a//b").want(t, codeUsage, "watch: ", "invalid name")
}
