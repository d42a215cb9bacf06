package traffic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/test/chaos/history"
)

// opTimeout bounds each operation, whatever becomes of the lock meanwhile.
const opTimeout = 5 * time.Second

// impatient is the chance in a hundred that an operation on kv waits for Config.Hasty
// only. Its holder goes on, while what was sent may still land.
const impatient = 40

// patienceFor is how long the next operation waits for its answer.
func (p *part) patienceFor() time.Duration {
	if p.cfg.Hasty > 0 && history.Target(p.lock) == kvTarget && p.percent(impatient) {
		return p.cfg.Hasty
	}
	return opTimeout
}

// hold is one acquisition of one lock, or of several together.
type hold struct {
	*task
	handle    handle
	mode      string
	token     int64 // 0: shared
	parts     []*part
	over      bool          // it was refused, or gives up: release it
	uncertain bool          // a write's outcome is unknown
	linger    time.Time     // it goes on until then at least
	deadline  history.Time  // that the lock had when it was granted
	followed  chan struct{} // closed when follow is at its end
}

// part is one of the locks of a hold.
type part struct {
	*hold
	lock    string
	id      int // of its Acquire
	seq     fencing.Sequencer
	store   store
	chapter register // of the list, as last read or written; zero: to be read
}

func (t *task) newHold(h handle, w way, calls []history.Event) *hold {
	now := &hold{task: t, handle: h, mode: w.mode, deadline: deadlineOf(h)}
	for i, name := range w.names {
		p := &part{hold: now, lock: name, id: calls[i].ID}
		switch l := h.(type) {
		case *client.Lock:
			p.seq = l.Sequencer()
		case *client.Locks:
			p.seq = l.Sequencer(name)
		}
		now.token = int64(p.seq.Token)
		p.store = p.open()
		now.parts = append(now.parts, p)
	}
	return now
}

// open returns the way to what the lock guards.
func (p *part) open() store {
	switch l := p.handle.(type) {
	case *client.SharedLock:
		return kvStore{reader: l.KV()}
	case *client.Locks:
		return newKVStore(l.KV(p.lock))
	case *client.Lock:
		if history.Target(p.lock) == kvTarget && p.mode != history.Bare {
			return newKVStore(l.KV())
		}
	}
	var opened store
	var err error
	if p.mode == history.Bare {
		opened, err = bareStore(p.client, p.seq)
	} else {
		opened, err = p.targets[history.Target(p.lock)].open(p.seq)
	}
	if err != nil {
		return unusable{err}
	}
	return opened
}

// do carries out one operation and writes it down. fn fills in what was read; the
// identity to be written is in e.Value.
func (p *part) do(e history.Event, fn func(ctx context.Context, e *history.Event) error) bool {
	e.Lock, e.Hold, e.Mode, e.Token = p.lock, p.id, p.mode, p.token
	if p.mayOpenAnother() {
		p.store = p.open()
	}
	e, ok := p.log.call(e)
	if !ok {
		p.over = true
		return false
	}
	// Not the lock's context, nor the process's: what is late must reach the fence.
	ctx, cancel := context.WithTimeout(fencing.NewContext(context.Background(), p.seq), p.patienceFor())
	defer cancel()
	err := fn(ctx, &e)
	settle(&e, err)
	p.log.end(e)
	if errors.Is(err, errGarbled) {
		p.log.broken(fmt.Errorf("%s, %s: %w", p.lock, e.Key, err))
	}
	if e.Outcome == history.OK {
		return true
	}
	p.chapter = register{}
	if e.Outcome == history.Unknown {
		p.doubt()
	}
	p.over = p.over || e.Outcome == history.Refused || !p.lingers() && !p.percent(goesOn)
	return false
}

// doubt takes note of a write whose outcome is unknown.
func (h *hold) doubt() {
	if !h.uncertain && history.Target(h.lock) == kvTarget && h.percent(lingerer) {
		h.linger = time.Now().Add(lingering)
	}
	h.uncertain = true
}

func (h *hold) lingers() bool { return time.Now().Before(h.linger) }

// anotherHandle is the chance in a hundred that an operation on Redis gets a handle of
// its own, which remembers nothing: the fence alone can tell that it comes late.
const anotherHandle = 30

// mayOpenAnother is false once a write's outcome is unknown: only the handle that has
// sent it makes sure that it does not land any more.
func (p *part) mayOpenAnother() bool {
	return history.Target(p.lock) == "redis" && !p.uncertain && p.percent(anotherHandle)
}

// release gives the locks back.
func (h *hold) release() {
	var calls []history.Event
	for _, p := range h.parts {
		e, _ := h.log.call(history.Event{Kind: history.Release, Lock: p.lock, Hold: p.id, Mode: p.mode, Token: p.token})
		calls = append(calls, e)
	}
	err := h.handle.Unlock(context.Background())
	for _, e := range calls {
		settle(&e, err)
		h.log.end(e)
	}
	<-h.followed
}
