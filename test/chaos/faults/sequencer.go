//go:build linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

// sequencers is those of all that hold or wait; there is one at least.
func (r *Run) sequencers(ctx context.Context) (all []fencing.Sequencer, err error) {
	err = until(ctx, "see a claim", func() error {
		within, cancel := context.WithTimeout(ctx, aRequest)
		defer cancel()
		holders, waiters, err := r.claims(within)
		for _, c := range append(holders, waiters...) {
			all = append(all, fencing.Sequencer{Lock: c.lock, Token: fencing.Token(c.token)})
		}
		if err == nil && len(all) == 0 {
			err = errors.New("nobody is there")
		}
		return err
	})
	return all, err
}

// outdated tries each sequencer, which an empty or restored cluster must refuse. Traffic
// hardly ever does: holders are told long before the members are back.
func (r *Run) outdated(ctx context.Context, old []fencing.Sequencer) error {
	late, err := client.New(client.Config{Endpoints: r.World.Etcd().Endpoints(), DialTimeout: aRequest})
	if err != nil {
		return err
	}
	err = each(old, func(seq fencing.Sequencer) error {
		return until(ctx, "try "+seq.String(), func() error { return refusedTo(ctx, late, seq) })
	})
	r.Note("old sequencers tried: %d", len(old))
	return errors.Join(err, late.Close())
}

// errAdmitted is no error that another try mends.
var errAdmitted = errors.New("was admitted after the cluster has begun anew")

func refusedTo(ctx context.Context, late *client.Client, seq fencing.Sequencer) error {
	within, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	kv, err := late.KV(seq)
	if err != nil {
		return err
	}
	_, err = kv.Get(within, "n") // a read claims the fence
	switch {
	case err == nil:
		return fmt.Errorf("%s %w", seq, errAdmitted)
	case errors.Is(err, fencing.ErrStale), errors.Is(err, fencing.ErrNotHeld), errors.Is(err, fencing.ErrNotIssued):
		return nil
	}
	return err
}
