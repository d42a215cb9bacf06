package clustertest

import (
	"context"
	"time"

	"github.com/fencelock/fencelock/cluster"
)

// Leader returns the number of the leader, and waits for one as long as ctx
// allows; without one the test ends. A member that is cut off does not count.
func (c *Cluster) Leader(ctx context.Context) int {
	c.t.Helper()
	leader := -1
	if !until(ctx, func(context.Context) bool { leader = c.leader(); return leader >= 0 }) {
		c.t.Fatalf("no leader: %v", ctx.Err())
	}
	return leader
}

// leader prefers the higher term: an overtaken leader learns of it a little later.
func (c *Cluster) leader() int {
	leader, term := -1, uint64(0)
	for _, i := range c.connected() {
		if m := c.Members[i]; m.IsLeader() && m.Term() > term {
			leader, term = i, m.Term()
		}
	}
	return leader
}

// WaitHealthy waits until every member that is running and not cut off answers a
// linearizable read.
func (c *Cluster) WaitHealthy() {
	c.t.Helper()
	c.await("all members are ready", func(ctx context.Context) bool {
		for _, i := range c.connected() {
			if c.Members[i].Ready(ctx) != nil {
				return false
			}
		}
		return true
	})
}

// connected lists the members that run and are not cut off.
func (c *Cluster) connected() []int {
	return c.which(func(i int, m *cluster.Member) bool { return m != nil && !c.cuts[i] })
}

func (c *Cluster) stopped() []int {
	return c.which(func(_ int, m *cluster.Member) bool { return m == nil })
}

func (c *Cluster) which(is func(int, *cluster.Member) bool) []int {
	var list []int
	for i, m := range c.Members {
		if is(i, m) {
			list = append(list, i)
		}
	}
	return list
}

// poll is how often a condition is looked at that cannot be waited for.
const poll = 10 * time.Millisecond

// await ends the test if the condition does not come true within limit.
func (c *Cluster) await(what string, holds func(context.Context) bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if !until(ctx, holds) {
		c.t.Fatalf("waited %v in vain until %s", limit, what)
	}
}

func until(ctx context.Context, holds func(context.Context) bool) bool {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for !holds(ctx) {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}
