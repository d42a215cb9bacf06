package netfault

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
)

// Proxy is one listening address and the connections made through it. All
// methods may be called at the same time.
type Proxy struct {
	target   string
	listener *net.TCPListener
	counts   *counts
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
	running  sync.WaitGroup
	failed   error // why accept ended before Close; to be read when running is done

	mu      sync.Mutex
	faults  faults
	changed chan struct{} // closed and replaced when faults changes
	links   map[*link]struct{}
}

// New starts a proxy to target (host:port) on a free loopback port. It ends with
// the test. The target need not listen yet: while it does not, connections
// are reset.
func New(t testing.TB, target string) *Proxy {
	t.Helper()
	p, err := Listen("127.0.0.1:0", target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Listen starts a proxy for a program that is no test, and that calls Close.
// address is where it listens, host:port; port 0: a free one.
func Listen(address, target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("netfault: %w", err)
	}
	p := &Proxy{
		target:   target,
		listener: listener.(*net.TCPListener),
		counts:   newCounts(),
		changed:  make(chan struct{}),
		links:    make(map[*link]struct{}),
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.running.Go(p.accept)
	return p, nil
}

// Addr is the address for clients, as host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Connections is the number of connections made since New, refused and ended
// ones included.
func (p *Proxy) Connections() int { return int(p.counts.get(connections)) }

// BytesUp is the number of bytes that clients have sent since New.
func (p *Proxy) BytesUp() int64 { return p.counts.get(bytesUp) }

// BytesDown is the number of bytes that the target has sent since New.
func (p *Proxy) BytesDown() int64 { return p.counts.get(bytesDown) }

// AwaitConnections waits until Connections is at least n.
func (p *Proxy) AwaitConnections(ctx context.Context, n int) error {
	return p.counts.await(ctx, connections, int64(n))
}

// AwaitUp waits until BytesUp is at least n.
func (p *Proxy) AwaitUp(ctx context.Context, n int64) error {
	return p.counts.await(ctx, bytesUp, n)
}

// AwaitDown waits until BytesDown is at least n.
func (p *Proxy) AwaitDown(ctx context.Context, n int64) error {
	return p.counts.await(ctx, bytesDown, n)
}

func (p *Proxy) accept() {
	for {
		conn, err := p.listener.AcceptTCP()
		if err != nil {
			if p.ctx.Err() == nil {
				p.failed = fmt.Errorf("netfault: %w", err)
			}
			return
		}
		p.admit(conn)
		// Counted last, so that a Reset after AwaitConnections finds it.
		p.counts.add(connections, 1)
	}
}

func (p *Proxy) admit(conn *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.faults.refuse || p.ctx.Err() != nil {
		abort(conn)
		return
	}
	l := newLink(p, conn)
	p.links[l] = struct{}{}
	p.running.Go(func() {
		l.run()
		p.forget(l)
	})
}

func (p *Proxy) forget(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

func (p *Proxy) openLinks() []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.links))
}

// Close ends the proxy and its connections, with resets. The error is why it has
// not listened to the end. It may be called twice.
func (p *Proxy) Close() error {
	p.stop()
	p.listener.Close()
	p.Reset()
	p.running.Wait()
	return p.failed
}
