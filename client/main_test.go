package client_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// limit is how long anything may take that has no bound of its own to show. What
// it bounds takes milliseconds; the rest is for a loaded machine under -race.
const limit = 30 * time.Second

// oneMember starts a single member with a short election time-out: it is ready in
// 0.2 s, and grants TTLs of 1 s.
func oneMember(t testing.TB) *clustertest.Cluster {
	t.Helper()
	return clustertest.StartConfig(t, clustertest.Config{Members: 1, Heartbeat: 20 * time.Millisecond, Election: 200 * time.Millisecond})
}

// connect makes a client that is closed with the test.
func connect(t testing.TB, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatalf("new client: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// member makes a client of every member that differs from others by its owner.
func member(t testing.TB, cluster *clustertest.Cluster, owner string) *client.Client {
	t.Helper()
	return connect(t, client.Config{Endpoints: cluster.Endpoints(), Owner: owner})
}

// session makes a session of its own, which tests need to know its lease.
func session(t testing.TB, c *client.Client, ttl time.Duration) *client.Session {
	t.Helper()
	s, err := c.NewSession(t.Context(), ttl)
	if err != nil {
		t.Fatalf("new session: %v", err)
	}
	return s
}

// bounded is a context for calls that must not hang.
func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// locker is what clients and sessions have in common.
type locker interface {
	Lock(ctx context.Context, name string) (*client.Lock, error)
	TryLock(ctx context.Context, name string) (*client.Lock, error)
}

// hold takes a lock that must be free, or become so soon.
func hold(t testing.TB, c locker, name string) *client.Lock {
	t.Helper()
	l, err := c.Lock(bounded(t), name)
	if err != nil {
		t.Fatalf("lock %q: %v", name, err)
	}
	return l
}

func unlock(t testing.TB, l *client.Lock) {
	t.Helper()
	if err := l.Unlock(context.Background()); err != nil {
		t.Fatalf("unlock: %v", err)
	}
}

// result is what a call to Lock came to.
type result struct {
	lock *client.Lock
	err  error
	at   time.Time
}

// goLock calls Lock in a goroutine.
func goLock(ctx context.Context, c locker, name string) <-chan result {
	got := make(chan result, 1)
	go func() {
		l, err := c.Lock(ctx, name)
		got <- result{l, err, time.Now()}
	}()
	return got
}

// waitFor calls Lock in a goroutine and returns when its claim is the n-th in the
// queue.
func waitFor(t testing.TB, etcd *clientv3.Client, c locker, name string, n int) <-chan result {
	t.Helper()
	got := goLock(context.Background(), c, name)
	awaitQueue(t, etcd, name, n)
	return got
}

// receive waits for a result, and fails the test after a while.
func receive[T any](t testing.TB, from <-chan T, what string) T {
	t.Helper()
	return receiveWithin(t, limit, from, what)
}

func receiveWithin[T any](t testing.TB, d time.Duration, from <-chan T, what string) T {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case v := <-from:
		return v
	case <-timer.C:
		t.Fatalf("%s: nothing within %v", what, d)
		panic("unreachable")
	}
}

// granted waits for a lock that is on its way.
func granted(t testing.TB, from <-chan result) *client.Lock {
	t.Helper()
	got := receive(t, from, "wait for the lock")
	if got.err != nil {
		t.Fatalf("wait for the lock: %v", got.err)
	}
	return got.lock
}

// eventually polls until a condition holds, and fails the test after a while.
func eventually(t testing.TB, within time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain until %s", within, what)
		}
		<-ticker.C
	}
}

// queueOf reads the claims of a lock, the oldest first.
func queueOf(t testing.TB, etcd *clientv3.Client, name string) []*mvccpb.KeyValue {
	t.Helper()
	resp, err := etcd.Get(context.Background(), queuePrefix(name), clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		t.Fatalf("read the queue of %q: %v", name, err)
	}
	return resp.Kvs
}

func queuePrefix(name string) string { return "fencelock/lock/" + name + "/@/" }

func keysOf(claims []*mvccpb.KeyValue) []string {
	list := make([]string, len(claims))
	for i, claim := range claims {
		list[i] = string(claim.Key)
	}
	return list
}

// awaitQueue waits until a lock has n claims.
func awaitQueue(t testing.TB, etcd *clientv3.Client, name string, n int) {
	t.Helper()
	var got []*mvccpb.KeyValue
	defer func() {
		if len(got) != n {
			t.Logf("the queue of %q at last: %v", name, keysOf(got))
		}
	}()
	eventually(t, limit, "the queue has the claims expected", func() bool {
		got = queueOf(t, etcd, name)
		return len(got) == n
	})
}

// claimOf finds the claim of a lock in etcd.
func claimOf(t testing.TB, etcd *clientv3.Client, l *client.Lock) *mvccpb.KeyValue {
	t.Helper()
	for _, claim := range queueOf(t, etcd, l.Name()) {
		if claim.CreateRevision == int64(l.Token()) {
			return claim
		}
	}
	t.Fatalf("lock %q: no claim with create revision %v", l.Name(), l.Token())
	return nil
}

// revision is the store's current one.
func revision(t testing.TB, etcd *clientv3.Client) int64 {
	t.Helper()
	resp, err := etcd.Get(context.Background(), "any")
	if err != nil {
		t.Fatalf("read the revision: %v", err)
	}
	return resp.Header.Revision
}

func revoke(t testing.TB, etcd *clientv3.Client, s *client.Session) {
	t.Helper()
	if _, err := etcd.Revoke(context.Background(), clientv3.LeaseID(s.Lease())); err != nil {
		t.Errorf("revoke lease: %v", err)
	}
}

// section is what a lock alone guards: one goroutine at a time is inside.
type section struct{ inside, passed atomic.Int64 }

// pass goes through it; the caller holds the lock.
func (s *section) pass(t testing.TB) {
	t.Helper()
	if n := s.inside.Add(1); n != 1 {
		t.Errorf("%d goroutines hold the lock at the same time, want one", n)
	}
	for range 10 {
		runtime.Gosched()
	}
	s.passed.Add(1)
	s.inside.Add(-1)
}

// mustBe checks an error's kind.
func mustBe(t testing.TB, what string, got error, want ...error) {
	t.Helper()
	for _, err := range want {
		if !errors.Is(got, err) {
			t.Errorf("%s: got error %v, want one that is %v", what, got, err)
		}
	}
}

func mustNotBe(t testing.TB, what string, got error, not ...error) {
	t.Helper()
	for _, err := range not {
		if errors.Is(got, err) {
			t.Errorf("%s: got error %v, want one that is not %v", what, got, err)
		}
	}
}
