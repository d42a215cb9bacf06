package fences

import (
	"context"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

func inKV(ctx context.Context, locks *client.Client) error {
	setBalance := func(ctx context.Context) error {
		seq, err := fencing.ForGuard(ctx, "accounts/42")
		if err != nil {
			return err
		}
		records, err := locks.KV(seq) // who has the lock at hand takes Lock.KV
		if err != nil {
			return err
		}
		_, err = records.Put(ctx, "balance", []byte("90"))
		return err
	}
	return overtaken(ctx, locks, "accounts/42", setBalance) // a *fencing.StaleError
}
