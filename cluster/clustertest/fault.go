package clustertest

import (
	"context"
	"fmt"

	"github.com/fencelock/fencelock/cluster"
)

// Stop closes member i: it hands leadership over and finishes its requests.
func (c *Cluster) Stop(i int) {
	c.t.Helper()
	c.end(i, (*cluster.Member).Close)
}

// Kill stops member i as abruptly as the process allows, see
// [cluster.Member.Kill]. The others take an election time-out to notice.
func (c *Cluster) Kill(i int) {
	c.t.Helper()
	c.end(i, (*cluster.Member).Kill)
}

func (c *Cluster) end(i int, stop func(*cluster.Member) error) {
	c.t.Helper()
	m := c.Members[i]
	if m == nil {
		c.t.Fatalf("stop member %d: it is stopped already", i)
	}
	c.Members[i] = nil
	if err := stop(m); err != nil {
		c.t.Fatalf("stop member %d: %v", i, err)
	}
}

// Restart starts the members given, or all that are stopped if none is, in their
// folders and on their ports, and waits until they are ready: a member that needs
// another one for that has to be restarted together with it.
func (c *Cluster) Restart(members ...int) {
	c.t.Helper()
	if len(c.cuts) > 0 {
		c.t.Fatalf("restart: heal members %v first; a member that starts knows of no cut", c.cuts)
	}
	if len(members) == 0 {
		members = c.stopped()
	}
	if err := c.start(members); err != nil {
		c.t.Fatalf("restart: %v", err)
	}
}

// Cut cuts member i off from the others, both ways; clients reach it as before.
// For up to an election time-out nobody notices: a leader goes on acknowledging
// renewals, and one that is not passes them on. Isolate waits that out.
func (c *Cluster) Cut(i int) {
	c.t.Helper()
	if c.Members[i] == nil {
		c.t.Fatalf("cut member %d: it is stopped", i)
	}
	c.cuts[i] = true
	c.eachLink(i, (*cluster.Member).CutPeer)
}

// Isolate cuts member i off and waits until it knows that it has no leader, and
// until the others, if they are a majority, are healthy.
func (c *Cluster) Isolate(i int) {
	c.t.Helper()
	c.Cut(i)
	c.await(fmt.Sprintf("member %d has no leader", i), func(context.Context) bool {
		return c.Members[i].Leader() == 0
	})
	c.settle()
}

// Heal ends the cut of member i and waits until the connected members, if they
// are a majority, are healthy.
func (c *Cluster) Heal(i int) {
	c.t.Helper()
	c.eachLink(i, (*cluster.Member).MendPeer)
	delete(c.cuts, i)
	c.settle()
}

func (c *Cluster) settle() {
	c.t.Helper()
	if 2*len(c.connected()) > len(c.Members) {
		c.WaitHealthy()
	}
}

// eachLink acts on both ends of every link between i and a member that is not
// cut off itself; an end that is stopped has nothing to act on.
func (c *Cluster) eachLink(i int, act func(m *cluster.Member, peer uint64)) {
	for j := range c.Members {
		if j != i && !c.cuts[j] {
			c.act(i, j, act)
			c.act(j, i, act)
		}
	}
}

func (c *Cluster) act(i, j int, act func(m *cluster.Member, peer uint64)) {
	if m := c.Members[i]; m != nil {
		act(m, c.ids[j])
	}
}
