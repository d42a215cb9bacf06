//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/fencelock/fencelock/test/chaos/faults"
	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/chaos/world"
)

const (
	// A fault is held for so long, if its kind does not need longer.
	leastHeld, mostHeld = 500 * time.Millisecond, 3 * time.Second

	// patience bounds one round: members that start, catch up, elect.
	patience = 2 * time.Minute

	// recovery is how long service may be away once everything is healed: TTLs of
	// holders that died, a leader's election, leases that it starts anew, requests
	// that are still being given up.
	recovery = time.Minute
)

// rounds does faults to a world until ctx ends.
type rounds struct {
	world    *world.World
	progress *progress
	nemesis  *nemesis
	targets  []string
	ttl      time.Duration
	output   io.Writer

	done []history.Fault
}

// run returns an error when the next round would make no sense.
func (r *rounds) run(ctx context.Context) error {
	for round := 1; ctx.Err() == nil; round++ {
		if err := r.round(round, r.nemesis.round()); err != nil {
			return err
		}
	}
	return nil
}

// round is not cut short: a fault that was begun is undone.
func (r *rounds) round(number int, kinds []faults.Kind) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	records := make([]history.Fault, len(kinds))
	var doing sync.WaitGroup
	for i, kind := range kinds {
		records[i] = history.Fault{Kind: kind.Name, Group: kind.Group, Round: number, Cost: kind.CostWith(r.ttl)}
		run := &faults.Run{World: r.world, Fault: &records[i], TTL: r.ttl,
			For:  leastHeld + time.Duration(r.nemesis.rand.Int64N(int64(mostHeld-leastHeld))),
			Rand: rand.New(rand.NewPCG(r.nemesis.rand.Uint64(), uint64(number)))}
		doing.Go(func() { do(ctx, kind, run) })
	}
	doing.Wait()
	err := r.recover(ctx, records)
	r.done = append(r.done, records...)
	for _, f := range records {
		fmt.Fprintf(r.output, "%4d  %-44s %6s + %5s  %s\n", number, f.Kind, seconds(f.Healed.Sub(f.Begin)), seconds(f.End.Sub(f.Healed)), strings.TrimSpace(f.Detail+" "+f.Error))
	}
	return err
}

func do(ctx context.Context, kind faults.Kind, run *faults.Run) {
	run.Fault.Begin = history.Now()
	if err := kind.Do(ctx, run); err != nil {
		run.Fault.Error = err.Error()
	}
	run.Fault.Healed = history.Now()
}

// recover waits until everybody is served again.
func (r *rounds) recover(ctx context.Context, records []history.Fault) error {
	healed := history.Now()
	err := r.world.Settle(ctx)
	if err == nil {
		within, cancel := context.WithTimeout(ctx, recovery+r.ttl)
		defer cancel()
		err = r.progress.served(within, healed, r.targets)
	}
	for i := range records {
		records[i].End = history.Now()
		if err != nil {
			records[i].Error = errors.Join(toError(records[i].Error), fmt.Errorf("service did not come back: %w", err)).Error()
		}
	}
	if err != nil {
		return fmt.Errorf("after %s: %w", records[0].Kind, err)
	}
	return nil
}

func toError(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
