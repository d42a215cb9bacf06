package client

import "errors"

// The sweeper of a session has to remember every claim whose put was not answered
// until the session's lease has ended, for only then a late write of it
// cannot land any more: that the key is not there now proves nothing, and a key
// that would stand in its way for good would be a claim. So that the list does not
// grow for ever, the default session is replaced when it has become long: what is
// locked from then on goes through a new session, and the old one is closed when
// nothing is held or wanted through it any more. A session of the user's own is his
// to replace.

// maxSwept is when the default session is replaced. The sweeper reads that many
// keys in ten requests, once in two seconds.
const maxSwept = 1000

// retirement is what a session knows of its end of use; all under Session.mu.
type retirement struct {
	users   int           // calls that acquire or give back
	retired bool          // no new ones come
	idle    chan struct{} // closed when it is retired and nothing is held or wanted
}

// use counts a call that works through the session, until leave is called.
func (s *Session) use() (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.users--
		s.closeIfIdle()
	}
}

// closeIfIdle tells whoever waits for the end of use; the caller holds mu.
func (s *Session) closeIfIdle() {
	if s.retired && s.users == 0 && len(s.held) == 0 {
		s.retired = false
		close(s.idle)
	}
}

// retire takes a default session out of use whose sweeper has too much to do.
func (c *Client) retire(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.current != s {
		return
	}
	c.current = nil
	s.mu.Lock()
	s.retired = true
	s.closeIfIdle()
	s.mu.Unlock()
	s.log.Info("session retired: too many of its requests were not answered")
	c.work.Go(func() {
		select {
		case <-s.idle:
			_ = s.Close() // what it could not give back ends with its TTL
		case <-s.Done():
		case <-c.ctx.Done():
		}
	})
}

// hasRetired reports whether a call has failed since its session was closed when
// it was about to begin: there is another one.
func (c *Client) hasRetired(s *Session, err error) bool {
	if !errors.Is(err, ErrClosed) || c.whyClosed() != nil {
		return false
	}
	select {
	case <-s.idle:
		return true
	default:
		return false
	}
}
