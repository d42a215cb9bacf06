//go:build linux

package faults

import (
	"context"
	"errors"

	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/chaos/world"
)

// resourceKinds are about the databases behind the fences. What both acknowledge is
// synced, so that it costs nothing; but for a Redis that syncs every second.
func resourceKinds() []Kind {
	kinds := grouped("resource", []string{postgres}, nil,
		Kind{Name: "kill -9 of PostgreSQL", Cost: nothing(0), Do: killResource(ofPostgres)},
		Kind{Name: "SIGSTOP of PostgreSQL", Cost: nothing(0), Do: stopResource(ofPostgres)},
	)
	kinds = append(kinds, grouped("resource", []string{redis}, nil,
		Kind{Name: "kill -9 of Redis", Cost: nothing(0), Do: killResource(ofRedis)},
		Kind{Name: "SIGSTOP of Redis", Cost: nothing(0), Do: stopResource(ofRedis)},
	)...)
	return append(kinds, grouped("resource", []string{redis}, []string{images},
		Kind{Name: "power cut of a Redis that syncs every second", Do: cutRedisPower, Cost: history.Cost{Service: slack,
			Rollback: "redis", Words: "the Redis writes of its last seconds, with the fences that they moved"}},
	)...)
}

func ofPostgres(w *world.World) *world.Resource { return w.Postgres }
func ofRedis(w *world.World) *world.Resource    { return w.Redis }

func killResource(of func(*world.World) *world.Resource) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		victim := of(r.World)
		r.victims(victim.Name)
		return errors.Join(victim.Kill(), r.hold(ctx), victim.Start())
	}
}

func stopResource(of func(*world.World) *world.Resource) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		victim := of(r.World)
		r.victims(victim.Name)
		return errors.Join(victim.Pause(), r.holdLonger(ctx, r.longer()), victim.Resume())
	}
}

// cutRedisPower goes back to a moment after the last sync that was certain: that of
// the end in good order before.
func cutRedisPower(ctx context.Context, r *Run) error {
	victim := r.World.Redis
	r.victims(victim.Name)
	err := victim.Stop()
	r.Fault.Cost.Since = history.Now()
	err = errors.Join(err, victim.Start("--appendfsync", "everysec"), r.hold(ctx))
	err = errors.Join(err, victim.Pause())
	r.Fault.Cost.SinceEnd = history.Now()
	if err == nil {
		err = victim.Disk.Copy()
	}
	if err = errors.Join(err, victim.Kill()); err == nil {
		err = victim.Disk.Restore()
	}
	return errors.Join(err, victim.Start())
}
