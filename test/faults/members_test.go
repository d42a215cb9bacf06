//go:build linux

// A cluster of three processes, each on a host of its own.

package faults

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/test/chaos/world"

	"github.com/fencelock/fencelock/test/testbinary"
)

type members struct {
	hosts *world.Hosts
	all   []*world.Member
}

// newMembers makes hosts whose network can be cut, and disks that can be filled,
// for faults that need them; both take root.
func newMembers(t *testing.T, f fault) *members {
	t.Helper()
	if (f.network || f.disks) && os.Geteuid() != 0 {
		t.Skip("network namespaces and disks need root")
	}
	c := &members{hosts: world.Loopback(3, 0)}
	if f.network {
		c.hosts = namespaces(t)
	}
	folder := t.TempDir()
	for i := range c.hosts.Members {
		m := c.hosts.NewMember(i, newDisk(t, folder, fmt.Sprintf("disk%d", i+1), f.disks), testbinary.Path())
		t.Cleanup(func() { _ = m.Kill() })
		c.all = append(c.all, m)
	}
	return c
}

func namespaces(t *testing.T) *world.Hosts {
	t.Helper()
	h, err := world.Namespaces(3, 0)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (c *members) endpoints() (all []string) {
	for _, m := range c.all {
		all = append(all, m.Endpoint)
	}
	return all
}

// start starts members that have ended, together: none gets ready alone.
func (c *members) start(t *testing.T, which ...*world.Member) {
	t.Helper()
	for _, m := range which {
		if err := m.Launch(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	for _, m := range which {
		if err := m.Ready(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// kill is kill -9.
func (c *members) kill(t *testing.T, which ...*world.Member) {
	t.Helper()
	for _, m := range which {
		if err := m.Kill(); err != nil {
			t.Fatal(err)
		}
	}
}

// leader is the member that leads, as it says itself.
func (c *members) leader(t *testing.T) int {
	t.Helper()
	etcd := newClient(t, client.Config{Endpoints: c.endpoints()}).Etcd()
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; ctx.Err() == nil; <-tick.C {
		for i, m := range c.all {
			s, err := etcd.Status(ctx, m.Endpoint)
			if err == nil && s.Leader == s.Header.MemberId {
				return i
			}
		}
	}
	t.Fatal("no leader")
	return -1
}

func (c *members) follower(t *testing.T) int {
	t.Helper()
	return (c.leader(t) + 1) % len(c.all)
}

func newClient(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
