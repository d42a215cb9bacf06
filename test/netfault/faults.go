package netfault

import "time"

type mode int

const (
	pass mode = iota
	hold
	drop
)

// faults is what the proxy does to its connections; the zero value is nothing.
type faults struct {
	up, down mode
	delay    time.Duration
	refuse   bool
}

// Pass ends every fault and delivers what was held. A connection that lost
// bytes to DropReplies is reset: a stream with a hole in it cannot go on.
func (p *Proxy) Pass() {
	p.change(func(f *faults) { *f = faults{} })
}

// Stall holds everything, in both directions. New connections are accepted and
// then hang too.
func (p *Proxy) Stall() { p.setModes(hold, hold) }

// StallReplies passes requests and holds replies.
func (p *Proxy) StallReplies() { p.setModes(pass, hold) }

// StallRequests holds requests and passes replies.
func (p *Proxy) StallRequests() { p.setModes(hold, pass) }

// DropReplies passes requests and throws their replies away: the member acts and
// nobody will hear of it. The connections stay open and silent until Reset, or
// until a call that ends the dropping (Pass, any of the stalls) resets those
// that lost something.
func (p *Proxy) DropReplies() { p.setModes(pass, drop) }

// Delay delivers every chunk d after it came, in each direction, until Pass. A
// chunk is what one read returned; later chunks do not wait for earlier ones to
// be answered, so throughput stays what it was.
func (p *Proxy) Delay(d time.Duration) {
	p.change(func(f *faults) { f.delay = d })
}

// Refuse resets new connections as soon as they are made, until Pass. Open ones
// go on.
func (p *Proxy) Refuse() {
	p.change(func(f *faults) { f.refuse = true })
}

// Reset closes every connection on both sides with a TCP reset. Held bytes are
// lost.
func (p *Proxy) Reset() {
	for _, l := range p.openLinks() {
		l.reset()
	}
}

func (p *Proxy) setModes(up, down mode) {
	p.change(func(f *faults) { f.up, f.down = up, down })
}

// change returns when every open connection obeys.
func (p *Proxy) change(edit func(*faults)) {
	p.mu.Lock()
	edit(&p.faults)
	dropping := p.faults.down == drop
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	for _, l := range p.openLinks() {
		if torn := l.settle(); torn && !dropping {
			l.reset()
		}
	}
}

// current is the faults of the moment and a channel that closes when they change.
func (p *Proxy) current() (faults, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults, p.changed
}
