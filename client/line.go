package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// lines are a session's local queues, one for each lock that several of its
// goroutines want. Only the goroutine at the head of a line has a claim in the
// cluster; when it is done it passes the turn, first come, first served, and with
// it, where possible, a claim that has been put already:
//
//	Unlock        the claim is replaced by one for the next goroutine, in one
//	              commit. With nobody else in the cluster's queue the next
//	              goroutine holds; else its claim stands at the tail, so that
//	              processes take turns
//	a head that   passes its claim on, if the next goroutine's would say the same
//	is cancelled
//	a loss        passes the turn alone: the next goroutine puts its own claim
//
// Every turn is passed exactly once, by whoever has it.
type lines struct {
	mu sync.Mutex
	of map[string][]*ticket // who waits behind the head; a key exists while there is a head
}

// ticket is a goroutine's place in a line.
type ticket struct {
	goal  goal
	value string        // of the claim that is put for it
	ready chan *entered // receives when it is its turn: the claim put for it, or nil. Buffered
}

// entered is a claim that stands in the cluster's queue.
type entered struct {
	place  place
	now    standing
	labels map[string]string // that were asked for it
}

// turn is the right to have a claim, among the goroutines of a session that want
// the same lock. The zero turn belongs to no line.
type turn struct {
	session *Session
	lock    string
	entered *entered // the claim that came with the turn, if any
	passed  bool     // under lines.mu
}

// queuesLocally reports whether an acquisition stands in a local line. One with a
// value of its own does not: its claim could not be put by somebody else.
func (g goal) queuesLocally() bool {
	return g.kind == exclusive && !g.try && len(g.names) == 1 && g.value == nil
}

// await waits for the turn. If ctx ends first, nothing has been asked of the
// cluster.
func (l *lines) await(ctx context.Context, s *Session, g goal, value string) (*turn, error) {
	t := &turn{session: s, lock: g.names[0]}
	mine := l.join(t.lock, g, value)
	if mine == nil {
		return t, nil
	}
	select {
	case t.entered = <-mine.ready:
		return t, s.endedUnclaimed() // with the session the line has ended
	case <-s.ctx.Done():
		return nil, s.endedUnclaimed()
	case <-ctx.Done():
	}
	if !l.withdraw(t.lock, mine) { // the turn is on its way: somebody must take it
		_ = s.start(func() {
			t.entered = <-mine.ready
			t.decline()
		})
	}
	return nil, s.tooLate(ctx, t.lock)
}

// join goes to the end of the line; nil means that there was none, and it is one's
// turn.
func (l *lines) join(lock string, g goal, value string) *ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting, busy := l.of[lock]
	if !busy {
		if l.of == nil {
			l.of = map[string][]*ticket{}
		}
		l.of[lock] = nil
		return nil
	}
	mine := &ticket{goal: g, value: value, ready: make(chan *entered, 1)}
	l.of[lock] = append(waiting, mine)
	return mine
}

// withdraw leaves the line. It reports false if the turn has been passed already.
func (l *lines) withdraw(lock string, mine *ticket) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.of[lock], mine)
	if i < 0 {
		return false
	}
	l.of[lock] = slices.Delete(l.of[lock], i, i+1)
	return true
}

// next takes the turn away from t and returns who is to have it, or nil if nobody
// waits, which ends the line, or if the turn was passed before. Whoever gets a
// ticket must send to it.
func (t *turn) next() *ticket {
	if t.session == nil {
		return nil
	}
	l := &t.session.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	if !t.passed && len(l.of[t.lock]) == 0 {
		t.passed = true
		delete(l.of, t.lock)
	}
	return l.take(t)
}

// nextLike is next if a claim with these labels would do for whoever is first in
// line. Else it changes nothing and returns nil.
func (t *turn) nextLike(labels map[string]string) *ticket {
	if t.session == nil {
		return nil
	}
	l := &t.session.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.of[t.lock]; len(first) == 0 || !maps.Equal(first[0].goal.labels, labels) {
		return nil
	}
	return l.take(t)
}

// take takes the first ticket out of the line, for a turn that has not been
// passed. The caller holds mu.
func (l *lines) take(t *turn) *ticket {
	if t.passed {
		return nil
	}
	t.passed = true
	waiting := l.of[t.lock]
	l.of[t.lock] = waiting[1:]
	return waiting[0]
}

// pass gives the turn to the next goroutine, without a claim.
func (t *turn) pass() {
	if next := t.next(); next != nil {
		next.ready <- nil
	}
}

// passClaim gives the turn to the next goroutine, with a claim for which nobody has
// a handle. It reports false, and changes nothing, if there is none to take it.
func (t *turn) passClaim(e entered) bool {
	next := t.nextLike(e.labels)
	if next == nil {
		return false
	}
	e.now.unsure = true // it was looked at some time ago
	next.ready <- &e
	return true
}

// decline is for a turn that came when its goroutine had left.
func (t *turn) decline() {
	if t.entered != nil {
		if t.passClaim(*t.entered) {
			return
		}
		_, _ = t.session.giveUp([]place{t.entered.place}, false) // else the sweeper has it
	}
	t.pass()
}

// handOver ends a claim, and puts one for the goroutine whose turn is next.
func (s *Session) handOver(old place, next *ticket) (release, error) {
	ctx, cancel := s.boundRelease()
	defer cancel()
	p := s.newPlace(old.lock, exclusive, 0)
	attempt, cancelAttempt := outcome.ThirdOf(ctx)
	now, done, err := s.replace(attempt, old, &p, next.value)
	cancelAttempt()
	switch {
	case done:
		s.slots.giveBack(old.queue, old.slot, true)
		next.ready <- &entered{place: p, now: now, labels: next.goal.labels}
		return release{mine: true, certain: true}, nil
	case err == nil: // answered: neither claim is there
		s.slots.giveBack(old.queue, old.slot, true)
		s.slots.giveBack(p.queue, p.slot, true)
		next.ready <- nil
		return release{certain: true}, nil
	case !outcome.Certain(err):
		err = fmt.Errorf("%w: %w", errUncertain, err)
	}
	s.forsake([]place{p}, err)
	released, err := s.takeBack(ctx, []place{old}, false, !errors.Is(err, errUncertain))
	next.ready <- nil
	return released, err
}

// tooLate words what a caller is told whose ctx ended in the local line: who holds
// the lock, if a short look at the cluster can tell.
func (s *Session) tooLate(ctx context.Context, lock string) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	locked := &LockedError{what: exclusive.what(lock)}
	if holder := s.holderNow(lock); holder != nil {
		locked.Holder = *holder
	}
	return fmt.Errorf("%w; gave up waiting: %w", locked, ctx.Err())
}

// holderNow reads who holds a lock, for a caller who must not wait for it: nil if
// nobody does, or if there is no answer at once.
func (s *Session) holderNow(lock string) *Claim {
	return s.headOf(place{lock: lock, queue: s.space.Queue(lock)})
}

// headOf reads the oldest claim in a queue: nil if there is none, or no answer at once.
func (s *Session) headOf(p place) *Claim {
	ctx, cancel := context.WithTimeout(s.ctx, abandonTime)
	defer cancel()
	resp, err := s.etcd.Do(ctx, p.oldest())
	if err != nil {
		return nil
	}
	return p.claimOf(resp.Get().Kvs)
}
