// Package interop tests fencelock's client beside what else takes locks in etcd,
// each as it is shipped: concurrency.Mutex of etcd's client, the lock service of
// its server (v3lock), and the etcdctl command. It tests the client on the oldest
// etcd server it is made for too, and as an etcd user with few rights.
//
// The etcdctl and etcd 3.5 binaries are built from the modules in test/tools.
package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == memberMode {
		runMember(os.Args[2:])
		return
	}
	// Without a build cache this takes a minute or two, which no test waits for.
	if err := errors.Join(second(etcdctl()), second(etcd35()), second(etcd37())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	clustertest.Main(m)
}

// limit is how long anything may take that has no bound of its own to show. What
// it bounds takes milliseconds; the rest is for a loaded machine under -race.
const limit = 30 * time.Second

// patience is how long a contender is watched that must not get a lock. etcd's own
// recipe takes up to 100 ms to get one that it may have.
const patience = 300 * time.Millisecond

// connect makes a client that is closed with the test.
func connect(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatalf("new client: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// soon returns a context that ends when waiting any longer makes no sense.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, fmt.Errorf("the test waited %v in vain", limit))
	t.Cleanup(cancel)
	return ctx
}

// hold takes a lock that must be free, or become so soon.
func hold(t *testing.T, c *client.Client, name string) *client.Lock {
	t.Helper()
	l, err := c.Lock(soon(t), name)
	if err != nil {
		t.Fatalf("lock %q: %v", name, err)
	}
	return l
}

func unlock(t *testing.T, l interface{ Unlock(context.Context) error }) {
	t.Helper()
	must(t, "unlock", l.Unlock(context.Background()))
}

// must ends the test at an error.
func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// mustBe checks an error's kind.
func mustBe(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got error %v, want one that is %q", what, got, want)
	}
}

// second is the error of a call that returns a value too.
func second[A, B any](_ A, b B) B { return b }

// eventually polls until a condition holds, and ends the test after a while.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain until %s", limit, what)
		}
		<-ticker.C
	}
}

// queueOf is the prefix that etcd's own recipe takes for a lock of ours.
func queueOf(name string) string { return "fencelock/lock/" + name + "/@" }

// claimsOf reads the claims of a lock, the oldest first.
func claimsOf(t *testing.T, etcd *clientv3.Client, name string) []*mvccpb.KeyValue {
	t.Helper()
	resp, err := etcd.Get(soon(t), queueOf(name)+"/", clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	must(t, fmt.Sprintf("read the queue of %q", name), err)
	return resp.Kvs
}

// awaitQueue waits until a lock has n claims.
func awaitQueue(t *testing.T, etcd *clientv3.Client, name string, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%q has %d claims", name, n), func() bool { return len(claimsOf(t, etcd, name)) == n })
}
