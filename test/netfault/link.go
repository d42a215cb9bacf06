package netfault

import (
	"context"
	"net"
	"sync"
)

// link is one connection of a client and the one made for it to the target.
type link struct {
	proxy  *Proxy
	client *net.TCPConn
	ctx    context.Context // ends with the link
	cancel context.CancelFunc

	mu     sync.Mutex
	ended  bool
	server *net.TCPConn // nil until the target answered
	pumps  []*pump      // up and down, empty until then
}

func newLink(p *Proxy, client *net.TCPConn) *link {
	l := &link{proxy: p, client: client}
	l.ctx, l.cancel = context.WithCancel(p.ctx)
	return l
}

// run returns when the link has ended and its goroutines with it.
func (l *link) run() {
	if !l.connect() {
		l.reset()
		return
	}
	var running sync.WaitGroup
	for _, p := range l.pumps {
		running.Go(p.read)
		running.Go(p.write)
	}
	running.Wait()
	l.end((*net.TCPConn).Close)
}

func (l *link) connect() bool {
	var dialer net.Dialer
	conn, err := dialer.DialContext(l.ctx, "tcp", l.proxy.target)
	if err != nil {
		return false
	}
	server := conn.(*net.TCPConn)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		abort(server)
		return false
	}
	l.server = server
	l.pumps = []*pump{
		newPump(l, bytesUp, l.client, server),
		newPump(l, bytesDown, server, l.client),
	}
	return true
}

// settle returns when both directions act on the faults of the moment. torn says
// that bytes were thrown away.
func (l *link) settle() (torn bool) {
	l.mu.Lock()
	pumps := l.pumps
	l.mu.Unlock()
	for _, p := range pumps {
		torn = p.settle() || torn
	}
	return torn
}

func (l *link) reset() { l.end(abort) }

func (l *link) end(closeConn func(*net.TCPConn) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	l.cancel()
	closeConn(l.client)
	if l.server != nil {
		closeConn(l.server)
	}
}

// abort closes with a reset in place of the orderly end.
func abort(conn *net.TCPConn) error {
	conn.SetLinger(0)
	return conn.Close()
}
