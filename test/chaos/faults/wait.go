//go:build linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// again is how long a step that could not be done waits for its next try.
const again = 200 * time.Millisecond

// wait returns after d, or with the reason for which ctx has ended.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// hold keeps the harm up.
func (r *Run) hold(ctx context.Context) error { return wait(ctx, r.For) }

// holdLonger keeps it up for that long at least.
func (r *Run) holdLonger(ctx context.Context, least time.Duration) error {
	return wait(ctx, max(r.For, least))
}

// between is a random time.
func (r *Run) between(least, most time.Duration) time.Duration {
	return least + time.Duration(r.Rand.Int64N(int64(most-least)+1))
}

// repeat does something over and over, with pauses, for Run.For, and at least once.
func (r *Run) repeat(ctx context.Context, pause time.Duration, what func() error) error {
	for end := time.Now().Add(r.For); ; {
		if err := what(); err != nil {
			return err
		}
		if time.Until(end) < pause {
			return wait(ctx, max(time.Until(end), 0))
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
	}
}

// until tries a step until it is done, since another fault may be in its way.
func until(ctx context.Context, what string, step func() error) error {
	for {
		err := step()
		if err == nil {
			return nil
		}
		if errors.Is(err, errAdmitted) {
			return err
		}
		if late := wait(ctx, again); late != nil {
			return fmt.Errorf("%s: %w", what, errors.Join(err, late))
		}
	}
}

// settle waits until all members are in order. One that has ended is perhaps
// another fault's, which starts it again.
func (r *Run) settle(ctx context.Context) error {
	return until(ctx, "settle", func() error { return r.World.Settle(ctx) })
}

// undoable does something to all that can be undone, and returns what undoes it for
// those that it was done to.
func undoable[T any](all []T, what func(T) (undo func() error, err error)) (undo func() error, err error) {
	var done []func() error
	err = each(all, func(one T) error {
		undo, err := what(one)
		if err == nil {
			done = append(done, undo)
		}
		return err
	})
	return func() error { return each(done, func(undo func() error) error { return undo() }) }, err
}

// each does something for all, and returns what went wrong.
func each[T any](all []T, what func(T) error) error {
	var errs []error
	for _, one := range all {
		errs = append(errs, what(one))
	}
	return errors.Join(errs...)
}
