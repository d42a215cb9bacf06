package clustertest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range from which systems take the ports of
// outgoing connections (Linux from 32768, others from 49152): above, a client that
// redials a stopped member can occupy its port, or even connect to itself.
const (
	firstPort = 12000
	lastPort  = 32000
)

// freePorts finds n ports that nobody listens on. It holds all of them until it
// has found the last, so that they differ; then another process may still be
// faster, and a start has to be tried again.
func freePorts(n int) ([]int, error) {
	var ports []int
	var err error
	for range 100 * n {
		if len(ports) == n {
			return ports, nil
		}
		port := firstPort + rand.IntN(lastPort-firstPort)
		var l net.Listener
		if l, err = net.Listen("tcp", address(port)); err != nil {
			continue
		}
		defer l.Close()
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("no %d free ports: %w", n, err)
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
