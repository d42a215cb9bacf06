package cli

import (
	"context"
	"fmt"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cmd/internal/supervisor"
	"github.com/fencelock/fencelock/fencing"
)

// held is what was acquired, whatever kind of lock it is.
type held struct {
	supervisor.Holding
	unlock     func(context.Context) error
	sequencers []fencing.Sequencer // in the order of the names; none of a shared lock or a permit
}

// what names what the plan is after, for messages.
func (p *lockPlan) what() string {
	switch {
	case len(p.names) > 1:
		return fmt.Sprintf("locks %q", p.names)
	case p.limit > 0:
		return fmt.Sprintf("semaphore %q", p.names[0])
	case p.shared:
		return fmt.Sprintf("shared lock %q", p.names[0])
	}
	return fmt.Sprintf("lock %q", p.names[0])
}

// take acquires what the plan is after.
func (p *lockPlan) take(ctx context.Context, s *client.Session) (held, error) {
	switch {
	case len(p.names) > 1:
		return p.takeAll(ctx, s)
	case p.limit > 0:
		return p.takePermit(ctx, s)
	case p.shared:
		return p.takeShared(ctx, s)
	}
	l, err := s.Acquire(ctx, client.Request{Name: p.names[0], Try: p.try})
	if err != nil {
		return held{}, err
	}
	return held{l, l.Unlock, []fencing.Sequencer{l.Sequencer()}}, nil
}

func (p *lockPlan) takeAll(ctx context.Context, s *client.Session) (held, error) {
	take := s.LockAll
	if p.try {
		take = s.TryLockAll
	}
	l, err := take(ctx, p.names...)
	if err != nil {
		return held{}, err
	}
	h := held{Holding: l, unlock: l.Unlock}
	for _, name := range p.names {
		h.sequencers = append(h.sequencers, l.Sequencer(name))
	}
	return h, nil
}

func (p *lockPlan) takeShared(ctx context.Context, s *client.Session) (held, error) {
	take := s.LockShared
	if p.try {
		take = s.TryLockShared
	}
	l, err := take(ctx, p.names[0])
	if err != nil {
		return held{}, err
	}
	return held{Holding: l, unlock: l.Unlock}, nil
}

func (p *lockPlan) takePermit(ctx context.Context, s *client.Session) (held, error) {
	semaphore := s.Semaphore(p.names[0], p.limit)
	take := semaphore.Acquire
	if p.try {
		take = semaphore.TryAcquire
	}
	permit, err := take(ctx)
	if err != nil {
		return held{}, err
	}
	return held{Holding: permit, unlock: permit.Release}, nil
}
