//go:build linux

// Members that do not hear each other.

package faults

import (
	"testing"

	"github.com/fencelock/fencelock/test/chaos/world"
)

// lose lets the packets from one address to another vanish, in this direction.
func (c *members) lose(t *testing.T, from, to string) {
	t.Helper()
	if _, err := c.hosts.Lose(from, to); err != nil {
		t.Fatal(err)
	}
}

// deaf cuts member i off from what the others say.
func (c *members) deaf(t *testing.T, i int) {
	t.Helper()
	for j, other := range c.all {
		if j != i {
			c.lose(t, other.Host.Address, c.all[i].Host.Address)
		}
	}
}

// mute keeps what member i says from the others.
func (c *members) mute(t *testing.T, i int) {
	t.Helper()
	for j, other := range c.all {
		if j != i {
			c.lose(t, c.all[i].Host.Address, other.Host.Address)
		}
	}
}

// unplug pulls the cable of member i.
func (c *members) unplug(t *testing.T, i int) {
	t.Helper()
	c.lose(t, c.all[i].Host.Address, world.Everywhere)
	c.lose(t, world.Everywhere, c.all[i].Host.Address)
}

// heal lets all packets through again.
func (c *members) heal(t *testing.T) {
	t.Helper()
	if err := c.hosts.Heal(); err != nil {
		t.Error(err)
	}
}
