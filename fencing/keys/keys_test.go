package keys_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "a/b", "accounts/42", "with space", "é", "🔒", "a@b", "...", strings.Repeat("a", 255), "%"} {
		if err := keys.CheckName(name); err != nil {
			t.Errorf("CheckName(%q) = %v, want nil", name, err)
		}
	}
	for _, name := range []string{"", "/", "//", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "@", "a/@/b", "@/a",
		"a#b", "a\x00b", "a\n", "a\tb", "\x7f", "a\u0085", "a\xff", strings.Repeat("a", 256), strings.Repeat("x", 64<<10)} {
		if err := keys.CheckName(name); !errors.Is(err, fencing.ErrInvalidName) {
			t.Errorf("CheckName(%.20q…) = %v, want ErrInvalidName", name, err)
		} else if len(err.Error()) > 300 {
			t.Errorf("the error repeats %d bytes", len(err.Error()))
		}
	}
}

func TestCheckPrefix(t *testing.T) {
	for prefix, good := range map[string]bool{"": true, "a": true, "a/": true, "a/b": true, "/": false, "a//": false, "a/@": false, "a#": false} {
		if err := keys.CheckPrefix(prefix); (err == nil) != good {
			t.Errorf("CheckPrefix(%q) = %v, want good: %v", prefix, err, good)
		}
	}
}

func TestCheckKey(t *testing.T) {
	for key, good := range map[string]bool{"": false, "k": true, "a/@/b": true, "\x00\xff": true, strings.Repeat("k", 1024): true, strings.Repeat("k", 1025): false} {
		if err := keys.CheckKey(key); (err == nil) != good {
			t.Errorf("CheckKey(%.10q…) = %v, want good: %v", key, err, good)
		}
	}
}

// The layout is a wire format: other clients write the same keys.
func TestLayout(t *testing.T) {
	space, err := keys.NewSpace("")
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		space.Queue("a/b"):          "fencelock/lock/a/b/@/",
		space.Claim("a", 0xbeef, 7): "fencelock/lock/a/@/beef-7",
		space.Fence("a/b"):          "fencelock/fence/a/b",
		space.Record("a", "x/@/y"):  "fencelock/kv/a/@/x/@/y",
		space.Locks("a"):            "fencelock/lock/a",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if lock, ok := space.LockOf("fencelock/lock/a/b/@/beef-7"); !ok || lock != "a/b" {
		t.Errorf("LockOf = %q, %v", lock, ok)
	}
	if lock, ok := space.LockOf("elsewhere/lock/a/@/x"); ok {
		t.Errorf("LockOf found %q in a foreign key", lock)
	}
}

func TestNamespace(t *testing.T) {
	for namespace, want := range map[string]string{"": "fencelock/fence/a", "prod": "prod/fence/a", "prod/": "prod/fence/a", "x/y/": "x/y/fence/a"} {
		space, err := keys.NewSpace(namespace)
		if got := space.Fence("a"); err != nil || got != want {
			t.Errorf("namespace %q: got %q, %v, want %q", namespace, got, err, want)
		}
	}
	for _, namespace := range []string{"/", "a//", "../x", "a#"} {
		if _, err := keys.NewSpace(namespace); !errors.Is(err, fencing.ErrInvalidName) {
			t.Errorf("namespace %q: got %v, want ErrInvalidName", namespace, err)
		}
	}
}

// Bytes order fence values as the protocol needs it.
func TestFenceValuesAreOrderedAsBytes(t *testing.T) {
	const big = fencing.Token(1<<53 + 1)
	rising := []keys.FenceValue{
		"", keys.Claimed(1), keys.Shared(1), keys.Closed(1), keys.Claimed(2), keys.Claimed(15), keys.Claimed(16), keys.Closed(255),
		keys.Claimed(256), keys.Claimed(big - 1), keys.Shared(big - 1), keys.Closed(big - 1), keys.Claimed(big), keys.Claimed(1<<63 - 1),
	}
	if !slices.IsSorted(rising) {
		t.Errorf("not rising: %q", rising)
	}
	for _, v := range rising[1:] {
		if got, err := keys.ParseFence(string(v)); err != nil || got != v {
			t.Errorf("ParseFence(%q) = %q, %v", v, got, err)
		}
	}
	if got := keys.Closed(big).Token(); got != big {
		t.Errorf("token of a closed fence: got %v, want %v", got, big)
	}
}

// A fence that cannot be read must not be taken for a low one.
func TestParseFenceRefuses(t *testing.T) {
	for _, value := range []string{"", "0", "22", "000000000000002", "00000000000000022", "000000000000002G", "000000000000002A",
		"-00000000000002a", "+00000000000002a", "0000000000000022s~", "0000000000000022~s", "0000000000000022x", "ffffffffffffffff", "~", "s"} {
		if got, err := keys.ParseFence(value); err == nil {
			t.Errorf("ParseFence(%q) = %q, want an error", value, got)
		}
	}
}

func TestClaimsOfForeignClientsAreExclusive(t *testing.T) {
	for value, want := range map[string]string{"": keys.Exclusive, "x": keys.Exclusive, "{}": keys.Exclusive, `{"mode":"shared"}`: keys.SharedMode, `{"mode":"other"}`: keys.Exclusive, `{"mode":3}`: keys.Exclusive} {
		if got := keys.DecodeClaim([]byte(value)).Mode; got != want {
			t.Errorf("DecodeClaim(%q): mode %q, want %q", value, got, want)
		}
	}
}
