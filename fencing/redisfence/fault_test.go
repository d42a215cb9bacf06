package redisfence_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/redisfence"
	"github.com/fencelock/fencelock/test/netfault"
	"github.com/fencelock/fencelock/test/servers"
)

// wires are two ways to one Redis: far leads through a proxy. A fence sends its
// requests by far while that is set.
type wires struct {
	near, farClient *redis.Client
	proxy           *netfault.Proxy
	far             bool
	fence           *redisfence.Fence
	slow            chan struct{} // if set, the next answer is handed over when it closes
}

func newWires(t testing.TB) *wires {
	t.Helper()
	url := servers.Redis(t)
	w := &wires{near: dial(t, url)}
	w.proxy = netfault.New(t, w.near.Options().Addr)
	w.farClient = dial(t, url, w.proxy.Addr())
	w.fence = newFence(t, redisfence.Config{Eval: func(ctx context.Context, script string, keys, args []string) (any, error) {
		if w.far {
			return viaGoRedis(w.farClient)(ctx, script, keys, args)
		}
		slow := w.slow
		w.slow = nil
		answer, err := viaGoRedis(w.near)(ctx, script, keys, args)
		if slow != nil {
			slow <- struct{}{}
			<-slow
		}
		return answer, err
	}})
	return w
}

// scripts is how many scripts Redis has run.
func (w *wires) scripts(t testing.TB) int {
	t.Helper()
	runs := 0
	for line := range strings.Lines(w.near.Info(t.Context(), "commandstats").Val()) {
		var n int
		if _, calls, found := strings.Cut(line, "cmdstat_eval"); found {
			_, calls, _ = strings.Cut(calls, "calls=")
			_, _ = fmt.Sscanf(calls, "%d", &n)
			runs += n
		}
	}
	return runs
}

// lose runs write while requests are held on their way, until its time is up.
func (w *wires) lose(t testing.TB, write func(ctx context.Context) error) {
	t.Helper()
	w.far = true
	_ = w.farClient.Ping(t.Context()) // so that the connection is there
	w.proxy.StallRequests()
	before := w.proxy.BytesUp()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := write(ctx); !errors.Is(err, fencing.ErrUncertain) {
		t.Fatalf("got %v, want ErrUncertain", err)
	}
	if w.proxy.BytesUp() == before {
		t.Fatal("nothing was sent")
	}
	w.far = false
}

// land lets the held request through, and returns when Redis has run it.
func (w *wires) land(t testing.TB) {
	t.Helper()
	before := w.scripts(t)
	w.proxy.Pass()
	for deadline := time.Now().Add(20 * time.Second); w.scripts(t) == before; {
		if time.Now().After(deadline) {
			t.Fatal("the held request does not land")
		}
	}
}

// A write that was given up reaches Redis after the holder's next, acknowledged
// one, under the same token.
func TestLostWriteCannotLandLate(t *testing.T) {
	for name, write := range map[string]func(ctx context.Context, h *redisfence.Handle) error{
		"set": func(ctx context.Context, h *redisfence.Handle) error { return h.Set(ctx, "k", []byte("lost"), 0) },
		"run": func(ctx context.Context, h *redisfence.Handle) error {
			_, err := h.Run(ctx, "return redis.call('SET', KEYS[1], 'lost')", []string{"k"}, nil)
			return err
		},
		"delete": func(ctx context.Context, h *redisfence.Handle) error { _, err := h.Delete(ctx, "k"); return err },
		"compare and set": func(ctx context.Context, h *redisfence.Handle) error {
			_, err := h.CompareAndSet(ctx, "k", []byte("acknowledged"), []byte("lost"), 0)
			return err
		},
	} {
		for _, first := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, the first: %v", name, first), func(t *testing.T) {
				w := newWires(t)
				h := holder(t, w.fence, 33)
				if !first {
					set(t, h, "k", "before")
				}
				// Redis is to know the script: held is one request, not two.
				_ = write(t.Context(), holder(t, w.fence, 32))
				w.lose(t, func(ctx context.Context) error { return write(ctx, h) })
				set(t, h, "k", "acknowledged")
				w.land(t)
				if got := value(t, h, "k"); got != "acknowledged" {
					t.Errorf("k is %q: the lost write landed after a later one", got)
				}
			})
		}
	}
}

// The later operation is a read, and the value must not change behind it.
func TestLostWriteCannotLandAfterARead(t *testing.T) {
	w := newWires(t)
	h := holder(t, w.fence, 33)
	set(t, h, "k", "before")
	w.lose(t, func(ctx context.Context) error { return h.Set(ctx, "k", []byte("lost"), 0) })
	if got := value(t, h, "k"); got != "before" {
		t.Errorf("k is %q", got)
	}
	w.land(t)
	if got := value(t, h, "k"); got != "before" {
		t.Errorf("k is %q: the lost write landed after a read", got)
	}
}

// An answer that comes late tells a version that is gone: the barrier must not
// take it for the one under which the lost write was sent.
func TestLateAnswerDoesNotMisleadTheBarrier(t *testing.T) {
	w := newWires(t)
	h := holder(t, w.fence, 33)
	set(t, h, "k", "before")
	slow, read := make(chan struct{}), make(chan struct{})
	w.slow = slow
	go func() { defer close(read); _, _, _ = h.Get(t.Context(), "k") }()
	<-slow // Redis has answered, with the first version
	lost := func(ctx context.Context) error { return h.Set(ctx, "k", []byte("lost"), 0) }
	w.lose(t, lost)
	_ = value(t, h, "k") // brings the second version
	w.land(t)
	w.lose(t, lost)
	close(slow)
	<-read
	set(t, h, "k", "acknowledged")
	w.land(t)
	if got := value(t, h, "k"); got != "acknowledged" {
		t.Errorf("k is %q: the lost write landed after a later one", got)
	}
}

// Only the answer was lost: the write counts, once, and the handle goes on.
func TestLostAnswer(t *testing.T) {
	w := newWires(t)
	h := holder(t, w.fence, 33)
	incr := func() error {
		_, err := h.Run(t.Context(), "return redis.call('INCR', KEYS[1])", []string{"n"}, nil)
		return err
	}
	w.far = true
	if err := incr(); err != nil {
		t.Fatal(err)
	}
	w.proxy.DropReplies()
	before := w.proxy.BytesDown()
	go func() {
		_ = w.proxy.AwaitDown(t.Context(), before+1)
		w.proxy.Reset()
	}()
	if err := incr(); !errors.Is(err, fencing.ErrUncertain) {
		t.Fatalf("got %v, want ErrUncertain", err)
	}
	w.proxy.Pass()
	if got := value(t, h, "n"); got != "2" {
		t.Errorf("counted %s, want 2", got)
	}
	if err := incr(); err != nil {
		t.Error(err)
	}
}

// A read changes nothing, so that it is worth another try.
func TestReadWithoutAnAnswerIsUnavailable(t *testing.T) {
	w := newWires(t)
	h := holder(t, w.fence, 33)
	w.far = true
	w.proxy.Refuse()
	for name, read := range map[string]func() error{
		"get":     func() error { _, _, err := h.Get(t.Context(), "k"); return err },
		"advance": func() error { return h.Advance(t.Context()) },
	} {
		if err := read(); !errors.Is(err, fencing.ErrUnavailable) || errors.Is(err, fencing.ErrUncertain) {
			t.Errorf("%s: got %v, want ErrUnavailable", name, err)
		}
	}
}

// What Redis itself refuses before it runs the script is no matter of doubt.
func TestRefusalByTheServerIsCertain(t *testing.T) {
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			s := servers.StartRedis(t, "--rename-command", "EVAL", "", "--rename-command", "EVALSHA", "")
			h := holder(t, newFence(t, redisfence.Config{Eval: client(t, s.DSN("0"))}), 33)
			if err := h.Set(t.Context(), "k", nil, 0); err == nil || errors.Is(err, fencing.ErrUncertain) {
				t.Errorf("got %v, want Redis's error and no doubt", err)
			}
		})
	}
}

// The server is killed, and started again: nothing acknowledged is gone, and a
// fence that only a read has raised stands.
func TestKilledServerKeepsTheFence(t *testing.T) {
	s := servers.StartRedis(t)
	rdb := dial(t, s.DSN("0"))
	f := newFence(t, redisfence.Config{Eval: viaGoRedis(rdb)})
	set(t, holder(t, f, 33), "k", "v")
	b := holder(t, f, 34)
	if got := value(t, b, "k"); got != "v" {
		t.Errorf("got %q, want v", got)
	}
	for _, end := range []func(testing.TB){s.Kill, s.Stop} {
		end(t)
		s.Start(t)
		_ = rdb.Ping(t.Context()) // finds out that its connection is gone
		if err := holder(t, f, 33).Set(t.Context(), "k", []byte("late"), 0); !errors.Is(err, fencing.ErrStale) {
			t.Errorf("the holder before: got %v, want ErrStale", err)
		}
		set(t, b, "k", "w")
	}
}

// A replica takes over without the last writes: the old holder is admitted, as the
// package comment says, and the present one notices.
func TestReplicaThatTakesOver(t *testing.T) {
	master := servers.StartRedis(t)
	link := netfault.New(t, master.Addr())
	_, port, _ := strings.Cut(link.Addr(), ":")
	replica := servers.StartRedis(t, "--replicaof", "127.0.0.1", port)
	old, next := dial(t, master.DSN("0")), dial(t, replica.DSN("0"))
	now := old
	f := newFence(t, redisfence.Config{Eval: func(ctx context.Context, script string, keys, args []string) (any, error) {
		return viaGoRedis(now)(ctx, script, keys, args)
	}})
	a, b := holder(t, f, 33), holder(t, f, 34)
	set(t, a, "k", "a")
	for next.Get(t.Context(), f.Key(guard, "k")).Val() != "a" {
		if t.Context().Err() != nil {
			t.Fatal("the replica does not follow")
		}
	}
	link.Stall()
	if got := value(t, b, "k"); got != "a" {
		t.Fatalf("got %q, want a", got)
	}
	if err := a.Set(t.Context(), "k", []byte("late"), 0); !errors.Is(err, fencing.ErrStale) {
		t.Fatalf("the old holder: got %v, want ErrStale", err)
	}
	master.Kill(t)
	if err := next.Do(t.Context(), "REPLICAOF", "NO", "ONE").Err(); err != nil {
		t.Fatal(err)
	}
	now = next
	set(t, a, "k", "late")
	for range 2 {
		if err := b.Set(t.Context(), "k", []byte("from what b has read"), 0); !errors.Is(err, redisfence.ErrLost) {
			t.Errorf("the present holder: got %v, want ErrLost", err)
		}
	}
	again := holder(t, f, 34)
	if got := value(t, again, "k"); got != "late" {
		t.Errorf("a fresh read finds %q, want late", got)
	}
	if err := a.Set(t.Context(), "k", nil, 0); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("the old holder: got %v, want ErrStale", err)
	}
}

// Redis is full. Whether it forgets fences is a matter of its policy.
func TestEviction(t *testing.T) {
	for policy, want := range map[string]error{"allkeys-lru": redisfence.ErrLost, "volatile-lru": nil, "noeviction": nil} {
		t.Run(policy, func(t *testing.T) {
			s := servers.StartRedis(t, "--maxmemory", "4mb", "--maxmemory-policy", policy)
			rdb := dial(t, s.DSN("0"))
			f := newFence(t, redisfence.Config{Eval: viaGoRedis(rdb)})
			h := holder(t, f, 33)
			if err := h.Advance(t.Context()); err != nil {
				t.Fatal(err)
			}
			filler := make([]byte, 16<<10)
			for i := range 1000 { // four times what there is room for
				rdb.Set(t.Context(), fmt.Sprint("filler", i), filler, time.Hour)
			}
			if err := h.Advance(t.Context()); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
			err := h.Set(t.Context(), "k", filler, 0)
			if full := policy == "noeviction"; full && (err == nil || !strings.Contains(err.Error(), "OOM") || errors.Is(err, fencing.ErrUncertain)) {
				t.Errorf("writing to a full Redis: got %v, want OOM and no doubt", err)
			}
		})
	}
}
