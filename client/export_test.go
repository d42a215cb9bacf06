package client

import clientv3 "go.etcd.io/etcd/client/v3"

// KeptWatches are the watches that a session keeps for its next waits.
func (s *Session) KeptWatches() []clientv3.WatchChan {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	var kept []clientv3.WatchChan
	for _, w := range s.kept.idle {
		kept = append(kept, w.end)
	}
	return kept
}

// MaxKept is how many it keeps at most.
const MaxKept = maxKept

// InLine is how many goroutines of a session stand in the local line of a lock,
// behind the one at its head.
func (s *Session) InLine(lock string) int {
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	return len(s.lines.of[lock])
}

// Burden puts n keys under the eye of the default session's sweeper, as uncertain
// claims do, and returns that session.
func (c *Client) Burden(n int) *Session {
	c.mu.Lock()
	s := c.current
	c.mu.Unlock()
	for i := range n {
		s.sweep.add(swept{key: s.space.Claim("burden", int64(s.lease), i)})
	}
	return s
}

// MaxSwept is how many such keys a default session has at most.
const MaxSwept = maxSwept

// HasSession reports whether there is a default session.
func (c *Client) HasSession() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current != nil
}

// Swept is how many keys are under the eye of the session's sweeper.
func (s *Session) Swept() int { return s.sweep.count() }
