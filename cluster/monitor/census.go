package monitor

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// pause is the least time from one count to the next, and rest how many times
	// as long as it took: counting takes 5 % of one core at the most.
	pause = 5 * time.Second
	rest  = 20

	// scrapeWait is how long a scrape waits for a count that it has asked for. It
	// is told the last one if that takes longer.
	scrapeWait = 500 * time.Millisecond
)

// Census is what a member counts in its own data, which may lag behind the
// cluster's.
type Census struct {
	Held     int       // locks that somebody holds
	Waiters  int       // claims that wait for a lock or a semaphore
	Permits  int       // claims that hold a semaphore
	Leases   int       // one for each session
	Fences   int       // guards that have admitted a token
	Oldest   time.Time // since when the oldest claim stands, by its owner's clock; zero: there is none
	Revision int64
	Alarms   map[string]bool // by kind: whether a member has raised it
	Ready    bool

	At time.Time // when it was counted; zero: never
}

// Counter counts in the background, when it is asked.
type Counter struct {
	count func(context.Context) (Census, error)
	asked chan struct{} // one message at the most
	done  chan struct{} // closed when Run has ended

	mu     sync.Mutex
	last   Census
	due    time.Time     // before it, the last count is good enough
	counts chan struct{} // closed with the next count, and replaced
}

// NewCounter returns a Counter that does not count until Run is called.
func NewCounter(count func(context.Context) (Census, error)) *Counter {
	return &Counter{count: count, asked: make(chan struct{}, 1), done: make(chan struct{}), counts: make(chan struct{})}
}

// Run counts whenever it is asked, until ctx ends. It is called once.
func (c *Counter) Run(ctx context.Context) {
	defer close(c.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.asked:
		}
		began := time.Now()
		census, err := c.count(ctx)
		c.keep(census, err, began)
	}
}

// keep takes a count. One that failed leaves the last, whose age is a metric.
func (c *Counter) keep(census Census, err error, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due = time.Now().Add(max(pause, rest*time.Since(began)))
	if err == nil {
		c.last = census
		c.last.At = began
	}
	close(c.counts)
	c.counts = make(chan struct{})
}

// errUncounted: the member is not ready, or its first count takes long.
var errUncounted = errors.New("not counted yet")

// current returns the last count, or a new one if that is old and the new one is
// soon there.
func (c *Counter) current() (Census, error) {
	c.mu.Lock()
	fresh, counts := time.Now().Before(c.due), c.counts
	c.mu.Unlock()
	if !fresh {
		c.await(counts)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.At.IsZero() {
		return Census{}, errUncounted
	}
	return c.last, nil
}

func (c *Counter) await(counts <-chan struct{}) {
	select {
	case c.asked <- struct{}{}:
	default: // asked already
	}
	timer := time.NewTimer(scrapeWait)
	defer timer.Stop()
	select {
	case <-counts:
	case <-c.done:
	case <-timer.C:
	}
}
