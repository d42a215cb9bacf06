package bench

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	longest = 10 * time.Minute // that is told apart; what took longer counts as this
	digits  = 3                // of a time that are right
)

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(int64(time.Microsecond), int64(longest), digits)
}

// Result is what was measured of one work.
type Result struct {
	Work       string  `json:"work"`
	Clients    int     `json:"clients"`
	Operations int64   `json:"operations"`
	Rate       float64 `json:"per_second"`
	P50        int64   `json:"p50_us"` // microseconds
	P90        int64   `json:"p90_us"`
	P99        int64   `json:"p99_us"`
	Max        int64   `json:"max_us"`

	Bars []Bar `json:"-"` // without empty ones, rising
}

// Bar is how many operations took about the same time.
type Bar struct {
	From, To time.Duration
	Count    int64
}

func resultOf(name string, clients int, counts *hdrhistogram.Histogram, over time.Duration) Result {
	micros := func(nanos int64) int64 { return time.Duration(nanos).Microseconds() }
	r := Result{
		Work: name, Clients: clients, Operations: counts.TotalCount(), Rate: float64(counts.TotalCount()) / over.Seconds(),
		P50: micros(counts.ValueAtQuantile(50)), P90: micros(counts.ValueAtQuantile(90)),
		P99: micros(counts.ValueAtQuantile(99)), Max: micros(counts.Max()),
	}
	for _, bar := range counts.Distribution() {
		if bar.Count > 0 {
			r.Bars = append(r.Bars, Bar{time.Duration(bar.From), time.Duration(bar.To), bar.Count})
		}
	}
	return r
}
