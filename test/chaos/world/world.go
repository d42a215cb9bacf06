//go:build linux

package world

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/chaos/traffic"
	"github.com/fencelock/fencelock/test/netfault"
)

// Options is what a world is made of.
type Options struct {
	Folder  string         // of what the run keeps: histories, the clients' files
	Clients int            // client processes at a time; default 5
	Binary  string         // the program that members run
	Self    []string       // the command of a client process, "client" is added
	Traffic traffic.Config // of every client; Client, History, Endpoints, Postgres, Redis and Folder are filled in
	Output  io.Writer      // a line for every step of New and Close; nil: none
}

// World is a cluster, its clients and what stands between and behind them.
type World struct {
	Hosts           *Hosts
	Members         []*Member
	Clients         []*Client         // none is started by New
	Links           []*netfault.Proxy // before each member, in the order of Members
	Postgres, Redis *Resource
}

// New makes a world whose members are ready. ctx is for the making only.
func New(ctx context.Context, o Options) (*World, error) { return nil, errors.ErrUnsupported }

// Close ends everything and removes it. It may be called twice.
func (w *World) Close() error { return errors.ErrUnsupported }

// Has tells whether this machine allows it: "root", "namespaces", "loop" (images
// as disks), "strace".
func (w *World) Has(need string) bool { return false }

// Etcd goes straight to the members, from outside.
func (w *World) Etcd() *clientv3.Client { return nil }

// Leader waits for a member that leads, as it says itself and a majority has agreed.
func (w *World) Leader(ctx context.Context) (*Member, error) { return nil, errors.ErrUnsupported }

// Follower waits for a leader and returns one of the others.
func (w *World) Follower(ctx context.Context, r *rand.Rand) (*Member, error) {
	return nil, errors.ErrUnsupported
}

// Settle waits until every member is ready and all agree on the leader. It heals
// nothing: another fault may be under way.
func (w *World) Settle(ctx context.Context) error { return errors.ErrUnsupported }

// CLI runs a command of the program to its end, on the members' own addresses
// unless args name --endpoints.
func (w *World) CLI(ctx context.Context, args ...string) (stdout string, err error) {
	return "", errors.ErrUnsupported
}

// Final runs one more client, outside, which takes every lock, reads everything
// and ends, and returns its history.
func (w *World) Final(ctx context.Context) (history string, err error) {
	return "", errors.ErrUnsupported
}

// Facts reads the state of the cluster; the members have settled.
func (w *World) Facts(ctx context.Context) (history.Facts, error) {
	return history.Facts{}, errors.ErrUnsupported
}
