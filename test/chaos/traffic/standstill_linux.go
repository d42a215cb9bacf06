package traffic

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Standstill asks a client process to stand still, by SIGSTOP to itself, before it
// writes what follows from what it has read. A process that does not know it yet
// ignores this signal.
const Standstill = syscall.SIGWINCH

// listen asks for a standstill with each signal, until ctx ends.
func (s *standstill) listen(ctx context.Context) (stop func()) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, Standstill)
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(done)
		for {
			select {
			case <-asked:
				s.ask()
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		signal.Stop(asked)
		cancel()
		<-done
	}
}

// stopProcess returns when somebody has sent SIGCONT.
func stopProcess() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }
