package bench

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/fencelock/fencelock/client"
)

// progressTick is how often progress is told.
const progressTick = 100 * time.Millisecond

// errOver ends a work whose time is up.
var errOver = errors.New("the time is up")

// run is one work being measured.
type run struct {
	*bench
	work
	clients []*client.Client
	ready   sync.WaitGroup // each client has done its first step
	start   chan struct{}  // closed when all have
	began   time.Time

	mu     sync.Mutex
	counts *hdrhistogram.Histogram // in nanoseconds
	err    error                   // the first
}

// measure does a work for the time that was asked for.
func (b *bench) measure(ctx context.Context, w work) (Result, error) {
	r := &run{bench: b, work: w, start: make(chan struct{}), counts: newHistogram()}
	defer r.close()
	for range max(b.Clients, w.least) {
		c, err := b.Connect()
		if err != nil {
			return Result{}, err
		}
		r.clients = append(r.clients, c)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.play(ctx, stop)
	switch {
	case r.err != nil:
		return Result{}, r.err
	case !errors.Is(context.Cause(ctx), errOver):
		return Result{}, context.Cause(ctx)
	}
	return resultOf(w.name, len(r.clients), r.counts, b.Duration), nil
}

// play returns when all clients have: after the time, at an error, or at ctx's end.
func (r *run) play(ctx context.Context, stop context.CancelCauseFunc) {
	play := r.begin(r.bench)
	var playing sync.WaitGroup
	r.ready.Add(len(r.clients))
	for i, c := range r.clients {
		playing.Go(func() {
			mine := part{run: r, counts: newHistogram()}
			err := play(ctx, c, i, func(s step) error { return mine.repeat(ctx, s) })
			mine.readyOnce()
			r.add(mine.counts, err)
			if err != nil {
				stop(err)
			}
		})
	}
	r.ready.Wait()
	r.began = time.Now()
	close(r.start)
	playing.Go(func() { r.keepTime(ctx, stop) })
	playing.Wait()
}

// keepTime ends the work when its time is up, and tells of progress until then.
func (r *run) keepTime(ctx context.Context, stop context.CancelCauseFunc) {
	ticker := time.NewTicker(progressTick)
	defer ticker.Stop()
	for {
		done := min(time.Since(r.began), r.Duration)
		if r.Progress != nil {
			r.Progress(r.name, done, r.Duration)
		}
		if done == r.Duration {
			stop(errOver)
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (r *run) add(counts *hdrhistogram.Histogram, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Merge(counts)
	if r.err == nil {
		r.err = err
	}
}

func (r *run) close() {
	var closing sync.WaitGroup // each may wait for a cluster that does not answer
	for _, c := range r.clients {
		closing.Go(func() { _ = c.Close() }) // what it could not give back ends with its TTL
	}
	closing.Wait()
}
