package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/fencingtest"
)

// fencedWrite is a write that can be done behind its fence and without one.
type fencedWrite struct {
	name   string
	atMost float64 // the ratio fenced/plain that is wanted; 0: only reported
	start  func(ctx context.Context) (fencePair, error)
}

// fencePair is both sides of one fenced write, on the same server. The fence has
// admitted the token before.
type fencePair struct {
	plain, fenced func() error
	close         func()
}

// fencedWrites are in the order of the report.
func fencedWrites() []fencedWrite {
	return slices.Concat(sqlWrites(), []fencedWrite{
		{name: "Redis, SET", atMost: 1.3, start: startRedis},
		{name: "file", atMost: 1.2, start: startFile},
	})
}

// fenceCost is what one fenced write costs, beside the same without the fence.
type fenceCost struct {
	Write   string  `json:"write"`
	Plain   float64 `json:"plain_us"` // the median of the turns' medians
	Fenced  float64 `json:"fenced_us"`
	Ratio   float64 `json:"ratio"` // fenced/plain: the median of the turns'
	Lowest  float64 `json:"lowest"`
	Highest float64 `json:"highest"`
	AtMost  float64 `json:"at_most,omitempty"`
	Reached *bool   `json:"reached,omitempty"`
}

const fenceGuard = "accounts/42"

// holding is the context of the holder that writes.
func holding(ctx context.Context) context.Context {
	return fencing.NewContext(ctx, fencing.Sequencer{Lock: fenceGuard, Token: 33})
}

// benchFences measures every fenced write whose name matches.
func benchFences(ctx context.Context, opts options) error {
	report := fenceReport{Turns: opts.pairs, Turn: opts.turn.String(), Load: load()}
	for _, w := range fencedWrites() {
		if !opts.run.MatchString(w.name) {
			continue
		}
		cost, err := measureFence(ctx, w, opts)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		report.Fences = append(report.Fences, cost)
		if opts.output == "table" {
			fmt.Println(cost.line())
		}
	}
	report.LoadAfter = load()
	return report.print(os.Stdout, opts.output)
}

// measureFence does the two sides write by write in alternation, for as many turns
// as there are pairs of turns elsewhere.
func measureFence(ctx context.Context, w fencedWrite, opts options) (fenceCost, error) {
	pair, err := w.start(holding(ctx))
	if err != nil {
		return fenceCost{}, err
	}
	defer pair.close()
	var plain, fenced, ratios []float64
	for turn := -1; turn < opts.pairs; turn++ { // the first one warms up
		begin := time.Now()
		p, f, err := fencingtest.InTurn(func() bool { return time.Since(begin) < opts.turn }, pair.plain, pair.fenced)
		if err != nil {
			return fenceCost{}, err
		}
		if turn >= 0 {
			plain, fenced = append(plain, float64(p.Nanoseconds())/1e3), append(fenced, float64(f.Nanoseconds())/1e3)
			ratios = append(ratios, float64(f)/float64(p))
		}
	}
	cost := fenceCost{Write: w.name, Plain: median(plain), Fenced: median(fenced), Ratio: median(ratios),
		Lowest: slices.Min(ratios), Highest: slices.Max(ratios), AtMost: w.atMost}
	if w.atMost > 0 {
		reached := cost.Ratio <= w.atMost
		cost.Reached = &reached
	}
	return cost, nil
}
