package redisfence_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/redisfence"
	"github.com/fencelock/fencelock/test/servers"
)

// A holder's client is led to a replica, which has an old fence and old data. What
// it would read there, the holder would write back to the master.
func TestReplicaIsNotRead(t *testing.T) {
	master := servers.StartRedis(t)
	host, port, _ := strings.Cut(master.Addr(), ":")
	replica := servers.StartRedis(t, "--replicaof", host, port)
	there := dial(t, replica.DSN("0"))
	f := newFence(t, redisfence.Config{Eval: viaGoRedis(dial(t, master.DSN("0")))})
	astray := newFence(t, redisfence.Config{Eval: viaGoRedis(there)})
	set(t, holder(t, f, 33), "k", "v")
	for there.Get(t.Context(), f.Key(guard, "k")).Val() != "v" {
		if t.Context().Err() != nil {
			t.Fatal("the replica does not follow")
		}
	}
	for name, operation := range map[string]func(*redisfence.Handle) error{
		"get":     func(h *redisfence.Handle) error { _, _, err := h.Get(t.Context(), "k"); return err },
		"advance": func(h *redisfence.Handle) error { return h.Advance(t.Context()) },
		"set":     func(h *redisfence.Handle) error { return h.Set(t.Context(), "k", nil, 0) },
		"delete":  func(h *redisfence.Handle) error { _, err := h.Delete(t.Context(), "nothing"); return err },
		"compare": func(h *redisfence.Handle) error {
			_, err := h.CompareAndSet(t.Context(), "k", []byte("another"), nil, 0)
			return err
		},
		"run": func(h *redisfence.Handle) error {
			_, err := h.Run(t.Context(), "return redis.call('GET', KEYS[1])", []string{"k"}, nil)
			return err
		},
	} {
		for _, token := range []fencing.Token{33, 34} {
			err := operation(holder(t, astray, token))
			if err == nil || !strings.Contains(err.Error(), "READONLY") || errors.Is(err, fencing.ErrUncertain) {
				t.Errorf("%s under %v at a replica: got %v, want READONLY and no doubt", name, token, err)
			}
		}
	}
}

// A user of Redis with no more rights than the operations need is not kept out, nor
// led to read from a replica.
func TestUserWithFewRights(t *testing.T) {
	master := servers.StartRedis(t)
	host, port, _ := strings.Cut(master.Addr(), ":")
	replica := servers.StartRedis(t, "--replicaof", host, port)
	there := dial(t, replica.DSN("0"))
	few := func(rdb *redis.Client) *redisfence.Fence {
		err := rdb.Do(t.Context(), "ACL", "SETUSER", "few", "on", ">secret", "~fencelock:*", "+eval", "+evalsha", "+get", "+set", "+del").Err()
		if err != nil {
			t.Fatal(err)
		}
		options := *rdb.Options()
		options.Username, options.Password = "few", "secret"
		own := redis.NewClient(&options)
		t.Cleanup(func() { own.Close() })
		return newFence(t, redisfence.Config{Eval: viaGoRedis(own)})
	}
	h := holder(t, few(dial(t, master.DSN("0"))), 33)
	set(t, h, "k", "v")
	if got := value(t, h, "k"); got != "v" {
		t.Errorf("got %q, want v", got)
	}
	f := few(there)
	for there.Get(t.Context(), f.Key(guard, "k")).Val() != "v" {
		if t.Context().Err() != nil {
			t.Fatal("the replica does not follow")
		}
	}
	if _, _, err := holder(t, f, 33).Get(t.Context(), "k"); err == nil || !strings.Contains(err.Error(), "READONLY") {
		t.Errorf("get at a replica: got %v, want READONLY", err)
	}
}
