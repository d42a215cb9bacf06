package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing"
)

func TestSmoke(t *testing.T) {
	cl := clustertest.Start(t, 3)
	ctx := context.Background()
	newc := func() *client.Client {
		c, err := client.New(client.Config{Endpoints: cl.Endpoints(), TTL: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	a, b := newc(), newc()
	la, err := a.Lock(ctx, "acct")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := la.KV().Put(ctx, "x", []byte("1")); err != nil {
		t.Fatal(err)
	}
	_, err = b.TryLock(ctx, "acct")
	t.Log(err)
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	_, err = b.Lock(short, "acct")
	t.Log(err)
	bare, _ := b.KV(la.Sequencer())
	if _, err := bare.Put(ctx, "x", []byte("2")); err != nil {
		t.Fatal(err)
	}
	got := make(chan time.Time)
	var lb *client.Lock
	go func() {
		lb, err = b.Lock(ctx, "acct")
		got <- time.Now()
	}()
	for info, err := b.Inspect(ctx, "acct"); len(info.Waiters) == 0; info, err = b.Inspect(ctx, "acct") {
		_ = err
	}
	start := time.Now()
	if err := la.Unlock(ctx); err != nil {
		t.Fatal(err)
	}
	t.Log("handover", (<-got).Sub(start), err)
	r, err := lb.KV().Get(ctx, "x")
	t.Log(r, err)
	_, err = bare.Put(ctx, "x", []byte("3"))
	t.Log(err)
	if !errors.Is(err, fencing.ErrStale) {
		t.Error("not stale")
	}
	t.Log(la.Unlock(ctx))
	_, err = la.KV().Get(ctx, "x")
	t.Log(err)
	for _, tok := range []fencing.Token{1, lb.Token() + 1, 1 << 60, lb.Token()} {
		k, _ := a.KV(fencing.Sequencer{Lock: "acct", Token: tok})
		_, err := k.Get(ctx, "x")
		t.Log(tok, err, a.Check(ctx, fencing.Sequencer{Lock: "acct", Token: tok}))
	}
	n := 0
	start = time.Now()
	for time.Since(start) < 2*time.Second {
		l, err := a.Lock(ctx, "other")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Unlock(ctx); err != nil {
			t.Fatal(err)
		}
		n++
	}
	t.Log("lock+unlock per s", n/2)
}
