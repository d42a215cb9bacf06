package netfault

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// serve runs handle for every connection to a new loopback address.
func serve(t *testing.T, handle func(*net.TCPConn)) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				handle(conn.(*net.TCPConn))
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		running.Wait()
	})
	return listener.Addr().String()
}

func echo(conn *net.TCPConn) {
	io.Copy(conn, conn)
}

func newEcho(t *testing.T) *Proxy {
	t.Helper()
	return New(t, serve(t, echo))
}

// client is a connection through a proxy.
type client struct {
	t *testing.T
	*net.TCPConn
}

func dial(t *testing.T, p *Proxy) client {
	t.Helper()
	conn, err := net.DialTimeout("tcp", p.Addr(), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return client{t, conn.(*net.TCPConn)}
}

func (c client) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatalf("send %q: %v", s, err)
	}
}

func (c client) expect(want string) {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c, got); err != nil || string(got) != want {
		c.t.Fatalf("read %q, %v, want %q", got[:n], err, want)
	}
}

func (c client) expectNothing() {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	got := make([]byte, 64)
	if n, err := c.Read(got); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("read %q, %v, want nothing", got[:n], err)
	}
}

func (c client) expectError(want error) {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	got := make([]byte, 64)
	if n, err := c.Read(got); !errors.Is(err, want) {
		c.t.Fatalf("read %q, %v, want %v", got[:n], err, want)
	}
}

func (c client) expectReset() {
	c.t.Helper()
	c.expectError(syscall.ECONNRESET)
}

// expectRefused finds the reset of a new connection in the dial or after it.
func expectRefused(t *testing.T, p *Proxy) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", p.Addr(), 10*time.Second)
	switch {
	case err == nil:
		defer conn.Close()
		client{t, conn.(*net.TCPConn)}.expectReset()
	case !errors.Is(err, syscall.ECONNRESET):
		t.Fatalf("dial: %v, want a reset", err)
	}
}

func await(t *testing.T, wait func(context.Context, int64) error, n int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := wait(ctx, n); err != nil {
		t.Fatal(err)
	}
}

func (p *Proxy) awaitConnections(ctx context.Context, n int64) error {
	return p.AwaitConnections(ctx, int(n))
}
