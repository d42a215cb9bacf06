package fencing_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing"
)

func TestCheckGuard(t *testing.T) {
	for seq, want := range map[fencing.Sequencer]error{
		{Lock: "acct", Token: 33}:           nil,
		{}:                                  fencing.ErrMissing,
		{Lock: "acct"}:                      fencing.ErrMalformed,
		{Lock: "acct", Token: -1}:           fencing.ErrMalformed,
		{Lock: "other", Token: math.MinInt}: fencing.ErrMalformed,
		{Token: 33}:                         fencing.ErrMalformed,
		{Lock: "other", Token: 33}:          fencing.ErrWrongGuard,
		{Lock: "ACCT", Token: 33}:           fencing.ErrWrongGuard,
	} {
		if got := seq.CheckGuard("acct"); !errors.Is(got, want) {
			t.Errorf("%+v: got %v, want %v", seq, got, want)
		}
	}
}

func TestForGuard(t *testing.T) {
	ctx := context.Background()
	carry := func(seqs ...fencing.Sequencer) context.Context {
		ctx := ctx
		for _, seq := range seqs {
			ctx = fencing.NewContext(ctx, seq)
		}
		return ctx
	}
	a, b := fencing.Sequencer{Lock: "a", Token: 1}, fencing.Sequencer{Lock: "b", Token: 2}
	if got, err := fencing.ForGuard(carry(a, b), "a"); err != nil || got != a {
		t.Errorf("got %v, %v, want %v", got, err, a)
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		want error
	}{
		"nothing carried": {ctx, fencing.ErrMissing},
		"other locks":     {carry(a, b), fencing.ErrWrongGuard},
		"without a token": {carry(fencing.Sequencer{Lock: "c"}), fencing.ErrMalformed},
	} {
		if got, err := fencing.ForGuard(c.ctx, "c"); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, c.want)
		}
	}
}

func TestSole(t *testing.T) {
	ctx := context.Background()
	if _, err := fencing.Sole(ctx); !errors.Is(err, fencing.ErrMissing) {
		t.Errorf("nothing carried: got %v, want ErrMissing", err)
	}
	for token := range fencing.Token(3) {
		ctx = fencing.NewContext(ctx, fencing.Sequencer{Lock: "a", Token: token + 1})
	}
	if got, err := fencing.Sole(ctx); err != nil || got.Token != 3 {
		t.Errorf("one lock: got %v, %v, want a#3", got, err)
	}
	ctx = fencing.NewContext(ctx, fencing.Sequencer{Lock: "b", Token: 2})
	_, err := fencing.Sole(ctx)
	if !errors.Is(err, fencing.ErrWrongGuard) || !strings.Contains(err.Error(), `"b", "a"`) {
		t.Errorf("two locks: got %v, want ErrWrongGuard that names both", err)
	}
}
