package netfault

import (
	"io"
	"net"
	"testing"
)

func TestStallDeliversLater(t *testing.T) {
	p := newEcho(t)
	c := dial(t, p)
	c.send("before")
	c.expect("before")

	p.Stall()
	c.send("held")
	await(t, p.AwaitUp, int64(len("beforeheld")))
	c.expectNothing()
	if got, want := p.BytesDown(), int64(len("before")); got != want {
		t.Errorf("while stalled the server sent %d bytes, want %d", got, want)
	}
	late := dial(t, p)
	late.send("late")
	late.expectNothing()

	p.Pass()
	c.expect("held")
	late.expect("late")
}

func TestStallReplies(t *testing.T) {
	p := newEcho(t)
	c := dial(t, p)
	p.StallReplies()
	c.send("ping")
	await(t, p.AwaitDown, 4)
	c.expectNothing()
	p.Pass()
	c.expect("ping")
}

func TestStallRequests(t *testing.T) {
	p := New(t, serve(t, func(conn *net.TCPConn) {
		io.WriteString(conn, "hello")
		echo(conn)
	}))
	p.StallRequests()
	c := dial(t, p)
	c.expect("hello")
	c.send("ping")
	await(t, p.AwaitUp, 4)
	c.expectNothing()
	if got, want := p.BytesDown(), int64(len("hello")); got != want {
		t.Errorf("the server sent %d bytes, want %d: it heard a held request", got, want)
	}
	p.Pass()
	c.expect("ping")
}

func TestStallHoldsTheEndOfTheStream(t *testing.T) {
	p := newEcho(t)
	c := dial(t, p)
	p.Stall()
	c.send("last")
	c.CloseWrite()
	await(t, p.AwaitUp, 4)
	c.expectNothing()
	p.Pass()
	c.expect("last")
	c.expectError(io.EOF)
}

func TestDropReplies(t *testing.T) {
	for name, end := range map[string]func(*Proxy){
		"Reset": (*Proxy).Reset,
		"Pass":  (*Proxy).Pass,
		"Stall": (*Proxy).Stall,
	} {
		t.Run(name, func(t *testing.T) {
			p := newEcho(t)
			c := dial(t, p)
			p.DropReplies()
			c.send("ping")
			await(t, p.AwaitDown, 4)
			c.expectNothing()
			end(p)
			c.expectReset()
		})
	}
}

// A connection that lost nothing has no hole and lives on.
func TestDropRepliesSparesTheSilent(t *testing.T) {
	p := newEcho(t)
	c := dial(t, p)
	c.send("before")
	c.expect("before")
	p.DropReplies()
	p.Pass()
	c.send("after")
	c.expect("after")
}
