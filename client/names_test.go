package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

// Names that cannot be are refused before any request: there is nobody to ask here.
func TestNamesThatCannotBeAreRefusedAtOnce(t *testing.T) {
	c := connect(t, client.Config{Endpoints: []string{"127.0.0.1:1"}})
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	start := time.Now()
	for _, name := range []string{
		"", "/", "//", "a/", "/a", "a//b", ".", "..", "a/..", "a/../b", "@", "a/@", "a/@/b", "a#1", "#",
		"\x00", "a\x00", "a\nb", "\r", "\t", "\x7f", "\u0085", "\xff\xfe", "a\xf0\x28",
		strings.Repeat("n", 256), strings.Repeat("n", 64<<10), strings.Repeat("😀", 64),
	} {
		what := func(call string) string { return fmt.Sprintf("%s(%.20q)", call, name) }
		mustBe(t, what("Lock"), second(c.Lock(ctx, name)), client.ErrInvalidName)
		mustBe(t, what("TryLock"), second(c.TryLock(ctx, name)), client.ErrInvalidName)
		mustBe(t, what("Inspect"), second(c.Inspect(ctx, name)), client.ErrInvalidName)
		mustBe(t, what("Do"), c.Do(ctx, name, nil), client.ErrInvalidName)
		if name == "" { // the zero Sequencer is a missing one
			continue
		}
		seq := fencing.Sequencer{Lock: name, Token: 1}
		mustBe(t, what("KV"), second(c.KV(seq)), client.ErrInvalidName)
		mustBe(t, what("Check"), c.Check(ctx, seq), client.ErrInvalidName)
	}
	if took := time.Since(start); took > 3*time.Second { // one request would take 5 s
		t.Errorf("refusals took %v, want no request", took)
	}
}

func TestNamesDoNotDisturbEachOther(t *testing.T) {
	cluster := oneMember(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	names := []string{
		"a", "a/b", "a/b/c", "ab", "A", "a-b", "a/@b", "a@", "a.b", "...", "a/lock", "lock/a", "fence/a",
		" ", "a b", " a", "a ", "😀", "naïve", "nai\u0308ve", "a%", "%00", `a\b`, `"a"`, "*", "a?b", "~", "!",
		strings.Repeat("n", 255), strings.Repeat("n/", 127) + "n",
	}
	locks := map[string]*client.Lock{}
	for _, name := range names {
		l, err := a.TryLock(t.Context(), name)
		if err != nil {
			t.Fatalf("lock %.20q while the others are held: %v", name, err)
		}
		locks[name] = l
		if _, err := l.KV().Put(t.Context(), "x", []byte(name)); err != nil {
			t.Errorf("put under %.20q: %v", name, err)
		}
	}
	infos, err := all(b.Locks(t.Context(), ""))
	if err != nil || len(infos) != len(names) {
		t.Errorf("Locks: %d of them, %v, want %d", len(infos), err, len(names))
	}
	for _, name := range names {
		_, err := b.TryLock(t.Context(), name)
		lockedError(t, fmt.Sprintf("TryLock(%.20q)", name), err, "a", locks[name].Token())
		if r, err := locks[name].KV().Get(t.Context(), "x"); err != nil || string(r.Value) != name {
			t.Errorf("get under %.20q: %.20q, %v, want its own name", name, r.Value, err)
		}
		if seq, err := fencing.ParseSequencer(locks[name].Sequencer().String()); err != nil || seq != locks[name].Sequencer() {
			t.Errorf("the sequencer's text of %.20q gives %v, %v", name, seq, err)
		}
	}
	for _, name := range names {
		unlock(t, locks[name])
		l, err := b.TryLock(t.Context(), name)
		if err != nil {
			t.Errorf("TryLock(%.20q) after Unlock: %v", name, err)
			continue
		}
		if r, err := l.KV().Get(t.Context(), "x"); err != nil || string(r.Value) != name {
			t.Errorf("get under %.20q by the next holder: %.20q, %v, want its own name", name, r.Value, err)
		}
	}
}

func TestNamespacesAreApart(t *testing.T) {
	cluster := oneMember(t)
	var locks []*client.Lock
	for _, namespace := range []string{"", "fencelock2", "fencelock/lock", "team/a", "team"} {
		c := connect(t, client.Config{Endpoints: cluster.Endpoints(), Namespace: namespace, Owner: namespace})
		l, err := c.TryLock(t.Context(), "orders")
		if err != nil {
			t.Fatalf("namespace %q: %v", namespace, err)
		}
		infos, err := all(c.Locks(t.Context(), ""))
		if err != nil || len(infos) != 1 || len(infos[0].Holders) != 1 || infos[0].Holders[0].Token != l.Token() {
			t.Errorf("namespace %q: locks %v, %v, want its own alone", namespace, infos, err)
		}
		locks = append(locks, l)
	}
	var all []error
	for _, l := range locks {
		all = append(all, l.Unlock(t.Context()))
	}
	if err := errors.Join(all...); err != nil {
		t.Errorf("unlock: %v", err)
	}
}

func TestConfigsThatCannotWorkAreRefused(t *testing.T) {
	for what, cfg := range map[string]client.Config{
		"namespace":    {Namespace: "a//b"},
		"dial timeout": {DialTimeout: -1},
		"endpoint":     {Endpoints: []string{"127.0.0.1:2379", ""}},
		"TTL":          {TTL: time.Millisecond},
	} {
		if c, err := client.New(cfg); err == nil {
			_ = c.Close()
			t.Errorf("%s: got no error, want one", what)
		}
	}
}
