package redisfence_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/redisfence"
	"github.com/fencelock/fencelock/test/servers"
)

// value is a key's, as the holder of token sees it.
func value(t testing.TB, h *redisfence.Handle, key string) string {
	t.Helper()
	got, found, err := h.Get(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return "nothing"
	}
	return string(got)
}

func set(t testing.TB, h *redisfence.Handle, key, text string) {
	t.Helper()
	if err := h.Set(context.Background(), key, []byte(text), 0); err != nil {
		t.Fatal(err)
	}
}

func TestValuesAreBytes(t *testing.T) {
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			f := newFence(t, redisfence.Config{Eval: client(t, servers.Redis(t))})
			h := holder(t, f, 33)
			for _, want := range [][]byte{{}, []byte("a"), {0, 0xff, '\n', '\r', '\n'}, bytes.Repeat([]byte{7}, 1<<20)} {
				for _, key := range []string{"k", "\x00\xff", "a/{b}/c"} {
					if err := h.Set(t.Context(), key, want, 0); err != nil {
						t.Fatal(err)
					}
					if got, found, err := h.Get(t.Context(), key); err != nil || !found || !bytes.Equal(got, want) {
						t.Errorf("%q: got %d bytes, %v, %v, want %d", key, len(got), found, err, len(want))
					}
				}
			}
		})
	}
}

func TestDelete(t *testing.T) {
	_, f := fresh(t)
	h := holder(t, f, 33)
	set(t, h, "k", "v")
	for _, want := range []bool{true, false} {
		if got, err := h.Delete(t.Context(), "k"); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	if got := value(t, h, "k"); got != "nothing" {
		t.Errorf("got %q after the delete", got)
	}
}

func TestCompareAndSet(t *testing.T) {
	_, f := fresh(t)
	h := holder(t, f, 33)
	for i, c := range []struct {
		old, new []byte
		swapped  bool
		left     string
	}{
		{[]byte("x"), []byte("y"), false, "nothing"},
		{nil, []byte("a"), true, "a"},
		{nil, []byte("b"), false, "a"},
		{[]byte{}, []byte("b"), false, "a"},
		{[]byte("a"), []byte{}, true, ""},
		{nil, []byte("b"), false, ""},
		{[]byte{}, []byte("c"), true, "c"},
		{[]byte("x"), nil, false, "c"},
		{[]byte("c"), nil, true, "nothing"},
		{nil, nil, true, "nothing"},
	} {
		swapped, err := h.CompareAndSet(t.Context(), "k", c.old, c.new, 0)
		if left := value(t, h, "k"); err != nil || swapped != c.swapped || left != c.left {
			t.Errorf("%d: got %v, %v, and %q is left; want %v and %q", i, swapped, err, left, c.swapped, c.left)
		}
	}
}

func TestDataExpireAndTheFenceDoesNot(t *testing.T) {
	rdb, f := fresh(t)
	h := holder(t, f, 33)
	if err := h.Set(t.Context(), "k", []byte("v"), time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := h.CompareAndSet(t.Context(), "l", nil, []byte("v"), 1500*time.Microsecond); err != nil {
		t.Fatal(err)
	}
	if got := rdb.PTTL(t.Context(), f.Key(guard, "k")).Val(); got <= 0 || got > time.Hour {
		t.Errorf("the key lives for %v, want an hour", got)
	}
	if got := rdb.PTTL(t.Context(), "fencelock:{accounts/42}").Val(); got != -1 {
		t.Errorf("the fence lives for %v, want it to live for ever", got)
	}
	for deadline := time.Now().Add(10 * time.Second); value(t, h, "l") != "nothing"; {
		if time.Now().After(deadline) {
			t.Fatal("l does not expire")
		}
	}
	for _, ttl := range []time.Duration{-1, time.Microsecond} {
		if err := h.Set(t.Context(), "k", nil, ttl); !errors.Is(err, fencing.ErrMalformed) {
			t.Errorf("ttl %v: got %v, want ErrMalformed", ttl, err)
		}
	}
}

func TestRun(t *testing.T) {
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			f := newFence(t, redisfence.Config{Eval: client(t, servers.Redis(t))})
			h := holder(t, f, 33)
			for script, want := range map[string]any{
				"return redis.call('INCRBY', KEYS[1], ARGV[1])":    int64(5),
				"return {KEYS[2], ARGV[2], #KEYS, #ARGV}":          []any{f.Key(guard, "l"), "x", int64(2), int64(2)},
				"local a = 1 -- a comment at the end":              nil,
				"return nil":                                       nil,
				"return false":                                     nil,
				"return true":                                      int64(1),
				"return {}":                                        []any{},
				"if ARGV[1] == '5' then return 'yes' end return 1": "yes",
			} {
				got, err := h.Run(t.Context(), script, []string{"k", "l"}, []string{"5", "x"})
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %#v, %v, want %#v", script, got, err, want)
				}
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	rdb, f := fresh(t)
	set(t, holder(t, f, 34), "k", "0")
	_, err := holder(t, f, 33).Run(t.Context(), "return redis.call('INCR', KEYS[1])", []string{"k"}, nil)
	if !errors.Is(err, fencing.ErrStale) {
		t.Errorf("got %v, want ErrStale", err)
	}
	h := holder(t, f, 34)
	for script, want := range map[string]string{
		"return redis.call('LPUSH', KEYS[1], 'x')":     "WRONGTYPE",
		"return redis.call('NOSUCH')":                  "Unknown",
		"return redis.error_reply('no, thanks')":       "no, thanks",
		"error('my own')":                              "my own",
		"return nothing.field":                         "nothing",
		"this is no Lua":                               "compil",
		"#!lua name=x\nreturn 1":                       "#!",
		"return redis.pcall('LPUSH', KEYS[1], 'x')":    "WRONGTYPE",
		"redis.call('SET', KEYS[1], 1) return nil + 1": "arithmetic",
	} {
		if _, err := h.Run(t.Context(), script, []string{"k"}, nil); err == nil || errors.Is(err, fencing.ErrUncertain) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q and no doubt", script, err, want)
		}
	}
	if got := rdb.Get(t.Context(), f.Key(guard, "k")).Val(); got != "1" {
		t.Errorf("k is %s, want 1: what a script wrote before it failed stays", got)
	}
}

// Braces in a guard's name decide about slots, and slashes about whose key it is.
func TestGuardsDoNotShareKeys(t *testing.T) {
	_, f := fresh(t)
	names := []string{"a", "a}", "{a}", "{", "}", "{}", "%7B", "a}/k", "a/k", "a}/k{", "}{", "é", "a b", "%", "%25"}
	keys := map[string]string{}
	for i, name := range names {
		ctx := fencing.NewContext(t.Context(), fencing.Sequencer{Lock: name, Token: fencing.Token(i + 1)})
		h, err := f.Open(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"k", "/k", "}/k", "b}/k"} {
			if other, used := keys[f.Key(name, key)]; used {
				t.Errorf("%q of %q lies where %s does", key, name, other)
			}
			keys[f.Key(name, key)] = fmt.Sprintf("%q of %q", key, name)
		}
		set(t, h, "k", name)
	}
	for i, name := range names {
		if got, err := f.Highest(t.Context(), name); err != nil || got != fencing.Token(i+1) {
			t.Errorf("the fence of %q stands at %v, %v, want %d", name, got, err, i+1)
		}
	}
}

// All keys of a guard are in one slot, or a cluster would refuse the script.
func TestClusterTakesTheScript(t *testing.T) {
	s := servers.StartRedis(t, "--databases", "1", "--cluster-enabled", "yes")
	rdb := dial(t, s.DSN("0"))
	if err := rdb.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(rdb.ClusterInfo(t.Context()).Val(), "cluster_state:ok") {
		if t.Context().Err() != nil {
			t.Fatal("the cluster does not come up")
		}
	}
	f := newFence(t, redisfence.Config{Eval: viaGoRedis(rdb)})
	for _, name := range []string{"a", "}", "{}", "{", "a}b{c}", "}{", "%7D"} {
		h, err := f.Open(fencing.NewContext(t.Context(), fencing.Sequencer{Lock: name, Token: 1}), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"k", "{x}", "}", "{}"} {
			if _, err := h.Run(t.Context(), "return redis.call('SET', KEYS[1], redis.call('GET', KEYS[2]) or '')", []string{key, "other"}, nil); err != nil {
				t.Errorf("guard %q, key %q: %v", name, key, err)
			}
		}
	}
}

func TestRepair(t *testing.T) {
	_, f := fresh(t)
	set(t, holder(t, f, math.MaxInt64), "k", "v")
	if err := holder(t, f, 34).Advance(t.Context()); !errors.Is(err, fencing.ErrStale) {
		t.Fatalf("got %v, want ErrStale", err)
	}
	if err := f.Repair(t.Context(), guard, math.MaxInt64-1, 34); err == nil {
		t.Error("repaired a fence that stands elsewhere")
	}
	for _, right := range []fencing.Token{0, -1, math.MaxInt64} {
		if err := f.Repair(t.Context(), guard, math.MaxInt64, right); !errors.Is(err, fencing.ErrMalformed) {
			t.Errorf("to %v: got %v, want ErrMalformed", right, err)
		}
	}
	if err := f.Repair(t.Context(), guard, math.MaxInt64, 34); err != nil {
		t.Fatal(err)
	}
	set(t, holder(t, f, 34), "k", "w")
	if err := holder(t, f, 33).Advance(t.Context()); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("token 33: got %v, want ErrStale", err)
	}
}

// The package comment's command.
func TestRepairByHand(t *testing.T) {
	rdb, f := fresh(t)
	set(t, holder(t, f, math.MaxInt64), "k", "v")
	rdb.Set(t.Context(), "fencelock:{accounts/42}", "1234 0", 0)
	set(t, holder(t, f, 1234), "k", "w")
	if err := holder(t, f, 1233).Advance(t.Context()); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("token 1233: got %v, want ErrStale", err)
	}
}

// A fence that cannot be read admits nobody.
func TestForeignValueIsNoFence(t *testing.T) {
	rdb, f := fresh(t)
	for _, foreign := range []string{"", "34", "34 ", "0 a", "-1 a", "34 xyz", "34 a b", " 34 a", "1e9 a", "034 a", "34 a\n"} {
		rdb.Set(t.Context(), "fencelock:{accounts/42}", foreign, 0)
		if err := holder(t, f, 35).Advance(t.Context()); err == nil || errors.Is(err, fencing.ErrStale) {
			t.Errorf("%q: got %v, want an error that names it", foreign, err)
		}
		if token, err := f.Highest(t.Context(), guard); err == nil {
			t.Errorf("%q: read as %v", foreign, token)
		}
	}
	rdb.Del(t.Context(), "fencelock:{accounts/42}")
	rdb.LPush(t.Context(), "fencelock:{accounts/42}", "x")
	if err := holder(t, f, 35).Advance(t.Context()); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
		t.Errorf("a list: got %v, want WRONGTYPE", err)
	}
}

// One holder works from many goroutines, and with several handles.
func TestManyGoroutinesOfOneHolder(t *testing.T) {
	_, f := fresh(t)
	handles := []*redisfence.Handle{holder(t, f, 33), holder(t, f, 33), holder(t, f, 33)}
	var wait sync.WaitGroup
	for i := range 60 {
		wait.Go(func() {
			if _, err := handles[i%3].Run(t.Context(), "return redis.call('INCR', KEYS[1])", []string{"n"}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := value(t, handles[0], "n"); got != "60" {
		t.Errorf("counted %s, want 60", got)
	}
}

func TestBadInputIsFoundWithoutRedis(t *testing.T) {
	f := newFence(t, redisfence.Config{Eval: func(context.Context, string, []string, []string) (any, error) {
		t.Error("a request was sent")
		return nil, nil
	}})
	if _, err := f.Open(t.Context(), "a//b"); !errors.Is(err, fencing.ErrInvalidName) {
		t.Errorf("a bad guard: got %v, want ErrInvalidName", err)
	}
	if _, err := f.Open(t.Context(), guard); !errors.Is(err, fencing.ErrMissing) {
		t.Errorf("no sequencer: got %v, want ErrMissing", err)
	}
	h := holder(t, f, 33)
	if err := h.Set(t.Context(), "", nil, 0); !errors.Is(err, fencing.ErrInvalidName) {
		t.Errorf("an empty key: got %v, want ErrInvalidName", err)
	}
	if _, err := h.Run(t.Context(), "", []string{""}, nil); !errors.Is(err, fencing.ErrInvalidName) {
		t.Errorf("an empty key of a script: got %v, want ErrInvalidName", err)
	}
	gone, cancel := context.WithCancelCause(t.Context())
	why := errors.New("lock lost")
	cancel(why)
	if err := h.Set(gone, "k", nil, 0); !errors.Is(err, why) || errors.Is(err, fencing.ErrUncertain) {
		t.Errorf("a context that has ended: got %v, want its cause and no doubt", err)
	}
	for name, cfg := range map[string]redisfence.Config{"no Eval": {}, "braces": {Eval: viaGoRedis(nil), Prefix: "{x}"}} {
		if _, err := redisfence.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Answers that no script of this package gives.
func TestStrangeAnswersAreErrors(t *testing.T) {
	for _, answer := range []any{nil, "OK", int64(1), []any{}, []any{nil}, []any{"no verdict"}, []any{int64(1)}, []any{"stale", "x"}} {
		h := holder(t, newFence(t, redisfence.Config{Eval: func(context.Context, string, []string, []string) (any, error) { return answer, nil }}), 33)
		if err := h.Set(t.Context(), "k", nil, 0); err == nil {
			t.Errorf("%#v: taken for success", answer)
		}
	}
}
