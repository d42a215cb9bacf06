package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// work is something that can be done by us and by another, over and over.
type work struct {
	name    string
	against string  // what the other is
	atLeast float64 // the ratio ours/other that is to be reached; 0: none
	workers int     // how many do it side by side
	ours    func(ctx context.Context, m *members, n int) (crew, error)
	other   func(ctx context.Context, m *members, n int) (crew, error)
}

// crew does one side of a work: step does it once, as worker i.
type crew struct {
	step  func(ctx context.Context, i int) error
	close func()
}

// result is what the pairs of one work have shown, in operations per second.
type result struct {
	Work    string  `json:"work"`
	Against string  `json:"against"`
	Ours    float64 `json:"ours_per_s"`
	Other   float64 `json:"other_per_s"`
	Ratio   float64 `json:"ratio"` // the median of the pairs'
	Lowest  float64 `json:"lowest"`
	Highest float64 `json:"highest"`
	AtLeast float64 `json:"at_least,omitempty"`
	Reached bool    `json:"reached"`
}

// measure does a work in alternating turns. Which side begins alternates too.
func measure(ctx context.Context, m *members, w work, opts options) (result, error) {
	ours, err := w.ours(ctx, m, w.workers)
	if err != nil {
		return result{}, err
	}
	defer ours.close()
	other, err := w.other(ctx, m, w.workers)
	if err != nil {
		return result{}, err
	}
	defer other.close()
	var a, b, ratios []float64
	for pair := -1; pair < opts.pairs; pair++ { // the first one warms up
		first, second := ours, other
		if pair%2 != 0 {
			first, second = other, ours
		}
		x, err := first.turn(ctx, w.workers, opts.turn)
		if err != nil {
			return result{}, err
		}
		y, err := second.turn(ctx, w.workers, opts.turn)
		if err != nil {
			return result{}, err
		}
		if pair%2 != 0 {
			x, y = y, x
		}
		if pair >= 0 {
			a, b, ratios = append(a, x), append(b, y), append(ratios, x/y)
		}
	}
	r := result{Work: w.name, Against: w.against, Ours: median(a), Other: median(b), Ratio: median(ratios), AtLeast: w.atLeast}
	r.Lowest, r.Highest = slices.Min(ratios), slices.Max(ratios)
	r.Reached = r.Ratio >= w.atLeast
	return r, nil
}

// turn works for a while and returns how many steps were done per second. A step
// that has begun is finished, so that nothing is left behind for the next turn.
func (c crew) turn(ctx context.Context, workers int, length time.Duration) (float64, error) {
	steps := make([]int, workers)
	errs := make([]error, workers)
	begin := time.Now()
	var working sync.WaitGroup
	for i := range workers {
		working.Go(func() {
			for time.Since(begin) < length && errs[i] == nil {
				errs[i] = c.step(ctx, i)
				steps[i]++
			}
		})
	}
	working.Wait()
	total := 0
	for _, n := range steps {
		total += n
	}
	return float64(total) / time.Since(begin).Seconds(), errors.Join(errs...)
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}
