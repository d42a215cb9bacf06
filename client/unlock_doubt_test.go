// Unlock when its first answer is lost and the claim is gone at the second attempt:
// did this Unlock remove it, or had the lock been lost?

package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
)

// meanwhile is what happens to the locks while the first delete of Unlock is lost.
type meanwhile func(t *testing.T, f *faulty, l *client.Locks)

// overtaken lets somebody else take a lock that is free, and work under its fence.
func overtaken(t *testing.T, f *faulty, lock string) {
	t.Helper()
	other := connect(t, client.Config{Etcd: f.etcd, Owner: "next"})
	next := hold(t, other, lock)
	if _, err := next.KV().Put(context.Background(), "balance", []byte("9")); err != nil {
		t.Errorf("put of the next holder: %v", err)
	}
	unlock(t, next)
}

func breakIt(t *testing.T, f *faulty, l *client.Locks, lock string) {
	t.Helper()
	other := connect(t, client.Config{Etcd: f.etcd})
	if err := other.Break(context.Background(), lock, l.Token()); err != nil {
		t.Errorf("break: %v", err)
	}
}

func TestUnlockInDoubt(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		names   []string
		arrives bool // the first delete does, and its answer is lost
		then    meanwhile
		lost    bool
	}{
		"given back, and held by the next": {
			names: []string{"orders"}, arrives: true,
			then: func(t *testing.T, f *faulty, _ *client.Locks) { overtaken(t, f, "orders") },
		},
		"several given back, and held by the next": {
			names: []string{"orders", "stock"}, arrives: true,
			then: func(t *testing.T, f *faulty, _ *client.Locks) { overtaken(t, f, "stock") },
		},
		"broken, and held by the next": {
			names: []string{"orders"}, lost: true,
			then: func(t *testing.T, f *faulty, l *client.Locks) {
				breakIt(t, f, l, "orders")
				overtaken(t, f, "orders")
				overtaken(t, f, "orders")
			},
		},
		"revoked": {
			names: []string{"orders"}, lost: true,
			then: func(t *testing.T, f *faulty, _ *client.Locks) { revoke(t, f.etcd, f.Session) },
		},
		"several revoked": {
			names: []string{"orders", "stock"}, lost: true,
			then: func(t *testing.T, f *faulty, _ *client.Locks) { revoke(t, f.etcd, f.Session) },
		},
		"one of several broken, and held by the next": {
			names: []string{"orders", "stock"}, lost: true,
			then: func(t *testing.T, f *faulty, l *client.Locks) {
				breakIt(t, f, l, "stock")
				overtaken(t, f, "stock")
			},
		},
		"one of several deleted by hand": {
			names: []string{"orders", "stock"}, lost: true,
			then: func(t *testing.T, f *faulty, _ *client.Locks) {
				if _, err := f.etcd.Delete(context.Background(), f.key("stock", 0)); err != nil {
					t.Errorf("delete: %v", err)
				}
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFaulty(t, 3*time.Second)
			l := holdAll(t, f, c.names...)
			leave := claimDelete(c.names[0])
			if len(c.names) > 1 {
				leave = ways()["several"].leave
			}
			f.faults.set(1, leave, func(send func() error, ctx context.Context) error {
				answer := loseUnsent(nil, nil)
				if c.arrives {
					answer = loseReply(send, ctx)
				}
				c.then(t, f, l)
				return answer
			})
			err := l.Unlock(t.Context())
			if got := errors.Is(err, client.ErrLost); got != c.lost || !c.lost && err != nil {
				t.Errorf("Unlock: got %v, want it lost: %t", err, c.lost)
			}
			awaitClaims(t, f.etcd, "fencelock/lock/", 0)
		})
	}
}
