package fencingtest

import (
	"slices"
	"testing"
	"time"
)

// Pairs measures what a fence costs: it runs the plain operation and the fenced
// one in turn, and reports the medians of both and the ratio of the medians.
func Pairs(b *testing.B, plain, fenced func() error) {
	b.Helper()
	p, f, err := InTurn(b.Loop, plain, fenced)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(p.Microseconds()), "plain-µs")
	b.ReportMetric(float64(f.Microseconds()), "fenced-µs")
	b.ReportMetric(float64(f)/float64(p), "ratio")
}

// InTurn runs both operations as long as more says, at least once, each first in
// every other pair, so that a machine which slows down slows both. It returns the
// medians of what they took.
func InTurn(more func() bool, plain, fenced func() error) (plainTook, fencedTook time.Duration, err error) {
	var took [2][]time.Duration
	for i := 0; i == 0 || more(); i++ {
		for j := range 2 {
			which := (i + j) % 2
			start := time.Now()
			if err := []func() error{plain, fenced}[which](); err != nil {
				return 0, 0, err
			}
			took[which] = append(took[which], time.Since(start))
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	return took[0][len(took[0])/2], took[1][len(took[1])/2], nil
}
