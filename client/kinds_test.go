package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

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

// kinds are all the ways to hold something, for what they have in common. Each
// acquires what "orders" names, so that a second one has to wait; queue is the
// prefix of its claims.
type waiting struct {
	acquire func(ctx context.Context, s *client.Session) (handle, func(context.Context) error, error)
	queue   string
}

func everyKind() map[string]waiting {
	return map[string]waiting{
		"exclusive": {queue: queuePrefix("orders"), acquire: func(ctx context.Context, s *client.Session) (handle, func(context.Context) error, error) {
			l, err := s.Lock(ctx, "orders")
			return orNil(l, err, func() func(context.Context) error { return l.Unlock })
		}},
		"shared": {queue: queuePrefix("orders"), acquire: func(ctx context.Context, s *client.Session) (handle, func(context.Context) error, error) {
			l, err := s.LockShared(ctx, "orders")
			return orNil(l, err, func() func(context.Context) error { return l.Unlock })
		}},
		"several": {queue: queuePrefix("orders"), acquire: func(ctx context.Context, s *client.Session) (handle, func(context.Context) error, error) {
			l, err := s.LockAll(ctx, "orders", "other")
			return orNil(l, err, func() func(context.Context) error { return l.Unlock })
		}},
		"permit": {queue: permitPrefix("orders"), acquire: func(ctx context.Context, s *client.Session) (handle, func(context.Context) error, error) {
			p, err := s.Semaphore("orders", 1).Acquire(ctx)
			return orNil(p, err, func() func(context.Context) error { return p.Release })
		}},
		"leadership": {queue: queuePrefix("orders"), acquire: func(ctx context.Context, s *client.Session) (handle, func(context.Context) error, error) {
			l, err := s.Campaign(ctx, "orders", []byte("me"))
			return orNil(l, err, func() func(context.Context) error { return l.Unlock })
		}},
	}
}

func orNil(h handle, err error, release func() func(context.Context) error) (handle, func(context.Context) error, error) {
	if err != nil {
		return nil, nil, err
	}
	return h, release(), nil
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
