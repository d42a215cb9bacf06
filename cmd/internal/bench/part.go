package bench

import (
	"context"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// part is what one client does of a run.
type part struct {
	*run
	counts *hdrhistogram.Histogram
	ready  bool
}

// repeat does a step until the work is over: once unmeasured, then, when all clients
// have done that, measured. A step that has begun is finished, but for those that
// wait for a lock: a queue of waiters would outlast the time.
func (p *part) repeat(ctx context.Context, s step) error {
	if _, err := s(ctx); err != nil {
		return p.unlessOver(ctx, err)
	}
	p.readyOnce()
	<-p.start
	for time.Since(p.began) < p.Duration && ctx.Err() == nil {
		took, err := s(ctx)
		if err != nil {
			return p.unlessOver(ctx, err)
		}
		_ = p.counts.RecordValue(int64(min(took, longest))) // which fits
	}
	return nil
}

func (p *part) readyOnce() {
	if !p.ready {
		p.ready = true
		p.run.ready.Done()
	}
}

// unlessOver is no error for a step that the end of the work has cut off.
func (p *part) unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
