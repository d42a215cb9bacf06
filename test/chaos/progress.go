//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// progress follows the clients' histories, and knows what was served when.
type progress struct {
	paths func() []string

	mu           sync.Mutex
	follower     *history.Follower
	acknowledged map[string]int          // operations on data, by target
	latest       map[string]history.Time // the latest call that was acknowledged, by target
}

func newProgress(paths func() []string) *progress {
	return &progress{paths: paths, follower: history.NewFollower(), acknowledged: map[string]int{}, latest: map[string]history.Time{}}
}

func (p *progress) poll() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.follower.Poll(p.paths(), func(o history.Op) {
		if !o.Data() || o.Outcome != history.OK {
			return
		}
		target := history.Target(o.Lock)
		p.acknowledged[target]++
		p.latest[target] = max(p.latest[target], o.Call)
	})
}

// ops is everything, after a last look.
func (p *progress) ops() ([]history.Op, error) {
	if err := p.poll(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.follower.Ops(), nil
}

// served waits until each target has acknowledged an operation that was sent after
// since.
func (p *progress) served(ctx context.Context, since history.Time, targets []string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := p.poll(); err != nil {
			return err
		}
		waiting := p.unserved(since, targets)
		if len(waiting) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: no operation was acknowledged: %w", strings.Join(waiting, ", "), ctx.Err())
		}
	}
}

func (p *progress) unserved(since history.Time, targets []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var waiting []string
	for _, target := range targets {
		if p.latest[target] <= since {
			waiting = append(waiting, target)
		}
	}
	return waiting
}

// String is the acknowledged operations by target.
func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parts []string
	for _, target := range slices.Sorted(maps.Keys(p.acknowledged)) {
		parts = append(parts, fmt.Sprintf("%s %d", target, p.acknowledged[target]))
	}
	return strings.Join(parts, ", ")
}
