package client

import "sync"

// slots hands out the numbers n of a session's claim keys, <lease>-<n>, for each
// queue. A number is used again only when every write to its key was answered and
// the key is certainly gone; otherwise a request that is still on its way could
// meet a newer claim. Using keys again, and not a fresh one for every claim,
// keeps etcd's index small: it remembers dead keys until compaction, and every
// read of the queue visits them.
type slots struct {
	mu     sync.Mutex
	queues map[string]*slotsOfQueue
}

type slotsOfQueue struct {
	next  int   // the lowest number never handed out
	free  []int // handed out before, and certainly gone
	taken int   // handed out now
	burnt bool  // some number is never to be used again, so next must be remembered
}

// take returns a number whose key cannot be met by any earlier request.
func (s *slots) take(queue string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queues == nil {
		s.queues = map[string]*slotsOfQueue{}
	}
	of := s.queues[queue]
	if of == nil {
		of = &slotsOfQueue{}
		s.queues[queue] = of
	}
	of.taken++
	if last := len(of.free) - 1; last >= 0 {
		n := of.free[last]
		of.free = of.free[:last]
		return n
	}
	of.next++
	return of.next - 1
}

// giveBack ends the use of a number. certain says that every write to its key was
// answered and that the key is gone; else the number is never used again.
func (s *slots) giveBack(queue string, n int, certain bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.queues[queue]
	of.taken--
	if certain {
		of.free = append(of.free, n)
	} else {
		of.burnt = true
	}
	if of.taken == 0 && !of.burnt {
		delete(s.queues, queue) // nothing to remember: the next claim begins at 0 again
	}
}
