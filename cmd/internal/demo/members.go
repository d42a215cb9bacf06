package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/fencelock/fencelock/cluster"
)

const (
	memberCount = 3

	// startAttempts is how often a start is tried on other ports, when another
	// process was faster to take one.
	startAttempts = 5

	// Ports lie below the range that systems use for outgoing connections: there,
	// a connection of anybody's could take one at any moment.
	firstPort = 12000
	lastPort  = 32000
)

// members are the cluster of a demo, in this process.
type members []*cluster.Member

// startMembers starts a cluster on free loopback ports, with its data below dir.
// It syncs the disk as any other.
func startMembers(ctx context.Context, dir string) (members, error) {
	for attempt := range startAttempts {
		configs, err := memberConfigs(filepath.Join(dir, strconv.Itoa(attempt)))
		if err != nil {
			return nil, err
		}
		started, err := startAll(ctx, configs)
		if err == nil {
			return started, nil
		}
		if err = errors.Join(err, started.close()); !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("start %d members: other processes took the ports %d times in a row; try again", memberCount, startAttempts)
}

func memberConfigs(dir string) ([]cluster.Config, error) {
	addresses, err := freeAddresses(2 * memberCount)
	if err != nil {
		return nil, err
	}
	client, peer := addresses[:memberCount], addresses[memberCount:]
	configs := make([]cluster.Config, memberCount)
	peers := map[string][]string{}
	for i := range configs {
		name := fmt.Sprintf("m%d", i+1)
		peers[name] = peer[i : i+1]
		configs[i] = cluster.Config{
			Name:           name,
			DataDir:        filepath.Join(dir, name),
			ListenClient:   client[i : i+1],
			ListenPeer:     peer[i : i+1],
			InitialCluster: peers,
		}
	}
	return configs, nil
}

// freeAddresses finds n loopback addresses at which nobody listens. It holds all
// until it has the last, so that they differ.
func freeAddresses(n int) ([]string, error) {
	var addresses []string
	var err error
	for range 100 * n {
		if len(addresses) == n {
			return addresses, nil
		}
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.IntN(lastPort-firstPort)))
		var l net.Listener
		if l, err = net.Listen("tcp", address); err == nil {
			defer l.Close()
			addresses = append(addresses, address)
		}
	}
	return nil, fmt.Errorf("find %d free ports on 127.0.0.1 from %d to %d: %w", n, firstPort, lastPort, err)
}

// startAll starts members side by side. The first failure ends the other starts;
// those that had started are returned with it.
func startAll(ctx context.Context, configs []cluster.Config) (members, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var started members
	var starting sync.WaitGroup
	for _, cfg := range configs {
		starting.Go(func() {
			m, err := cluster.Start(ctx, cfg)
			if err != nil {
				cancel(err) // keeps the first
				return
			}
			mu.Lock()
			defer mu.Unlock()
			started = append(started, m)
		})
	}
	starting.Wait()
	return started, context.Cause(ctx)
}

// endpoints are the client addresses of all members, host:port.
func (all members) endpoints() []string {
	var list []string
	for _, m := range all {
		for _, address := range m.ClientAddrs() {
			list = append(list, strings.TrimPrefix(address, "http://"))
		}
	}
	return list
}

// close stops all members side by side.
func (all members) close() error {
	errs := make([]error, len(all))
	var closing sync.WaitGroup
	for i, m := range all {
		closing.Go(func() { errs[i] = m.Close() })
	}
	closing.Wait()
	return errors.Join(errs...)
}
