package monitor

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// gauge is one metric of the census.
type gauge struct {
	desc *prometheus.Desc
	of   func(Census, time.Time) float64
}

// gauges are all but the alarms. None is labelled with a lock's name: there may be
// millions.
func gauges() []gauge {
	return []gauge{
		newGauge("locks_held", "Locks that somebody holds.", func(c Census, _ time.Time) float64 { return float64(c.Held) }),
		newGauge("waiters", "Claims that wait for a lock or a semaphore.", func(c Census, _ time.Time) float64 { return float64(c.Waiters) }),
		newGauge("permits_held", "Claims that hold a semaphore.", func(c Census, _ time.Time) float64 { return float64(c.Permits) }),
		newGauge("sessions", "Leases, one for each session.", func(c Census, _ time.Time) float64 { return float64(c.Leases) }),
		newGauge("fences", "Guards that have admitted a token.", func(c Census, _ time.Time) float64 { return float64(c.Fences) }),
		newGauge("oldest_claim_age_seconds", "How long the oldest claim has stood, by its owner's clock; 0 without one.", age),
		newGauge("revision", "Revision of the member's own data.", func(c Census, _ time.Time) float64 { return float64(c.Revision) }),
		newGauge("ready", "Whether /readyz would answer 200: 1 or 0.", func(c Census, _ time.Time) float64 { return number(c.Ready) }),
		newGauge("census_age_seconds", "How old these numbers are; they are counted when scraped, at most every 5 s.",
			func(c Census, now time.Time) float64 { return now.Sub(c.At).Seconds() }),
	}
}

func newGauge(name, help string, of func(Census, time.Time) float64) gauge {
	return gauge{prometheus.NewDesc("fencelock_"+name, help, nil, nil), of}
}

func age(c Census, now time.Time) float64 {
	if c.Oldest.IsZero() {
		return 0
	}
	return max(0, now.Sub(c.Oldest).Seconds())
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Collector exports a Counter's census. Before the first there is nothing.
type Collector struct {
	counter *Counter
	gauges  []gauge
	alarm   *prometheus.Desc
}

// NewCollector returns the metrics of counter.
func NewCollector(counter *Counter) *Collector {
	return &Collector{counter, gauges(), prometheus.NewDesc("fencelock_alarm",
		"Whether a member has raised the alarm: NOSPACE (the store is full) or CORRUPT (members' data differ).", []string{"type"}, nil)}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, g := range c.gauges {
		to <- g.desc
	}
	to <- c.alarm
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	census, err := c.counter.current()
	if err != nil {
		return // the rest of the metrics is there all the same
	}
	now := time.Now()
	for _, g := range c.gauges {
		to <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, g.of(census, now))
	}
	for kind, raised := range census.Alarms {
		to <- prometheus.MustNewConstMetric(c.alarm, prometheus.GaugeValue, number(raised), kind)
	}
}
