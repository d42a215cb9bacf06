package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/fencelock/fencelock/cluster"
)

// peerPort is where a member that joins listens for the others unless told
// otherwise, as etcd does.
const peerPort = "2380"

// A cluster is made, or joined.
var (
	errJoinPeers = errors.New("--join and --peers exclude each other: --peers makes a cluster, --join enters one that runs; pass one of them")
	errJoinFloor = errors.New("--token-floor is for a new cluster, and --join enters one that runs; leave one of them out")
)

// joining adds to cfg what a member that joins needs: an address that the others can
// dial, and a name, which is that address unless Name is set. The address is the
// one it is given, or that of this host from which the cluster is reached.
func (s Server) joining(ctx context.Context, cfg cluster.Config, here host) (cluster.Config, error) {
	switch {
	case len(s.Peers) > 0:
		return cluster.Config{}, errJoinPeers
	case s.TokenFloor != 0:
		return cluster.Config{}, errJoinFloor
	}
	address, err := s.ownPeerAddress(ctx, here)
	if err != nil {
		return cluster.Config{}, fmt.Errorf("join: %w", err)
	}
	me, err := parsePeers([]string{address})
	if err != nil {
		return cluster.Config{}, fmt.Errorf("join: %w", err)
	}
	cfg.Name = cmp.Or(s.Name, me[0].name)
	if len(cfg.AdvertisePeer) == 0 {
		cfg.AdvertisePeer = []string{address}
	}
	return withAddresses(ctx, cfg, me[0], here)
}

func (s Server) ownPeerAddress(ctx context.Context, here host) (string, error) {
	if len(s.AdvertisePeer) > 0 {
		return s.AdvertisePeer[0], nil
	}
	port := peerPort
	if len(s.ListenPeer) > 0 {
		u, err := ParseAddress(s.ListenPeer[0])
		if err != nil {
			return "", err
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsUnspecified() {
			return s.ListenPeer[0], nil
		}
		port = u.Port()
	}
	ip, err := here.sourceFor(ctx, s.Join[0])
	if err != nil {
		return "", fmt.Errorf("find this host's address: %w; pass --advertise-peer", err)
	}
	return net.JoinHostPort(ip, port), nil
}

// sourceFor returns the address of this host from which another one is reached.
func (h host) sourceFor(ctx context.Context, address string) (string, error) {
	u, err := ParseAddress(address)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	return h.source(ctx, u.Host)
}

// sourceAddress sends nothing: for UDP, to connect is to choose a route.
func sourceAddress(ctx context.Context, to string) (string, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", to)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	return host, err
}
