package top

import (
	"context"
	"sync"
	"time"

	"github.com/fencelock/fencelock/client"
)

const (
	readEvery = 2 * time.Second        // also if nothing seems to happen
	leastRest = 500 * time.Millisecond // between two readings
	watchRest = time.Second            // before a watch that has ended is begun again
)

// snapshot is all locks at one moment.
type snapshot struct {
	locks []client.LockInfo
	at    time.Time
}

// fault is why there is no snapshot.
type fault struct{ err error }

// feed sends snapshots and faults until ctx ends.
type feed struct {
	client *client.Client
	prefix string
	send   func(any)
	stir   chan struct{} // something has happened
}

func (f *feed) run(ctx context.Context) {
	var watching sync.WaitGroup
	watching.Go(func() { f.watch(ctx) })
	defer watching.Wait()
	for ctx.Err() == nil {
		begin := time.Now()
		f.read(ctx)
		rest(ctx, max(leastRest, time.Since(begin)), nil)
		rest(ctx, readEvery, f.stir)
	}
}

func (f *feed) read(ctx context.Context) {
	found := snapshot{at: time.Now()}
	for info, err := range f.client.Locks(ctx, f.prefix) {
		if err != nil {
			if ctx.Err() == nil {
				f.send(fault{err})
			}
			return
		}
		found.locks = append(found.locks, info)
	}
	f.send(found)
}

// watch tells that something has happened. What its errors mean shows when the locks
// are read.
func (f *feed) watch(ctx context.Context) {
	for ctx.Err() == nil {
		for _, err := range f.client.Watch(ctx, f.prefix) {
			if err != nil {
				break
			}
			select {
			case f.stir <- struct{}{}:
			default: // it is to be read already
			}
		}
		rest(ctx, watchRest, nil)
	}
}

// rest returns after a time, at ctx's end, or when early says so.
func rest(ctx context.Context, d time.Duration, early <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-early:
	case <-ctx.Done():
	}
}
