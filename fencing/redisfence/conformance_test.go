package redisfence_test

import (
	"context"
	"sync"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/fencingtest"
	"github.com/fencelock/fencelock/fencing/redisfence"
	"github.com/fencelock/fencelock/test/servers"
)

func TestConformance(t *testing.T) {
	for name, client := range clients {
		for _, keep := range []bool{false, true} {
			t.Run(name+map[bool]string{false: ", a handle for each operation", true: ", a handle for each token"}[keep], func(t *testing.T) {
				fencingtest.Run(t, harness(client, keep))
			})
		}
	}
}

func harness(client func(t testing.TB, url string) redisfence.Eval, keep bool) fencingtest.Harness {
	open := func(t testing.TB, url string, verify fencingtest.Verify) *store {
		cfg := redisfence.Config{Eval: client(t, url), Verify: verify}
		return &store{url: url, keep: keep, fence: newFence(t, cfg), handles: map[fencing.Sequencer]*redisfence.Handle{}}
	}
	return fencingtest.Harness{
		Open: func(t testing.TB, verify fencingtest.Verify) fencingtest.Resource {
			return open(t, servers.Redis(t), verify)
		},
		Reopen:  func(t testing.TB, r fencingtest.Resource) fencingtest.Resource { return open(t, r.(*store).url, nil) },
		Without: map[fencingtest.Capability]string{fencingtest.Texts: "a handle is not handed text"},
	}
}

// store is a Redis as the suite sees it.
type store struct {
	url   string
	keep  bool
	fence *redisfence.Fence

	mu      sync.Mutex
	handles map[fencing.Sequencer]*redisfence.Handle
}

func (s *store) open(ctx context.Context, op fencingtest.Op) (*redisfence.Handle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.handles[op.Sequencer]; h != nil && op.Sequencer.Lock == op.Guard && s.keep {
		return h, nil
	}
	if op.Sequencer != (fencing.Sequencer{}) {
		ctx = fencing.NewContext(ctx, op.Sequencer)
	}
	h, err := s.fence.Open(ctx, op.Guard)
	if err == nil {
		s.handles[op.Sequencer] = h
	}
	return h, err
}

func (s *store) Do(ctx context.Context, op fencingtest.Op) (string, error) {
	h, err := s.open(ctx, op)
	if err != nil {
		return "", err
	}
	switch op.Kind {
	case fencingtest.Read:
		value, _, err := h.Get(ctx, op.Key)
		return string(value), err
	case fencingtest.Write:
		return "", h.Set(ctx, op.Key, []byte(op.Value), 0)
	case fencingtest.Delete:
		_, err := h.Delete(ctx, op.Key)
		return "", err
	}
	return "", h.Advance(ctx)
}
