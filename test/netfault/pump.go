package netfault

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

const (
	chunkSize = 32 << 10
	maxHeld   = 64 // chunks: 2 MiB
)

var errTorn = errors.New("bytes before these were thrown away")

// pump is one direction of a link. One goroutine reads, another writes, so that
// a held direction still takes in (and counts) what its sender has to say.
type pump struct {
	link     *link
	counter  counter // bytesUp or bytesDown: also the direction's name
	from, to *net.TCPConn
	held     chan chunk

	begin sync.Mutex // held to begin a write, and by settle so that none begins

	mu   sync.Mutex // held over each write; taken while begin is held
	torn bool       // bytes were thrown away: none may follow them
}

// chunk is what one read returned: bytes, or the error that ended the stream.
type chunk struct {
	bytes []byte
	err   error
	at    time.Time
}

func newPump(l *link, c counter, from, to *net.TCPConn) *pump {
	return &pump{link: l, counter: c, from: from, to: to, held: make(chan chunk, maxHeld)}
}

func (p *pump) read() {
	for {
		buf := make([]byte, chunkSize)
		n, err := p.from.Read(buf)
		if n > 0 {
			p.link.proxy.counts.add(p.counter, int64(n))
			if !p.enqueue(chunk{bytes: buf[:n], at: time.Now()}) {
				return
			}
		}
		if err != nil {
			p.enqueue(chunk{err: err, at: time.Now()})
			return
		}
	}
}

func (p *pump) enqueue(c chunk) bool {
	select {
	case p.held <- c:
		return true
	case <-p.link.ctx.Done():
		return false
	}
}

func (p *pump) write() {
	for {
		select {
		case c := <-p.held:
			if err := p.deliver(c); err != nil {
				p.link.reset()
				return
			}
			if c.err != nil {
				return
			}
		case <-p.link.ctx.Done():
			return
		}
	}
}

// deliver returns when c is with the receiver or thrown away.
func (p *pump) deliver(c chunk) error {
	for {
		if err := p.awaitDue(c); err != nil {
			return err
		}
		rest, err := p.attempt(c)
		if err != nil || (len(rest.bytes) == 0 && rest.err == nil) {
			return err
		}
		c = rest
	}
}

// awaitDue waits while c is held or delayed.
func (p *pump) awaitDue(c chunk) error {
	for {
		f, changed := p.link.proxy.current()
		var due <-chan time.Time
		if p.mode(f) != hold {
			wait := time.Until(c.at.Add(f.delay))
			if wait <= 0 {
				return nil
			}
			due = time.After(wait)
		}
		select {
		case <-due:
		case <-changed:
		case <-p.link.ctx.Done():
			return p.link.ctx.Err()
		}
	}
}

// attempt acts on c once, as the mode of the moment says, and returns what is
// left to do.
func (p *pump) attempt(c chunk) (rest chunk, err error) {
	p.begin.Lock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to.SetWriteDeadline(time.Time{})
	p.begin.Unlock()
	f, _ := p.link.proxy.current()
	switch m := p.mode(f); {
	case m == hold:
		return c, nil
	case m == drop:
		p.torn = true
		return chunk{}, nil
	case p.torn:
		return c, errTorn
	case c.err == io.EOF:
		return chunk{}, p.to.CloseWrite()
	case c.err != nil:
		return c, c.err
	}
	n, err := p.to.Write(c.bytes)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	c.bytes = c.bytes[n:]
	return c, err
}

// settle cuts a write under way short and returns when it has ended; the next
// one looks at the mode again.
func (p *pump) settle() (torn bool) {
	p.begin.Lock()
	defer p.begin.Unlock()
	p.to.SetWriteDeadline(time.Unix(1, 0))
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.torn
}

func (p *pump) mode(f faults) mode {
	if p.counter == bytesUp {
		return f.up
	}
	return f.down
}
