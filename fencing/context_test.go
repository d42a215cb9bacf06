package fencing_test

import (
	"context"
	"slices"
	"testing"

	"github.com/fencelock/fencelock/fencing"
)

func TestContextCarriesOneSequencerForEachLock(t *testing.T) {
	ctx := context.Background()
	if got, ok := fencing.FromContext(ctx, "a"); ok {
		t.Errorf("an empty context carries %v", got)
	}
	ctx = fencing.NewContext(ctx, fencing.Sequencer{Lock: "a", Token: 1})
	ctx = fencing.NewContext(ctx, fencing.Sequencer{Lock: "b", Token: 2})
	ctx = fencing.NewContext(ctx, fencing.Sequencer{Lock: "a", Token: 3})
	for lock, want := range map[string]fencing.Token{"a": 3, "b": 2} {
		if got, ok := fencing.FromContext(ctx, lock); !ok || got.Token != want || got.Lock != lock {
			t.Errorf("FromContext(%q) = %v, %v, want token %v", lock, got, ok, want)
		}
	}
	if _, ok := fencing.FromContext(ctx, "c"); ok {
		t.Error("found a sequencer that was never added")
	}
	want := []fencing.Sequencer{{Lock: "a", Token: 3}, {Lock: "b", Token: 2}}
	if got := fencing.AllFromContext(ctx); !slices.Equal(got, want) {
		t.Errorf("AllFromContext = %v, want %v", got, want)
	}
}
