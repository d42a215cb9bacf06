package netfault

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

// count sends 1, 2, 3, … until the connection ends.
func count(conn *net.TCPConn) {
	w := bufio.NewWriter(conn)
	for n := uint64(1); ; n++ {
		if binary.Write(w, binary.BigEndian, n) != nil {
			return
		}
	}
}

// Faults strike in the middle of writes; the bytes come out whole and in order.
func TestFaultsLoseNothing(t *testing.T) {
	p := New(t, serve(t, count))
	c := dial(t, p)
	stop := make(chan struct{})
	var striking sync.WaitGroup
	for _, strike := range []func(){p.Stall, p.StallReplies, p.StallRequests, func() { p.Delay(time.Microsecond) }} {
		striking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					strike()
					p.Pass()
				}
			}
		})
	}
	defer striking.Wait()
	defer close(stop)

	c.SetReadDeadline(time.Now().Add(time.Minute))
	r := bufio.NewReader(c)
	for want := uint64(1); want <= 1<<18; want++ {
		var got uint64
		if err := binary.Read(r, binary.BigEndian, &got); err != nil || got != want {
			t.Fatalf("read %d, %v, want %d", got, err, want)
		}
	}
}

// A stall stops even the write that waits for a slow reader.
func TestStallCutsAWriteShort(t *testing.T) {
	p := New(t, serve(t, count))
	c := dial(t, p)
	down := awaitFull(t, p)
	p.Stall()
	if !free(&down.mu) {
		t.Fatal("a write is under way in a stalled link")
	}

	// Read what the kernel had taken: it now has room for any write that goes on.
	c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	n, err := io.Copy(io.Discard, c)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("after %d bytes: %v, want silence", n, err)
	}
	c.expectNothing()

	p.Pass()
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.CopyN(io.Discard, c, 1<<20); err != nil {
		t.Fatalf("after Pass: %v", err)
	}
}

// awaitFull waits until nothing goes down the only connection because its client
// does not read.
func awaitFull(t *testing.T, p *Proxy) (down *pump) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		_, changed := p.counts.look(bytesDown)
		if down := onlyPumpDown(p); down != nil && len(down.held) == maxHeld {
			return down
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("the link did not fill")
		}
	}
}

func onlyPumpDown(p *Proxy) *pump {
	for _, l := range p.openLinks() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.pumps) == 2 {
			return l.pumps[1]
		}
	}
	return nil
}

// free says whether nobody keeps mu: a look at the mode takes it for an instant.
func free(mu *sync.Mutex) bool {
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if mu.TryLock() {
			mu.Unlock()
			return true
		}
	}
	return false
}

func TestHeldBytesAreBounded(t *testing.T) {
	received := make(chan int64, 1)
	p := New(t, serve(t, func(conn *net.TCPConn) {
		n, _ := io.Copy(io.Discard, conn)
		received <- n
	}))
	c := dial(t, p)
	p.Stall()
	c.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
	sent, err := c.Write(make([]byte, 64<<20))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("wrote %d bytes into a stalled link, %v, want a full one", sent, err)
	}
	// One chunk is with the writer, one with the reader.
	if got, most := p.BytesUp(), int64((maxHeld+2)*chunkSize); got > most {
		t.Errorf("the proxy took %d bytes, want at most %d", got, most)
	}
	p.Pass()
	c.CloseWrite()
	if got := <-received; got != int64(sent) {
		t.Errorf("the server received %d bytes, want the %d sent", got, sent)
	}
}
