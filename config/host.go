package config

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// lookupTime bounds how long the names of peers are looked up.
const lookupTime = 5 * time.Second

// host is what is known about the machine that a member runs on, and what it
// knows about others. Tests have hosts of their own.
type host struct {
	addresses func() (ownAddresses, error)
	lookup    func(ctx context.Context, name string) ([]netip.Addr, error)
	source    func(ctx context.Context, to string) (string, error) // the own address on the way to host:port
}

func thisHost() host {
	return host{addresses: interfaceAddresses, lookup: lookupHost, source: sourceAddress}
}

// ownAddresses are those of a host's interfaces.
type ownAddresses []netip.Addr

// has reports whether ip is one of them. All of 127.0.0.0/8 is, whatever the
// interface says.
func (a ownAddresses) has(ip netip.Addr) bool { return ip.IsLoopback() || slices.Contains(a, ip) }

func interfaceAddresses() (ownAddresses, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var own ownAddresses
	for _, entry := range list {
		if network, ok := entry.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(network.IP); ok {
				own = append(own, ip.Unmap())
			}
		}
	}
	return own, nil
}

func lookupHost(ctx context.Context, name string) ([]netip.Addr, error) {
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	for i := range ips {
		ips[i] = ips[i].Unmap()
	}
	return ips, err
}

// found is what a peer's host stands for.
type found struct {
	ips []netip.Addr
	err error
}

// lookupAll looks up all peers at once, so that one name server that does not
// answer costs its time once.
func (h host) lookupAll(ctx context.Context, peers peerList) []found {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	all := make([]found, len(peers))
	var wg sync.WaitGroup
	for i, p := range peers {
		wg.Go(func() { all[i] = h.find(ctx, p.host) })
	}
	wg.Wait()
	return all
}

func (h host) find(ctx context.Context, name string) found {
	if ip, err := netip.ParseAddr(name); err == nil {
		return found{ips: []netip.Addr{ip.Unmap()}}
	}
	ips, err := h.lookup(ctx, name)
	return found{ips: ips, err: err}
}

// listenAdvice ends the errors of listenAddress.
const listenAdvice = "pass --listen-peer and --listen-client, with 0.0.0.0:PORT for all interfaces"

// listenAddress returns the address of this host for which a name stands.
func (h host) listenAddress(ctx context.Context, name string) (string, error) {
	if name == "localhost" {
		return name, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	own, err := h.addresses()
	if err != nil {
		return "", fmt.Errorf("list the addresses of this host: %w", err)
	}
	at := h.find(ctx, name)
	if at.err != nil {
		return "", fmt.Errorf("find out where to listen: %w; %s", at.err, listenAdvice)
	}
	return choose(name, at.ips, own)
}

// choose picks the first of a name's addresses at which this host can be reached.
// Debian resolves a host's own name to 127.0.1.1, where no other host connects
// to; loopback is taken only where the name itself is such an address.
func choose(name string, ips []netip.Addr, own ownAddresses) (string, error) {
	_, notIP := netip.ParseAddr(name)
	loopback := false
	for _, ip := range ips {
		if own.has(ip) && (!ip.IsLoopback() || notIP == nil) {
			return ip.String(), nil
		}
		loopback = loopback || ip.IsLoopback()
	}
	if loopback {
		return "", fmt.Errorf("%s is a loopback address on this host, where the other members cannot reach it; %s", name, listenAdvice)
	}
	return "", fmt.Errorf("%s is no address of this host; %s", name, listenAdvice)
}
