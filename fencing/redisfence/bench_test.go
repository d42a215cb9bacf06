package redisfence_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fencelock/fencelock/fencing/redisfence"
	"github.com/fencelock/fencelock/test/servers"
)

// A SET, beside the same behind the fence, in turn, on a server whose log is on
// disk before it answers. The ratio is of the medians.
//
//	go test -run '^$' -bench . -benchtime 2000x ./fencing/redisfence
func BenchmarkFencedWrite(b *testing.B) {
	rdb := dial(b, servers.StartRedis(b).DSN("0"))
	h := holder(b, newFence(b, redisfence.Config{Eval: viaGoRedis(rdb)}), 33)
	value := []byte("a value of some length, as values are")
	pairs(b,
		func() error { return rdb.Set(b.Context(), "plain", value, 0).Err() },
		func() error { return h.Set(b.Context(), "fenced", value, 0) })
}

// pairs runs plain and fenced in turn, each first in every other pair.
func pairs(b *testing.B, plain, fenced func() error) {
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
