package client

import (
	"context"
	"fmt"
)

// session returns the default session, and makes it if there is none or the last
// one was lost. Several callers share one attempt, which does not end with the
// context of any of them.
func (c *Client) session(ctx context.Context) (*Session, error) {
	o, err := c.currentOrOpening()
	if err != nil {
		return nil, err
	}
	select {
	case <-o.done:
		return o.session, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("open a session: %w: no answer from %v yet: %w", ErrUnavailable, c.etcd.Endpoints(), ctx.Err())
	}
}

// currentOrOpening returns the session that is there, or the attempt to make one.
func (c *Client) currentOrOpening() (*opening, error) {
	c.dropIfEnded()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, fmt.Errorf("client: %w", ErrClosed)
	case c.opening != nil:
		return c.opening, nil
	case c.current != nil:
		ready := &opening{done: make(chan struct{}), session: c.current}
		close(ready.done)
		return ready, nil
	}
	o := &opening{done: make(chan struct{})}
	c.opening = o
	c.work.Go(func() { c.open(o) })
	return o, nil
}

// dropIfEnded looks at the default session's clock, outside mu: a session that
// is found to have ended calls forget. One that is burdened is retired.
func (c *Client) dropIfEnded() {
	c.mu.Lock()
	current := c.current
	c.mu.Unlock()
	if current != nil {
		_ = current.Err()
		if current.sweep.count() >= maxSwept {
			c.retire(current)
		}
	}
}

// open carries out one attempt to make the default session.
func (c *Client) open(o *opening) {
	o.session, o.err = c.openSession(c.ctx, c.config.TTL)
	o.err = c.orClosed(o.err)
	c.mu.Lock()
	c.opening = nil
	if o.err == nil && o.session.life.alive() {
		c.current = o.session
	}
	c.mu.Unlock()
	close(o.done)
}

// remember registers a session that has begun.
func (c *Client) remember(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[s] = struct{}{}
}

// forget drops a session that has ended.
func (c *Client) forget(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, s)
	if c.current == s {
		c.current = nil
	}
}
