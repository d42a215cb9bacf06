package client

// InLine is how many goroutines of a session stand in the local line of a lock,
// behind the one at its head.
func (s *Session) InLine(lock string) int {
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	return len(s.lines.of[lock])
}
