package client_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

// handle is what the handles of every kind have in common.
type handle interface {
	Done() <-chan struct{}
	Err() error
	Context() context.Context
}

// got is what a call that acquires something came to.
type got[H any] struct {
	handle H
	err    error
	at     time.Time
}

// start makes such a call in a goroutine.
func start[H any](call func() (H, error)) <-chan got[H] {
	ended := make(chan got[H], 1)
	go func() {
		h, err := call()
		ended <- got[H]{h, err, time.Now()}
	}()
	return ended
}

// obtain waits for what was started.
func obtain[H any](t testing.TB, from <-chan got[H], what string) H {
	t.Helper()
	g := receive(t, from, what)
	if g.err != nil {
		t.Fatalf("%s: %v", what, g.err)
	}
	return g.handle
}

// notYet checks that what was started has not ended. It is for calls that have to
// wait: that they do is certain only when something else has happened before.
func notYet[H any](t testing.TB, from <-chan got[H], what string) {
	t.Helper()
	select {
	case g := <-from:
		t.Errorf("%s: ended already, with %v, %v, want it to wait", what, g.handle, g.err)
	default:
	}
}

// must unwraps a call that has to succeed.
func must[H any](h H, err error) func(testing.TB) H {
	return func(t testing.TB) H {
		t.Helper()
		if err != nil {
			t.Fatalf("acquire: %v", err)
		}
		return h
	}
}

// anyHandle is a handle of any kind, with what gives it back.
type anyHandle struct {
	handle
	release func(context.Context) error
}

// way is one of the ways to hold something. Each acquires what is called "orders";
// under is where its claims lie.
type way struct {
	under   string
	claims  int // how many claims a handle has
	acquire func(context.Context, *client.Session) (anyHandle, error)
	block   func(testing.TB, *client.Client) (release func()) // holds so that acquire has to wait
}

// ways are all of them, for what they have in common.
func ways() map[string]way {
	byLock := func(t testing.TB, c *client.Client) func() {
		l := hold(t, c, "orders")
		return func() { unlock(t, l) }
	}
	byPermit := func(t testing.TB, c *client.Client) func() {
		p := permit(t, c.Semaphore("orders", 1))
		return func() { releasePermit(t, p) }
	}
	const locks, permits = "fencelock/lock/", "fencelock/semaphore/orders/@/"
	return map[string]way{
		"exclusive": {locks, 1, func(ctx context.Context, s *client.Session) (anyHandle, error) {
			l, err := s.Lock(ctx, "orders")
			return held(l, err, (*client.Lock).Unlock)
		}, byLock},
		"shared": {locks, 1, func(ctx context.Context, s *client.Session) (anyHandle, error) {
			l, err := s.LockShared(ctx, "orders")
			return held(l, err, (*client.SharedLock).Unlock)
		}, byLock},
		"several": {locks, 3, func(ctx context.Context, s *client.Session) (anyHandle, error) {
			l, err := s.LockAll(ctx, "more", "orders", "others")
			return held(l, err, (*client.Locks).Unlock)
		}, byLock},
		"permit": {permits, 1, func(ctx context.Context, s *client.Session) (anyHandle, error) {
			p, err := s.Semaphore("orders", 1).Acquire(ctx)
			return held(p, err, (*client.Permit).Release)
		}, byPermit},
		"leadership": {locks, 1, func(ctx context.Context, s *client.Session) (anyHandle, error) {
			l, err := s.Campaign(ctx, "orders", []byte("me"))
			return held(l, err, (*client.Lock).Unlock)
		}, byLock},
	}
}

func held[H handle](h H, err error, release func(H, context.Context) error) (anyHandle, error) {
	if err != nil {
		return anyHandle{}, err
	}
	return anyHandle{h, func(ctx context.Context) error { return release(h, ctx) }}, nil
}

// get acquires what must be free, or become so soon.
func (w way) get(t testing.TB, s *client.Session) anyHandle {
	t.Helper()
	return obtain(t, w.goGet(context.Background(), s), "acquire")
}

func (w way) goGet(ctx context.Context, s *client.Session) <-chan got[anyHandle] {
	return start(func() (anyHandle, error) { return w.acquire(ctx, s) })
}

// enqueue and leave match the transactions that put and delete its claims.
func (w way) enqueue(txn *pb.TxnRequest) bool { return writes(txn.Success, w.under, true) }
func (w way) leave(txn *pb.TxnRequest) bool   { return writes(txn.Success, w.under, false) }

// writes reports whether operations, or transactions among them, put or delete a
// key with a prefix.
func writes(ops []*pb.RequestOp, prefix string, puts bool) bool {
	for _, op := range ops {
		key := op.GetRequestDeleteRange().GetKey()
		if puts {
			key = op.GetRequestPut().GetKey()
		}
		if bytes.HasPrefix(key, []byte(prefix)) || writes(op.GetRequestTxn().GetSuccess(), prefix, puts) {
			return true
		}
	}
	return false
}

func permitPrefix(name string) string { return "fencelock/semaphore/" + name + "/@/" }

// claimsUnder counts keys.
func claimsUnder(t testing.TB, etcd *clientv3.Client, prefix string) int {
	t.Helper()
	resp, err := etcd.Get(context.Background(), prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatalf("read %s: %v", prefix, err)
	}
	return len(resp.Kvs)
}

func awaitClaims(t testing.TB, etcd *clientv3.Client, prefix string, n int) {
	t.Helper()
	eventually(t, limit, "the claims expected are there", func() bool { return claimsUnder(t, etcd, prefix) == n })
}

// stale checks that a fence refused a token.
func stale(t testing.TB, what string, err error, token fencing.Token) {
	t.Helper()
	var refused *fencing.StaleError
	if !errors.As(err, &refused) || refused.Token != token {
		t.Errorf("%s: got %v, want token %v to be refused as stale", what, err, token)
	}
}
