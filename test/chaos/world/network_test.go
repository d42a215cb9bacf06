//go:build linux

package world

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// inside runs f on a thread in the host's namespace. Sockets stay where they were
// made.
func inside(t *testing.T, h *Host, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		err := h.enter()
		if err == nil {
			err = f()
		}
		done <- err
	}()
	must(t, <-done)
}

// ear is a host's socket for datagrams.
type ear struct{ *net.UDPConn }

func newEar(t *testing.T, h *Host) ear {
	t.Helper()
	var e ear
	inside(t, h, func() (err error) {
		e.UDPConn, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(h.Address)})
		return err
	})
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func (e ear) say(t *testing.T, to ear, text string) {
	t.Helper()
	_, err := e.WriteTo([]byte(text), to.LocalAddr())
	must(t, err)
}

// hear is the next datagram; empty: none comes.
func (e ear) hear(limit time.Duration) string {
	buf := make([]byte, 2048)
	_ = e.SetReadDeadline(time.Now().Add(limit))
	n, _, _ := e.ReadFrom(buf)
	return string(buf[:n])
}

func (e ear) hears(t *testing.T, want string) {
	t.Helper()
	if got := e.hear(testTime); got != want {
		t.Errorf("heard %.20q, want %q", got, want)
	}
}

func cutOneWay(t *testing.T, w *World) {
	h, a, b := w.Hosts, w.Members[0].Host, w.Members[1].Host
	earA, earB := newEar(t, a), newEar(t, b)
	undo, err := h.Lose(a.Address, b.Address)
	must(t, err)
	undoAll, err := h.Lose(a.Address, Everywhere)
	must(t, err)
	earA.say(t, earB, "lost")
	earB.say(t, earA, "the other way")
	earA.hears(t, "the other way")
	must(t, undo())
	earA.say(t, earB, "lost too: the second cut stands")
	must(t, undoAll())
	earA.say(t, earB, "undone")
	earB.hears(t, "undone")

	undo, err = h.Lose(Everywhere, b.Address)
	must(t, err)
	earA.say(t, earB, "lost")
	must(t, h.Heal())
	must(t, undo())
	earA.say(t, earB, "healed")
	earB.hears(t, "healed")
}

func filtersAreUndone(t *testing.T, w *World) {
	h, a, b := w.Hosts, w.Clients[0].Host, w.Members[1].Host
	earA, earB := newEar(t, a), newEar(t, b)
	for name, lose := range map[string]func() (func() error, error){
		"share": func() (func() error, error) { return h.LoseShare(50) },
		"slow":  func() (func() error, error) { return h.Slow(b, 64) },
	} {
		undo, err := lose()
		must(t, err)
		const sent = 200
		for range sent {
			earA.say(t, earB, string(make([]byte, 1000)))
		}
		heard := 0
		for earB.hear(500*time.Millisecond) != "" {
			heard++
		}
		if heard == 0 || heard > sent*3/4 {
			t.Errorf("%s: %d of %d datagrams heard, want some and not most", name, heard, sent)
		}
		must(t, undo())
		earA.say(t, earB, "undone")
		earB.hears(t, "undone")
	}
	undo, err := h.Reset(a.Address, b.Address)
	must(t, err)
	dial := func() error {
		conn, err := net.DialTimeout("tcp4", w.Members[1].Endpoint, testTime)
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	inside(t, a, func() error {
		if err := dial(); !errors.Is(err, syscall.ECONNREFUSED) {
			return fmt.Errorf("dial: %v, want a reset", err)
		}
		return nil
	})
	must(t, undo())
	inside(t, a, dial)
}
