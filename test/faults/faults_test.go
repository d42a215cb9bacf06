//go:build linux

// Each fault, and how long it may leave everybody without service.

package faults

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/kv"
)

// slack is for a loaded machine; it is part of each bound.
const slack = 3 * time.Second

// The bounds, without it.
const (
	// anElection begins after 1 s to 2 s without a word from the leader.
	anElection = 2 * time.Second

	// aRequest is the longest that one without an answer takes, by default: a write
	// that was on its way to a leader that dies, for instance.
	aRequest = 5 * time.Second

	// noticed is when a member that is cut off knows it, within an election, and has
	// then sent away the requests that wait there: 1.5 elections.
	noticed = 3500 * time.Millisecond

	// silence is how long a client keeps a connection on which nothing comes, though
	// the other side's system answers, see Client.etcd; and one request in between.
	silence = 13*time.Second + aRequest

	// aStart is that of three processes, and an election.
	aStart = 2*time.Second + anElection
)

type fault struct {
	name    string
	bound   time.Duration // without service
	network bool          // of the network
	disks   bool          // each member has a small disk of its own
	mayLose bool          // etcd: a leader that wakes may end leases that it believes to have expired
	do      func(t *testing.T, c *members, l *load)
}

func listFaults() []fault {
	whole := func(what func(*members, *testing.T) int, how ...func(*members, *testing.T, int)) func(*testing.T, *members, *load) {
		return func(t *testing.T, c *members, l *load) {
			i := what(c, t)
			l.begin()
			for _, cut := range how {
				cut(c, t, i)
			}
			l.throughout(6 * time.Second) // longer than the lock's TTL
		}
	}
	leader, follower := (*members).leader, (*members).follower
	deaf, mute := (*members).deaf, (*members).mute
	return []fault{
		{name: "kill -9 of the leader", bound: aRequest, do: killLeader},
		{name: "SIGSTOP of the leader", bound: silence, mayLose: true, do: stopLeader},
		{name: "kill -9 of all", bound: aStart, do: killAll},
		{name: "a follower is cut off", bound: noticed, network: true, do: whole(follower, deaf, mute)},
		{name: "a follower hears nobody", bound: noticed, network: true, do: whole(follower, deaf)},
		{name: "a follower is not heard", bound: noticed, network: true, do: whole(follower, mute)},
		{name: "the leader is cut off", bound: aRequest, network: true, do: whole(leader, deaf, mute)},
		{name: "the leader hears nobody", bound: aRequest, network: true, do: whole(leader, deaf)},
		{name: "the leader is not heard", bound: aRequest, network: true, do: whole(leader, mute)},
		{name: "the leader's cable is pulled", bound: aRequest, network: true, do: whole(leader, (*members).unplug)},
		{name: "a disk is lost", bound: anElection, do: loseDisk},
		{name: "all stop, one is wiped", bound: aStart, do: wipeFirst},
		{name: "the leader's disk is full", bound: aRequest, disks: true, do: fillDisk},
	}
}

// A lock that is held stays held, or its loss is told where it may be lost, there are never two holders, tokens rise, no
// acknowledged write is lost, and service is back in time: through every fault.
func TestFaults(t *testing.T) {
	var table strings.Builder
	for _, f := range listFaults() {
		t.Run(f.name, func(t *testing.T) {
			c := newMembers(t, f)
			c.start(t, c.all...)
			l := startLoad(t, c.endpoints(), f.mayLose)
			f.do(t, c, l)
			c.heal(t)
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

func killLeader(t *testing.T, c *members, l *load) {
	leader := c.all[c.leader(t)]
	l.begin()
	c.kill(t, leader)
	l.await(20)
	c.start(t, leader)
}

func killAll(t *testing.T, c *members, l *load) {
	l.begin()
	c.kill(t, c.all...)
	c.start(t, c.all...)
}

// stopLeader stops the leader for longer than an election and the lock's TTL. When
// it goes on, it has requests in its sockets, and believes that it still leads.
func stopLeader(t *testing.T, c *members, l *load) {
	leader := c.all[c.leader(t)]
	behind := newClient(t, client.Config{Endpoints: []string{leader.Endpoint}, TTL: ttl})
	if err := l.readBehind(t.Context(), behind); err != nil { // so it is connected
		t.Fatal(err)
	}
	l.begin()
	if err := leader.Pause(); err != nil {
		t.Fatal(err)
	}
	l.throughout(6 * time.Second)

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
	if err := leader.Resume(); err != nil {
		t.Fatal(err)
	}
	asking.Wait()
	if answers.Load() == 0 {
		t.Error("the member that was stopped has answered nothing")
	}
	if c.all[c.leader(t)] == leader {
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
