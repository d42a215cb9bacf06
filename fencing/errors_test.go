package fencing_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing"
)

func TestStaleErrorNamesBothTokens(t *testing.T) {
	err := fmt.Errorf("put: %w", &fencing.StaleError{Guard: "acct", Token: 33, Highest: 34})
	if !errors.Is(err, fencing.ErrStale) || errors.Is(err, fencing.ErrNotHeld) {
		t.Errorf("%v: is it stale: %v, is it not held: %v", err, errors.Is(err, fencing.ErrStale), errors.Is(err, fencing.ErrNotHeld))
	}
	for _, want := range []string{"33", "34", "acct"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %q", err, want)
		}
	}
}

// A fence that was closed above a token refuses the very token that it names.
func TestStaleErrorOfAClosedFence(t *testing.T) {
	err := &fencing.StaleError{Guard: "acct", Token: 33, Highest: 33}
	if got, want := err.Error(), "closed above"; !strings.Contains(got, want) {
		t.Errorf("got %q, want it to say %q", got, want)
	}
}
