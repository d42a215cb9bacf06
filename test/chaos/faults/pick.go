//go:build linux

package faults

import (
	"context"
	"slices"

	"github.com/fencelock/fencelock/test/chaos/world"
)

// pickMembers chooses the members that a kind is about.
type pickMembers func(ctx context.Context, r *Run) ([]*world.Member, error)

func leader(ctx context.Context, r *Run) ([]*world.Member, error) {
	m, err := r.World.Leader(ctx)
	return []*world.Member{m}, err
}

func follower(ctx context.Context, r *Run) ([]*world.Member, error) {
	m, err := r.World.Follower(ctx, r.Rand)
	return []*world.Member{m}, err
}

func two(ctx context.Context, r *Run) ([]*world.Member, error) {
	return some(r, r.World.Members, 2), nil
}

func everyMember(ctx context.Context, r *Run) ([]*world.Member, error) { return r.World.Members, nil }

// some is so many of all, at random.
func some[T any](r *Run, all []T, n int) []T {
	mixed := slices.Clone(all)
	r.Rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	return mixed[:min(n, len(mixed))]
}

// pickClients chooses client processes.
type pickClients func(r *Run) []*world.Client

func oneClient(r *Run) []*world.Client   { return some(r, r.World.Clients, 1) }
func twoClients(r *Run) []*world.Client  { return some(r, r.World.Clients, 2) }
func everyClient(r *Run) []*world.Client { return r.World.Clients }

// pick chooses members and writes them down as victims.
func (r *Run) pick(ctx context.Context, choose pickMembers) ([]*world.Member, error) {
	chosen, err := choose(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, m := range chosen {
		r.victims(m.Name)
	}
	return chosen, nil
}

// pickClients chooses clients and writes them down as victims.
func (r *Run) pickClients(choose pickClients) []*world.Client {
	chosen := choose(r)
	for _, c := range chosen {
		r.victims(c.Name)
	}
	return chosen
}

// others is the members but one.
func (r *Run) others(m *world.Member) []*world.Member {
	return slices.DeleteFunc(slices.Clone(r.World.Members), func(other *world.Member) bool { return other == m })
}
