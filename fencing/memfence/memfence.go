package memfence

import (
	"context"
	"fmt"
	"sync"

	"github.com/fencelock/fencelock/fencing"
)

// Config of a fence. The zero Config is ready to use.
type Config struct {
	// Verify is asked about a token that would raise the fence; an error refuses
	// it, and the fence stays. The client's Check method is one. Nil: every token
	// is believed, so that a huge one made up by somebody shuts out all holders
	// until the process starts anew.
	Verify func(ctx context.Context, seq fencing.Sequencer) error
}

// Fence keeps the highest token of each guard, and who is at work under it. Its
// methods may be called from several goroutines.
type Fence struct {
	config Config

	mu     sync.Mutex
	guards map[string]*post // none is ever removed
}

// New returns a fence that has admitted nothing yet.
func New(cfg Config) *Fence {
	return &Fence{config: cfg, guards: map[string]*post{}}
}

// Enter admits work under seq behind guard. It waits for older work to be done,
// for as long as ctx allows. The work is to run under held, a child of ctx that
// ends early when a newer holder waits, and is to be followed by leave, which may
// be called more than once.
//
// Besides the errors of [fencing.Sequencer.CheckGuard], Enter returns
// *fencing.StaleError, what Verify returned, and ctx's error. A token that gave up
// waiting was heard all the same: older ones stay refused.
func (f *Fence) Enter(ctx context.Context, guard string, seq fencing.Sequencer) (held context.Context, leave func(), err error) {
	if err := seq.CheckGuard(guard); err != nil {
		return nil, nil, err
	}
	if err := f.raise(ctx, seq); err != nil {
		return nil, nil, err
	}
	for {
		v, freed, err := f.begin(ctx, seq)
		if err != nil {
			return nil, nil, err
		}
		if v != nil {
			return v.held, func() { f.end(v) }, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("wait for older work behind %q: %w", guard, context.Cause(ctx))
		}
	}
}

// raise makes seq's token the highest, unless it is already or a higher one is.
func (f *Fence) raise(ctx context.Context, seq fencing.Sequencer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !f.wouldRaise(seq) {
		return nil
	}
	if f.config.Verify != nil {
		if err := f.config.Verify(ctx, seq); err != nil {
			return fmt.Errorf("verify %s: %w", seq, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.guards[seq.Lock]
	if p == nil {
		p = &post{current: map[*visit]bool{}}
		f.guards[seq.Lock] = p
	}
	if seq.Token > p.highest {
		p.raise(seq)
	}
	return nil
}

func (f *Fence) wouldRaise(seq fencing.Sequencer) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.guards[seq.Lock]
	return p == nil || seq.Token > p.highest
}

// begin begins work under seq, whose guard has a post. While older work is not
// done it returns no visit, but a channel that is closed when it is.
func (f *Fence) begin(ctx context.Context, seq fencing.Sequencer) (*visit, <-chan struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.guards[seq.Lock]
	if seq.Token < p.highest {
		return nil, nil, &fencing.StaleError{Guard: seq.Lock, Token: seq.Token, Highest: p.highest}
	}
	if p.older > 0 {
		return nil, p.freed, nil
	}
	v := &visit{post: p}
	v.held, v.hurry = context.WithCancelCause(ctx)
	p.current[v] = true
	return v, nil, nil
}

func (f *Fence) end(v *visit) {
	v.hurry(nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	v.post.remove(v)
}
