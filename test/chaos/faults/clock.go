//go:build linux

package faults

import (
	"context"
	"errors"
	"time"

	"github.com/fencelock/fencelock/test/chaos/world"
)

// clockKinds cost nothing: no member and no client may measure by the wall clock.
func clockKinds() []Kind {
	return grouped("clock", []string{clocks}, []string{ownClocks},
		Kind{Name: "a member's clock jumps ahead by an hour", Cost: nothing(0), Do: setClocks(oneMemberName, time.Hour)},
		Kind{Name: "a member's clock jumps back by an hour", Cost: nothing(0), Do: setClocks(oneMemberName, -time.Hour)},
		Kind{Name: "all members' clocks jump ahead by an hour", Cost: nothing(0), Do: setClocks(memberNames, time.Hour)},
		Kind{Name: "all members' clocks jump back by an hour", Cost: nothing(0), Do: setClocks(memberNames, -time.Hour)},
		Kind{Name: "a client's clock jumps ahead by an hour", Cost: nothing(0), Do: setClocks(oneClientName, time.Hour)},
		Kind{Name: "a client's clock jumps back by an hour", Cost: nothing(0), Do: setClocks(oneClientName, -time.Hour)},
		Kind{Name: "all clocks jump to and fro", Cost: nothing(0), Do: shakeClocks},
	)
}

func memberNames(r *Run) (names []string) {
	for _, m := range r.World.Members {
		names = append(names, m.Name)
	}
	return names
}

func clientNames(clients []*world.Client) (names []string) {
	for _, c := range clients {
		names = append(names, c.Name)
	}
	return names
}

func oneMemberName(r *Run) []string { return some(r, memberNames(r), 1) }
func oneClientName(r *Run) []string { return some(r, clientNames(r.World.Clients), 1) }

// setClocks makes clocks fast, and right again.
func setClocks(choose func(*Run) []string, fast time.Duration) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		names := choose(r)
		r.victims(names...)
		set := func(fast time.Duration) error {
			return each(names, func(name string) error { return r.World.Clocks.Set(name, fast) })
		}
		return errors.Join(set(fast), r.hold(ctx), set(0))
	}
}

// shakeClocks sets every clock to another time, up to an hour off, again and again.
func shakeClocks(ctx context.Context, r *Run) error {
	names := append(memberNames(r), clientNames(r.World.Clients)...)
	r.victims(names...)
	err := r.repeat(ctx, 300*time.Millisecond, func() error {
		return each(names, func(name string) error { return r.World.Clocks.Set(name, r.between(-time.Hour, time.Hour)) })
	})
	return errors.Join(err, each(names, func(name string) error { return r.World.Clocks.Set(name, 0) }))
}
