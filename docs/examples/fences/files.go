package fences

import (
	"context"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/filefence"
)

func inFile(ctx context.Context, locks *client.Client, path string) error {
	report, err := filefence.New(filefence.Config{Path: path, Guard: "reports/daily", Verify: locks.Check})
	if err != nil {
		return err
	}
	publish := func(ctx context.Context) error {
		seq, err := fencing.ForGuard(ctx, "reports/daily")
		if err != nil {
			return err
		}
		return report.Write(ctx, seq, []byte("42 orders\n"))
	}
	return overtaken(ctx, locks, "reports/daily", publish) // a *fencing.StaleError
}
