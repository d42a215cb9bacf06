package fencingtest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing/fencingtest"
)

func TestInTurnAlternatesWhoIsFirst(t *testing.T) {
	var order strings.Builder
	note := func(name string) func() error {
		return func() error { order.WriteString(name); return nil }
	}
	pairs := 3
	more := func() bool { pairs--; return pairs > 0 }
	if _, _, err := fencingtest.InTurn(more, note("p"), note("f")); err != nil {
		t.Fatal(err)
	}
	if got, want := order.String(), "pffppf"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestInTurnStopsAtAnError(t *testing.T) {
	broken, fine := errors.New("broken"), func() error { return nil }
	more := func() bool { t.Error("asked for more"); return false }
	if _, _, err := fencingtest.InTurn(more, fine, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
