//go:build linux

// What goes on in the cluster while it is broken, and what must hold all along.

package faults

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
)

const (
	// ttl is that of all sessions.
	ttl = 5 * time.Second

	// heldLock is held by one client throughout; busyLock goes round between two.
	heldLock, busyLock = "held", "busy"

	// tellTime is "within about a second", in which a holder learns that somebody
	// else has ended its claim, and slack for a loaded machine.
	tellTime = 3 * time.Second
)

// load is a client that holds a lock; one that tries to get it; and two that lock,
// write behind the fence and unlock, over and over.
type load struct {
	t       *testing.T
	mayLose bool // a session may end though it is renewed; its holder is told within tellTime
	held    *client.Lock
	prober  *client.Client
	stop    context.CancelFunc
	work    sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when a worker was served

	served   int
	last     time.Time // when a worker was served
	longest  time.Duration
	failures map[string]int // requests that ended with an error, by what it was

	holder *client.Lock // of busyLock; nil: given back
	token  int64        // the highest of busyLock
	// The count behind the fence: what was acknowledged or read, below which it may
	// never fall, and what was sent.
	acknowledged, sent int
}

func startLoad(t *testing.T, endpoints []string, mayLose bool) *load {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	l := &load{t: t, mayLose: mayLose, stop: stop, changed: make(chan struct{}), failures: map[string]int{}, last: time.Now()}
	cfg := client.Config{Endpoints: endpoints, TTL: ttl}
	var err error
	if l.held, err = newClient(t, cfg).Lock(ctx, heldLock); err != nil {
		t.Fatal(err)
	}
	l.prober = newClient(t, cfg)
	l.work.Go(func() { l.probe(ctx) })
	for range 2 {
		worker := newClient(t, cfg)
		l.work.Go(func() { l.worker(ctx, worker) })
	}
	t.Cleanup(func() { stop(); l.work.Wait() })
	l.await(20)
	return l
}

// probe looks for a second holder of heldLock.
func (l *load) probe(ctx context.Context) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for ; ctx.Err() == nil; <-tick.C {
		l.tryHeld(ctx, l.prober)
	}
}

func (l *load) tryHeld(ctx context.Context, c *client.Client) {
	second, err := c.TryLock(ctx, heldLock)
	if err == nil && !l.over(l.held) {
		l.t.Errorf("two holders of %s: tokens %v and %v", heldLock, l.held.Token(), second.Token())
	}
}

// over reports whether a lock has ended, now or, where it may be lost, in the time in
// which its holder is told.
func (l *load) over(lock *client.Lock) bool {
	if !l.mayLose {
		return lock.Err() != nil
	}
	select {
	case <-lock.Done():
		return true
	case <-time.After(tellTime):
		return false
	}
}

func (l *load) worker(ctx context.Context, c *client.Client) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ; ctx.Err() == nil; <-tick.C {
		if err := l.turn(ctx, c); ctx.Err() == nil {
			l.note(err)
		}
	}
}

// turn is one lock, write and unlock.
func (l *load) turn(ctx context.Context, c *client.Client) error {
	lock, err := c.Lock(ctx, busyLock)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	l.enter(lock)
	err = l.increment(ctx, lock)
	l.leave(lock)
	within, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	return errors.Join(err, lock.Unlock(within))
}

// enter is called by whoever has got busyLock.
func (l *load) enter(lock *client.Lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holder != nil && !l.over(l.holder) {
		l.t.Errorf("two holders of %s: tokens %v and %v", busyLock, l.holder.Token(), lock.Token())
	}
	if int64(lock.Token()) <= l.token {
		l.t.Errorf("token %v was issued after %v", lock.Token(), l.token)
	}
	l.holder, l.token = lock, int64(lock.Token())
}

// leave is called before the lock is given back.
func (l *load) leave(lock *client.Lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holder == lock {
		l.holder = nil
	}
}

// increment adds one to the count behind the fence.
func (l *load) increment(ctx context.Context, lock *client.Lock) error {
	record, err := lock.KV().Get(ctx, "count")
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	n, _ := strconv.Atoi(string(record.Value)) // 0 at the beginning
	l.read(n)
	if _, err := lock.KV().Put(ctx, "count", []byte(strconv.Itoa(n+1))); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged = max(l.acknowledged, n+1)
	return nil
}

// read checks the count, which somebody will write one more of.
func (l *load) read(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < l.acknowledged || n > l.sent {
		l.t.Errorf("the count is %d, want %d to %d: acknowledged, or sent", n, l.acknowledged, l.sent)
	}
	l.acknowledged, l.sent = max(l.acknowledged, n), max(l.sent, n+1)
}

// note is told how a turn ended.
func (l *load) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failures[kind(err)]++
		return
	}
	l.longest = max(l.longest, time.Since(l.last))
	l.last = time.Now()
	l.served++
	close(l.changed)
	l.changed = make(chan struct{})
}

// kind sorts the errors that a fault may cause; whatever else is told in full.
func kind(err error) string {
	switch {
	case errors.Is(err, client.ErrUncertain):
		return "outcome unknown"
	case errors.Is(err, client.ErrLost):
		return "lost"
	case errors.Is(err, client.ErrUnavailable):
		return "unavailable"
	}
	return err.Error()
}

// begin is called when the fault begins: the time without service counts from the
// last success before that.
func (l *load) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.longest = 0
}

func (l *load) state() (served int, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.served, l.changed
}

// await returns after this many turns from now on.
func (l *load) await(turns int) {
	l.t.Helper()
	served, _ := l.state()
	goal, deadline := served+turns, time.After(testTime)
	for {
		served, changed := l.state()
		if served >= goal {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			l.mu.Lock()
			defer l.mu.Unlock()
			l.t.Fatalf("no service for %v; errors: %v", time.Since(l.last), l.failures)
		}
	}
}

// throughout returns when that much time has passed and service was there after it.
func (l *load) throughout(d time.Duration) {
	l.t.Helper()
	<-time.After(d)
	l.await(5)
}

// atLeast is the count that whoever reads now must find.
func (l *load) atLeast() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acknowledged
}

// end stops everything, and checks that nothing was lost.
func (l *load) end() {
	l.t.Helper()
	l.stop()
	l.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	if l.mayLose && errors.Is(l.held.Err(), client.ErrLost) {
		l.t.Log("the lock that was held throughout was lost, and its holder told")
	} else {
		l.endHeld(ctx)
	}
	last, err := l.prober.Lock(ctx, busyLock)
	if err != nil {
		l.t.Fatal(err)
	}
	l.enter(last)
	if err := l.increment(ctx, last); err != nil {
		l.t.Error(err)
	}
}

// endHeld uses and gives back the lock that was held throughout.
func (l *load) endHeld(ctx context.Context) {
	l.t.Helper()
	if err := l.held.Err(); err != nil {
		l.t.Errorf("the lock that was held throughout: %v", err)
	}
	if _, err := l.held.KV().Put(ctx, "k", []byte("v")); err != nil {
		l.t.Errorf("a write by who held the lock throughout: %v", err)
	}
	if err := l.held.Unlock(ctx); err != nil {
		l.t.Errorf("give back the lock that was held throughout: %v", err)
	}
}
