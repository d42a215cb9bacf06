package traffic

import (
	"sync"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// gathering is how long the first task that has read and not written waits for the
// others. Its lock's session goes on meanwhile: nobody loses anything by it.
const gathering = 1500 * time.Millisecond

// StandstillBy is when a process that was asked to stand still does so, or will not any
// more: none of its tasks had anything to write.
const StandstillBy = asked + gathering + time.Second

const asked = 4 * time.Second

// standstill lets the process stand still at the worst moment, as a garbage collector
// or a host may by bad luck: while as many as possible of its tasks on one target have
// read and not written yet. Pauses at random hit one now and then.
type standstill struct {
	tasks int    // how many there are
	stop  func() // returns when the process goes on

	mu    sync.Mutex
	over  chan struct{} // closed when it is over; nil: nobody has asked for one
	until time.Time     // it may begin, or not any more
	came  int           // tasks that have read, and wait
}

// ask is for a standstill at the next opportunity.
func (s *standstill) ask() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over, s.came = make(chan struct{}), 0
	}
	if s.came == 0 {
		s.until = time.Now().Add(asked)
	}
}

// meet is called by a task that is about to write. It returns at once, or after the
// standstill that was asked for.
func (s *standstill) meet() {
	s.mu.Lock()
	if s.came == 0 && time.Now().After(s.until) {
		s.over = nil
	}
	over := s.over
	if over != nil {
		s.came++
	}
	first, last := s.came == 1, s.came == s.tasks
	s.mu.Unlock()
	switch {
	case over == nil:
		return
	case last:
		s.begin(over)
	case first:
		timer := time.AfterFunc(gathering, func() { s.begin(over) })
		defer timer.Stop()
	}
	<-over
}

// begin is called by the last task, or when the others have taken too long.
func (s *standstill) begin(over chan struct{}) {
	s.mu.Lock()
	asked := s.over == over
	if asked {
		s.over = nil
	}
	s.mu.Unlock()
	if asked {
		s.stop()
		close(over)
	}
}

// aimed reports whether a lock is one of those that standstills aim at: those of the
// first target, the control if it is there.
func (p *process) aimed(lock string) bool { return history.Target(lock) == p.cfg.Targets[0] }
