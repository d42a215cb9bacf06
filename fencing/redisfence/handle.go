package redisfence

import (
	"context"
	"sync"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// Handle is one holder's way to what one guard protects. It is safe for use by
// many goroutines. It has nothing to close, and is never to be used for another
// acquisition of the lock.
type Handle struct {
	fence *Fence
	seq   fencing.Sequencer

	// settling is taken while a barrier is on its way, by whoever sent it.
	settling chan struct{}

	mu        sync.Mutex
	version   string // of the fence, as last seen; "": not seen yet
	verified  bool   // the token may raise the fence
	uncertain int    // writes whose fate is unknown, and which can still land
}

// Open returns a handle with the sequencer of the lock named guard that ctx
// carries. A ctx without one is [fencing.ErrMissing]; one with those of other
// locks only is [fencing.ErrWrongGuard]. Nothing is sent yet.
//
// Keep the handle for as long as the work under the lock lasts: it notices when
// the fence was lost ([ErrLost]), and keeps a write that was given up from landing
// after the next one. The first write of a further handle of the same token takes
// one round trip more.
func (f *Fence) Open(ctx context.Context, guard string) (*Handle, error) {
	if err := keys.CheckName(guard); err != nil {
		return nil, err
	}
	seq, err := fencing.ForGuard(ctx, guard)
	if err != nil {
		return nil, err
	}
	return &Handle{fence: f, seq: seq, verified: f.config.Verify == nil, settling: make(chan struct{}, 1)}, nil
}

// Sequencer is the one under which the handle works.
func (h *Handle) Sequencer() fencing.Sequencer { return h.seq }

// known returns what a request says about the fence.
func (h *Handle) known() (version string, verified bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version, h.verified
}

// learn takes over the version that the answer to a request under the version
// sent has told. An answer that comes late, after others, is out of date: the
// handle's version only moves on, as the fence's does.
func (h *Handle) learn(sent, told string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.version == sent {
		h.version = told
	}
}
