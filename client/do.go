package client

import (
	"context"
	"errors"
)

// Do runs fn while holding a lock: it waits for the lock as [Client.Lock] does,
// binds ctx to it, and unlocks when fn returns or panics. If the lock was lost
// meanwhile the error is ErrLost, together with fn's own, if any: what fn did
// last may have been refused by a fence, or was not protected by one.
func (c *Client) Do(ctx context.Context, name string, fn func(ctx context.Context, l *Lock) error) error {
	l, err := c.Lock(ctx, name)
	if err != nil {
		return err
	}
	return l.do(ctx, fn)
}

// Do is [Client.Do] through this session.
func (s *Session) Do(ctx context.Context, name string, fn func(ctx context.Context, l *Lock) error) error {
	l, err := s.Lock(ctx, name)
	if err != nil {
		return err
	}
	return l.do(ctx, fn)
}

func (l *Lock) do(ctx context.Context, fn func(ctx context.Context, l *Lock) error) (err error) {
	bound, cancel := l.Bind(ctx)
	defer cancel()
	defer func() {
		unlocked := l.Unlock(ctx)
		byItself := errors.Is(unlocked, ErrNotHeld) && !errors.Is(unlocked, ErrClosed)
		if unlocked != nil && !byItself {
			err = errors.Join(err, unlocked)
		}
	}()
	return fn(bound, l)
}
