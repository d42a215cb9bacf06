//go:build !linux

package client

import (
	"sync"
	"time"
)

// twinClock reads the monotonic clock, which stands still in suspend on some
// systems, beside the wall clock, which can be set back, and moves by whichever
// ran further. A wall clock set forward makes locks end early, never late.
type twinClock struct {
	mu   sync.Mutex
	last time.Time // of the reading before
	ran  time.Duration
}

func (c *twinClock) now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.ran += max(now.Sub(c.last), now.Round(0).Sub(c.last.Round(0)), 0)
	c.last = now
	return c.ran
}

func newClock() clock { return &twinClock{last: time.Now()} }
