package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/fencelock/fencelock/cmd/internal/supervisor"
)

// signals are those to fencelock, collected from before the wait for the lock
// until after its end, so that none falls between.
type signals struct{ c chan os.Signal }

// notify begins to collect. A signal that is ignored, as SIGHUP under nohup, stays
// ignored.
func notify() *signals {
	s := &signals{c: make(chan os.Signal, 32)}
	for _, one := range supervisor.Forwarded() {
		if !signal.Ignored(one) {
			signal.Notify(s.c, one)
		}
	}
	return s
}

func (s *signals) stop() { signal.Stop(s.c) }

// cancel ends ctx with an *interruption when a signal comes, until ctx ends.
func (s *signals) cancel(ctx context.Context, cancel context.CancelCauseFunc, what string) *sync.WaitGroup {
	var listening sync.WaitGroup
	listening.Go(func() {
		select {
		case by := <-s.c:
			cancel(&interruption{what: what, by: by.(syscall.Signal)})
		case <-ctx.Done():
		}
	})
	return &listening
}

// interruption is a signal that ended the wait for a lock.
type interruption struct {
	what string // was waited for
	by   syscall.Signal
}

func (i *interruption) Error() string {
	return fmt.Sprintf("%s: the wait was ended by a signal (%v)", i.what, i.by)
}

// code is the exit code of a process that the signal ended, as a shell reports it.
func (i *interruption) code() int { return 128 + int(i.by) }
