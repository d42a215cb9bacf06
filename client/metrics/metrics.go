// Package metrics makes a client's doings visible to Prometheus. A client that is
// not given a [Collector] does not pay for it.
//
//	m := metrics.New()
//	prometheus.MustRegister(m)
//	c, err := client.New(client.Config{Observer: m})
//
// No metric is labelled with a lock's name: there may be millions.
package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

// Collector counts what happens in one client, or in several that share it. It is
// a client.Observer and a prometheus.Collector.
type Collector struct {
	acquisitions *prometheus.CounterVec
	wait, hold   prometheus.Histogram
	losses       *prometheus.CounterVec
	refusals     *prometheus.CounterVec
	renewals     *prometheus.CounterVec
	renewal      prometheus.Histogram
}

// seconds are the buckets of every histogram: from the millisecond that an
// uncontended lock takes to the minutes of a long job.
func seconds() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300}
}

// New makes a Collector, which has yet to be registered.
func New() *Collector {
	return &Collector{
		acquisitions: counters("acquisitions_total", "Locks asked for, by outcome.", "outcome"),
		wait:         histogram("wait_seconds", "Time from asking for a lock to holding it."),
		hold:         histogram("hold_seconds", "Time for which a lock was held."),
		losses:       counters("losses_total", "Locks that ended without being given back, by cause.", "cause"),
		refusals:     counters("refused_operations_total", "Operations that a fenced store refused, by reason.", "reason"),
		renewals:     counters("renewals_total", "Renewals of sessions asked for, by outcome.", "outcome"),
		renewal:      histogram("renewal_seconds", "Time until a renewal was answered."),
	}
}

func counters(name, help, label string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "fencelock", Subsystem: "client", Name: name, Help: help}, []string{label})
}

func histogram(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "fencelock", Subsystem: "client", Name: name, Help: help, Buckets: seconds()})
}

func (c *Collector) all() []prometheus.Collector {
	return []prometheus.Collector{c.acquisitions, c.wait, c.hold, c.losses, c.refusals, c.renewals, c.renewal}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, m := range c.all() {
		m.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	for _, m := range c.all() {
		m.Collect(to)
	}
}

// Acquired implements client.Observer.
func (c *Collector) Acquired(waited time.Duration, err error) {
	c.acquisitions.WithLabelValues(outcomeOf(err)).Inc()
	if err == nil {
		c.wait.Observe(waited.Seconds())
	}
}

// outcomeOf sorts the errors of an acquisition.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "acquired"
	case errors.Is(err, client.ErrLocked):
		return "locked"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	case errors.Is(err, client.ErrUnavailable):
		return "unavailable"
	case errors.Is(err, client.ErrLost):
		return "lost"
	}
	return "failed"
}

// Ended implements client.Observer.
func (c *Collector) Ended(held time.Duration, cause error) {
	c.hold.Observe(held.Seconds())
	if errors.Is(cause, client.ErrLost) {
		c.losses.WithLabelValues(client.CauseOf(cause)).Inc()
	}
}

// Renewed implements client.Observer.
func (c *Collector) Renewed(took time.Duration, err error) {
	outcome := "renewed"
	if err != nil {
		outcome = "failed"
	}
	c.renewals.WithLabelValues(outcome).Inc()
	c.renewal.Observe(took.Seconds())
}

// Refused implements client.Observer.
func (c *Collector) Refused(_ string, _ fencing.Token, err error) {
	reason := "not_held"
	switch {
	case errors.Is(err, fencing.ErrStale):
		reason = "stale"
	case errors.Is(err, fencing.ErrNotIssued):
		reason = "not_issued"
	}
	c.refusals.WithLabelValues(reason).Inc()
}
