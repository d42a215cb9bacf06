//go:build linux

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/chaos/world"
)

// Kind is one kind of fault.
type Kind struct {
	Name  string
	Group string // see the package's comment
	Cost  history.Cost
	Takes []string // what it disturbs: two kinds that share one of these are not run together
	Needs []string // what the machine must allow, see World.Has

	// Do does it, undoes it, and returns when all is in order again.
	Do func(ctx context.Context, r *Run) error
}

// What kinds take.
const (
	members  = "members"
	clients  = "clients"
	network  = "network"
	links    = "links"
	locks    = "locks"
	upkeep   = "history" // that etcd keeps of its keys
	cpu      = "cpu"
	clocks   = "clock"
	postgres = "postgres"
	redis    = "redis"
)

// What kinds need beyond processes and proxies.
const (
	namespaces = "namespaces"
	images     = "loop"
	strace     = "strace"
	ownClocks  = "clock"
)

// Run is one run of a kind.
type Run struct {
	World *world.World
	TTL   time.Duration  // of the clients' sessions; 0: 2 s
	For   time.Duration  // how long the harm is kept up
	Rand  *rand.Rand     // of this run alone
	Fault *history.Fault // its Begin, Victims, Detail, Cost.Since and Cost.SinceEnd are written by Do, and may be read after it
}

// All is every kind, in the order of the groups.
func All() []Kind {
	return slices.Concat(processKinds(), clientKinds(), networkKinds(), linkKinds(), clusterKinds(), snapshotKinds(),
		powerKinds(), syncKinds(), cpuKinds(), clockKinds(), lockKinds(), resourceKinds())
}

// grouped puts kinds into a group that take and need the same.
func grouped(group string, takes, needs []string, kinds ...Kind) []Kind {
	for i := range kinds {
		kinds[i].Group = group
		kinds[i].Takes = append(kinds[i].Takes, takes...)
		kinds[i].Needs = append(kinds[i].Needs, needs...)
	}
	return kinds
}

// Note adds to the fault's detail.
func (r *Run) Note(format string, args ...any) {
	if r.Fault.Detail != "" {
		r.Fault.Detail += "; "
	}
	r.Fault.Detail += fmt.Sprintf(format, args...)
}

// victims adds to the fault's victims those that are not there yet.
func (r *Run) victims(names ...string) {
	for _, name := range names {
		if !slices.Contains(r.Fault.Victims, name) {
			r.Fault.Victims = append(r.Fault.Victims, name)
		}
	}
}
