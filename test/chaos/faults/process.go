//go:build linux

package faults

import (
	"context"
	"errors"

	"github.com/fencelock/fencelock/test/chaos/world"
)

func processKinds() []Kind {
	return grouped("process", []string{members}, nil,
		Kind{Name: "kill -9 of the leader", Cost: sessions(aRequest), Do: kill(leader)},
		Kind{Name: "kill -9 of a follower", Cost: nothing(noticed), Do: kill(follower)},
		Kind{Name: "kill -9 of two members", Cost: sessions(aStart + aRequest), Do: kill(two)},
		Kind{Name: "kill -9 of all members", Cost: sessions(aStart + aRequest), Do: kill(everyMember)},
		Kind{Name: "SIGSTOP of the leader", Cost: sessions(silence), Do: stop(leader)},
		Kind{Name: "SIGSTOP of a follower", Cost: nothing(silence), Do: stop(follower)},
		Kind{Name: "SIGSTOP of two members", Cost: sessions(silence), Do: stop(two)},
		Kind{Name: "SIGSTOP of all members", Cost: sessions(silence), Do: stop(everyMember)},
		Kind{Name: "SIGTERM and restart of the leader", Cost: nothing(aRequest), Do: restart(leader)},
	)
}

// kill takes members away by kill -9, and starts them again.
func kill(choose pickMembers) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		victims, err := r.pick(ctx, choose)
		if err != nil {
			return err
		}
		err = each(victims, (*world.Member).Kill)
		return errors.Join(err, r.hold(ctx), start(ctx, victims))
	}
}

// start starts members that have ended, together: none may get ready alone.
func start(ctx context.Context, ended []*world.Member) error {
	if err := each(ended, func(m *world.Member) error { return m.Launch() }); err != nil {
		return err
	}
	return each(ended, func(m *world.Member) error { return m.Ready(ctx) })
}

// stop lets members stand still, for longer than an election and a session take.
func stop(choose pickMembers) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		victims, err := r.pick(ctx, choose)
		if err != nil {
			return err
		}
		err = each(victims, (*world.Member).Pause)
		err = errors.Join(err, r.holdLonger(ctx, r.longer()), each(victims, (*world.Member).Resume))
		return errors.Join(err, r.settle(ctx))
	}
}

// restart ends members one after the other in good order, and starts each again.
func restart(choose pickMembers) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		victims, err := r.pick(ctx, choose)
		if err != nil {
			return err
		}
		return each(victims, func(m *world.Member) error {
			if err := m.Terminate(ctx); err != nil {
				return errors.Join(err, m.Kill(), m.Start(ctx))
			}
			return m.Start(ctx)
		})
	}
}
