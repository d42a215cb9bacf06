package netfault

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

func TestPass(t *testing.T) {
	p := newEcho(t)
	c := dial(t, p)
	c.send("ping")
	c.expect("ping")
	await(t, p.awaitConnections, 1)
	if p.Connections() != 1 || p.BytesUp() != 4 || p.BytesDown() != 4 {
		t.Errorf("counted %d connections, %d bytes up, %d down, want 1, 4, 4",
			p.Connections(), p.BytesUp(), p.BytesDown())
	}
	c.CloseWrite()
	c.expectError(io.EOF)
}

func TestReset(t *testing.T) {
	ended := make(chan error, 1)
	p := New(t, serve(t, func(conn *net.TCPConn) {
		_, err := io.Copy(conn, conn)
		ended <- err
	}))
	c := dial(t, p)
	c.send("ping")
	c.expect("ping")
	p.Reset()
	c.expectReset()
	if err := <-ended; err == nil {
		t.Error("the server's connection ended in order, want a reset")
	}
	c = dial(t, p)
	c.send("again")
	p.Pass()
	c.expect("again")
}

func TestRefuse(t *testing.T) {
	p := newEcho(t)
	open := dial(t, p)
	open.send("ping")
	open.expect("ping")

	p.Refuse()
	expectRefused(t, p)
	open.send("still here")
	open.expect("still here")
	await(t, p.awaitConnections, 2) // the refused one counts

	p.Pass()
	c := dial(t, p)
	c.send("ping")
	c.expect("ping")
}

func TestDelay(t *testing.T) {
	p := newEcho(t)
	c := dial(t, p)
	const delay = 50 * time.Millisecond
	p.Delay(delay)
	start := time.Now()
	c.send("ping")
	c.expect("ping")
	if took := time.Since(start); took < 2*delay {
		t.Errorf("the echo took %v, want at least %v there and back", took, 2*delay)
	}

	p.Delay(time.Hour)
	c.send("late")
	await(t, p.AwaitUp, 8)
	c.expectNothing()
	p.Pass()
	c.expect("late")
}

func TestTargetDown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	expectRefused(t, New(t, listener.Addr().String()))
}

func TestAwait(t *testing.T) {
	p := newEcho(t)
	dial(t, p)
	await(t, p.awaitConnections, 1)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := p.AwaitConnections(ctx, 2)
	if want := "await 2 connections, got 1: context canceled"; !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// The proxy ends with its test, whatever it was doing.
func TestEndsWithTheTest(t *testing.T) {
	target := serve(t, echo)
	var c client
	t.Run("inner", func(inner *testing.T) {
		p := New(inner, target)
		c = dial(t, p)
		p.Stall()
		c.send("held")
		await(inner, p.AwaitUp, 4)
	})
	c.expectReset()
}
