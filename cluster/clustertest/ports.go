package clustertest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// Ports are taken from below the range from which systems take the ports of
// outgoing connections (Linux from 32768, others from 49152): above, a client that
// redials a stopped member can occupy its port, or even connect to itself.
const (
	firstPort = 12000
	lastPort  = 32000
)

// given has the ports that were given out. None is given twice in a process: its
// first owner may not listen yet, or be about to restart.
var given sync.Map

// FreeAddress returns a loopback address, host:port, that nobody listens on and
// that no earlier call has returned. Another process may still be faster.
func FreeAddress(t testing.TB) string {
	t.Helper()
	var err error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		var l net.Listener
		if l, err = net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatalf("no free port from %d to %d: %v", firstPort, lastPort, err)
	return ""
}
