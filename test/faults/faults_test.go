// Each fault, and how long it may leave everybody without service.

package faults

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/kv"
)

// slack is for a loaded machine; it is part of each bound.
const slack = 3 * time.Second

// The bounds, without it. An election begins after 1 s to 2 s without a word from
// the leader, and one more may follow if the votes are split.
const (
	nothing    = 0
	anElection = 2 * time.Second
)

type fault struct {
	name    string
	bound   time.Duration // without service
	network bool          // of the network
	do      func(t *testing.T, c *members, l *load)
}

var faults = []fault{
	{"kill -9 of the leader", anElection, false, func(t *testing.T, c *members, l *load) {
		leader := c.leader(t)
		l.begin()
		c.running[leader].kill()
		l.await(20)
		c.restart(t, leader)
		c.running[leader].ready(t)
	}},
	{"SIGSTOP of the leader for 8 s", anElection, false, stopLeader},
	{"a follower is cut off", nothing, true, func(t *testing.T, c *members, l *load) {
		i := c.follower(t)
		l.begin()
		c.deaf(t, i)
		c.mute(t, i)
		l.throughout(8 * time.Second)
	}},
	{"a follower hears nothing", nothing, true, func(t *testing.T, c *members, l *load) {
		i := c.follower(t)
		l.begin()
		c.deaf(t, i)
		l.throughout(8 * time.Second)
	}},
	{"a follower is not heard", nothing, true, func(t *testing.T, c *members, l *load) {
		i := c.follower(t)
		l.begin()
		c.mute(t, i)
		l.throughout(8 * time.Second)
	}},
	{"the leader is cut off", anElection, true, func(t *testing.T, c *members, l *load) {
		i := c.leader(t)
		l.begin()
		c.deaf(t, i)
		c.mute(t, i)
		l.throughout(8 * time.Second)
	}},
	{"the leader hears nothing", anElection, true, func(t *testing.T, c *members, l *load) {
		i := c.leader(t)
		l.begin()
		c.deaf(t, i)
		l.throughout(8 * time.Second)
	}},
	{"the leader is not heard", anElection, true, func(t *testing.T, c *members, l *load) {
		i := c.leader(t)
		l.begin()
		c.mute(t, i)
		l.throughout(8 * time.Second)
	}},
	{"the leader's cable is pulled", anElection, true, func(t *testing.T, c *members, l *load) {
		i := c.leader(t)
		l.begin()
		c.unplug(t, i)
		l.throughout(8 * time.Second)
	}},
	{"kill -9 of all", anElection, false, func(t *testing.T, c *members, l *load) {
		l.begin()
		for _, p := range c.running {
			p.kill()
		}
		c.startAll(t)
	}},
}

// A lock that is held stays held, there are never two holders, tokens rise, no
// acknowledged write is lost, and service is back in time: through every fault.
func TestFaults(t *testing.T) {
	var table strings.Builder
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			h := loopback()
			if f.network {
				h = namespaces(t)
			}
			c := startMembers(t, h)
			l := startLoad(t, c.endpoints())
			f.do(t, c, l)
			if f.network {
				h.heal(t)
			}
			l.await(20)
			l.end()
			gap := l.longest.Round(10 * time.Millisecond)
			if limit := f.bound + slack; gap > limit {
				t.Errorf("%v without service, want at most %v", gap, limit)
			}
			fmt.Fprintf(&table, "\n%-32s %7v %6d turns, errors: %v", f.name, gap, l.served, l.failures)
		})
	}
	t.Log("time without service:", table.String())
}

// stopLeader stops the leader for longer than an election and the lock's TTL. When
// it goes on, it has requests in its sockets, and believes that it still leads.
func stopLeader(t *testing.T, c *members, l *load) {
	leader := c.leader(t)
	behind := newClient(t, client.Config{Endpoints: []string{c.endpoint(leader)}, TTL: ttl})
	if err := l.readBehind(t.Context(), behind); err != nil { // so it is connected
		t.Fatal(err)
	}
	l.begin()
	c.running[leader].signal(t, syscall.SIGSTOP)
	l.throughout(8 * time.Second)

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var asking sync.WaitGroup
	var answers atomic.Int64
	for range 4 {
		asking.Go(func() {
			for ctx.Err() == nil {
				if l.readBehind(ctx, behind) == nil {
					answers.Add(1)
				}
			}
		})
	}
	asking.Go(func() { l.tryHeld(ctx, behind) })
	<-time.After(200 * time.Millisecond) // the requests lie in its sockets
	c.running[leader].signal(t, syscall.SIGCONT)
	asking.Wait()
	if answers.Load() == 0 {
		t.Error("the member that was stopped has answered nothing")
	}
	if now := c.leader(t); now == leader {
		t.Error("the member that was stopped leads")
	}
}

// readBehind reads the count through a member that may be behind. An answer from
// what it knew before is wrong, none is not.
func (l *load) readBehind(ctx context.Context, c *client.Client) error {
	least := l.atLeast()
	record, err := kv.Peek(ctx, c.Etcd(), busyLock, "count", kv.Config{})
	if err != nil {
		return err
	}
	if n, _ := strconv.Atoi(string(record.Value)); n < least {
		l.t.Errorf("a stale read: %d, want at least %d", n, least)
	}
	return nil
}
