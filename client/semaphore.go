package client

import (
	"context"
	"fmt"
)

// MaxLimit is the largest limit of a semaphore: its waiters read that many claims.
const MaxLimit = 10_000

// Semaphore lets a limited number of claims hold at once. Its permits do not
// exclude each other, so they have no tokens and protect nothing behind a fence.
type Semaphore struct {
	by    acquirer
	name  string
	limit int
}

// Permit is one of a semaphore's permits.
type Permit struct{ *holding }

// Semaphore returns the semaphore of a name. The limit is set by whoever acquires
// first; with another one Acquire fails. It sends no request.
func (c *Client) Semaphore(name string, limit int) *Semaphore {
	return &Semaphore{by: c, name: name, limit: limit}
}

// Semaphore is [Client.Semaphore] through this session.
func (s *Session) Semaphore(name string, limit int) *Semaphore {
	return &Semaphore{by: s, name: name, limit: limit}
}

// Acquire waits for a permit as long as ctx allows, first come, first served.
// Errors as for [Client.Lock]; also if the semaphore has another limit.
func (s *Semaphore) Acquire(ctx context.Context) (*Permit, error) { return s.acquire(ctx, false) }

// TryAcquire takes a permit if one is free. Errors as for [Client.TryLock].
func (s *Semaphore) TryAcquire(ctx context.Context) (*Permit, error) { return s.acquire(ctx, true) }

func (s *Semaphore) acquire(ctx context.Context, try bool) (*Permit, error) {
	if s.limit < 1 || s.limit > MaxLimit {
		return nil, fmt.Errorf("semaphore %q: limit %d: want 1 to %d", s.name, s.limit, MaxLimit)
	}
	held, err := s.by.acquire(ctx, goal{names: []string{s.name}, kind: permit, limit: s.limit, try: try})
	if err != nil {
		return nil, err
	}
	return &Permit{holding: held}, nil
}

// Release gives the permit back, as [Lock.Unlock] does.
func (p *Permit) Release(context.Context) error {
	return p.release(fmt.Sprintf("release permit of %q", p.places[0].lock))
}
