package traffic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// patience is how long a process may take to end once it was asked to: an operation
// under way (opTimeout), the end of a lease of a few seconds, Close, and leakWait.
const patience = 15 * time.Second

// Main does what cfg says until ctx ends, and then ends in good order: holds are
// released, everything is closed, and what is left over is the history's last event.
// With Config.Final it ends by itself. An error means that the history is not to be
// trusted, or that the process did not come to its end.
func Main(ctx context.Context, cfg Config) error {
	if err := cfg.validate(); err != nil {
		return fmt.Errorf("traffic: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- life(ctx, cfg) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("traffic: %s is not at its end %v after it was asked to be:\n%s", cfg.Client, patience, stacks())
	}
}

// life is everything between the first and the last event.
func life(ctx context.Context, cfg Config) (err error) {
	if err := os.MkdirAll(cfg.Folder, 0o755); err != nil {
		return err
	}
	w, err := history.Create(cfg.History, cfg.Client)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	before := countInUse()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	log := &recorder{writer: w, fail: fail}
	p, err := newProcess(cfg, log)
	if err != nil {
		return err
	}
	if cfg.Final {
		err = p.readEverything(ctx)
	} else {
		p.work(ctx)
	}
	log.leaks(before, p.close())
	return errors.Join(err, log.err())
}

// stacks is what every goroutine does, for people.
func stacks() []byte {
	text := make([]byte, 1<<16)
	return text[:runtime.Stack(text, true)]
}
