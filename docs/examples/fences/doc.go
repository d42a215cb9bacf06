// Package fences holds the examples of docs/fencing.md, one file for each resource.
// Its tests run them on real systems, and hold the document to them letter by letter.
package fences

import (
	"context"

	"github.com/fencelock/fencelock/client"
)

// overtaken has two holders of a lock work one after the other, and then the first
// one come back: it was paused, and does not know. It returns what that got.
func overtaken(ctx context.Context, locks *client.Client, lock string, work func(context.Context) error) error {
	var late context.Context // carries the first holder's sequencer
	for range 2 {
		err := locks.Do(ctx, lock, func(ctx context.Context, _ *client.Lock) error {
			if late == nil {
				late = context.WithoutCancel(ctx)
			}
			return work(ctx)
		})
		if err != nil {
			return err
		}
	}
	return work(late)
}
