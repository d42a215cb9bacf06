package netfault

import (
	"context"
	"fmt"
	"sync"
)

type counter int

const (
	connections counter = iota
	bytesUp
	bytesDown
)

func (c counter) String() string {
	return [...]string{"connections", "bytes up", "bytes down"}[c]
}

// counts only rise, so that whoever waits for a number cannot miss it.
type counts struct {
	mu      sync.Mutex
	n       [bytesDown + 1]int64
	changed chan struct{} // closed and replaced when n changes
}

func newCounts() *counts { return &counts{changed: make(chan struct{})} }

func (c *counts) add(which counter, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[which] += n
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *counts) get(which counter) int64 {
	n, _ := c.look(which)
	return n
}

func (c *counts) look(which counter) (int64, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[which], c.changed
}

func (c *counts) await(ctx context.Context, which counter, want int64) error {
	for {
		got, changed := c.look(which)
		if got >= want {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("await %d %s, got %d: %w", want, which, got, context.Cause(ctx))
		}
	}
}
