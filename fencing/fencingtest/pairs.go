package fencingtest

import (
	"slices"
	"testing"
	"time"
)

// Pairs measures what a fence costs: it runs the plain operation and the fenced
// one in turn, each first in every other pair, so that a machine which slows down
// slows both. It reports the medians of both and the ratio of the medians.
func Pairs(b *testing.B, plain, fenced func() error) {
	b.Helper()
	var took [2][]time.Duration
	for i := 0; b.Loop(); i++ {
		for j := range 2 {
			which := (i + j) % 2
			start := time.Now()
			if err := []func() error{plain, fenced}[which](); err != nil {
				b.Fatal(err)
			}
			took[which] = append(took[which], time.Since(start))
		}
	}
	var median [2]time.Duration
	for i := range took {
		slices.Sort(took[i])
		median[i] = took[i][len(took[i])/2]
	}
	b.ReportMetric(float64(median[0].Microseconds()), "plain-µs")
	b.ReportMetric(float64(median[1].Microseconds()), "fenced-µs")
	b.ReportMetric(float64(median[1])/float64(median[0]), "ratio")
}
