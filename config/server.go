package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/fencelock/fencelock/cluster"
)

// Member returns what cluster.Start takes, but for a Logger. With Peers it looks
// up which of them this host is, unless Name or an address says so, within a few
// seconds or what ctx allows.
func (s Server) Member(ctx context.Context) (cluster.Config, error) {
	return s.member(ctx, thisHost())
}

func (s Server) member(ctx context.Context, here host) (cluster.Config, error) {
	if err := s.check(); err != nil {
		return cluster.Config{}, err
	}
	cfg := cluster.Config{
		Name:            s.Name,
		DataDir:         s.DataDir,
		ListenClient:    s.ListenClient,
		ListenPeer:      s.ListenPeer,
		AdvertiseClient: s.AdvertiseClient,
		AdvertisePeer:   s.AdvertisePeer,
		TokenFloor:      s.TokenFloor,
		Heartbeat:       s.Heartbeat,
		Election:        s.Election,
		Quota:           s.Quota,
		Retention:       s.Retention,
		Defrag:          cluster.Defrag{Every: s.Defrag},
		StartTimeout:    s.StartTimeout,
		ClientTLS:       s.ClientTLS.member(),
		PeerTLS:         s.PeerTLS.member(),
		Tokens:          s.Tokens.member(),
	}
	cfg.ListenMetrics, cfg.MetricsOptional = s.metrics()
	if len(s.Join) > 0 {
		return s.joining(ctx, cfg, here)
	}
	if len(s.Peers) == 0 {
		return cfg, nil
	}
	return s.amongPeers(ctx, cfg, here)
}

// metrics is where health and metrics are answered, empty: nowhere, and whether the
// member does without if somebody else has the port: nobody has asked for the
// default, and several members on one host all have it.
func (s Server) metrics() (address string, optional bool) {
	switch s.ListenMetrics {
	case "":
		return defaultMetrics, true
	case off:
		return "", false
	}
	return s.ListenMetrics, false
}

// defaultMetrics is next to the ports for clients and peers, as etcd's guides
// have it.
const defaultMetrics = "127.0.0.1:2381"

// amongPeers adds to cfg what follows from the list of peers.
func (s Server) amongPeers(ctx context.Context, cfg cluster.Config, here host) (cluster.Config, error) {
	peers, err := parsePeers(s.Peers)
	if err != nil {
		return cluster.Config{}, fmt.Errorf("peers: %w", err)
	}
	i, err := peers.locate(ctx, s, here)
	if err != nil {
		return cluster.Config{}, fmt.Errorf("peers: %w", err)
	}
	cfg.ClusterToken = peers.token()
	peers[i].name = cmp.Or(s.Name, peers[i].name)
	cfg.Name, cfg.InitialCluster = peers[i].name, peers.initialCluster()
	return withAddresses(ctx, cfg, peers[i], here)
}

// check refuses settings that do not go together. cluster.Start does, too, but in
// its own words.
func (s Server) check() error {
	if s.Election < 5*s.Heartbeat {
		return fmt.Errorf("--election %v: want at least 5 heartbeats, which are %v", s.Election, 5*s.Heartbeat)
	}
	return errors.Join(s.ClientTLS.check("client"), s.PeerTLS.check("peer"), s.Tokens.check())
}

func (t ServerTLS) check(side string) error {
	switch {
	case (t.Cert == "") != (t.Key == ""):
		return fmt.Errorf("--%s-cert and --%s-key go together", side, side)
	case t.CACert != "" && t.Cert == "":
		return fmt.Errorf("--%s-cacert without --%s-cert has no effect", side, side)
	case t.CertAuth && t.CACert == "":
		return fmt.Errorf("--%s-cert-auth needs --%s-cacert, to verify certificates with", side, side)
	}
	return nil
}

func (t ServerTLS) member() cluster.TLS {
	return cluster.TLS{CertFile: t.Cert, KeyFile: t.Key, CAFile: t.CACert, ClientCertAuth: t.CertAuth}
}

func (t ServerTokens) check() error {
	switch {
	case t.Key == "" && t.PubKey != "":
		return errors.New("--auth-jwt-pub-key without --auth-jwt-key: a member that cannot sign cannot answer a login")
	case t.Key != "" && t.TTL%time.Second != 0:
		return fmt.Errorf("--auth-jwt-ttl %v: want whole seconds", t.TTL)
	}
	return nil
}

// member has no TTL where there is no key: simple tokens do not ask for one.
func (t ServerTokens) member() cluster.Tokens {
	if t.Key == "" {
		return cluster.Tokens{}
	}
	return cluster.Tokens{KeyFile: t.Key, PublicKeyFile: t.PubKey, TTL: t.TTL}
}

// PeerHosts returns the hosts of Peers, without ports, each once.
func (s Server) PeerHosts() ([]string, error) {
	peers, err := parsePeers(s.Peers)
	if err != nil {
		return nil, fmt.Errorf("peers: %w", err)
	}
	var hosts []string
	for _, p := range peers {
		if !slices.Contains(hosts, p.host) {
			hosts = append(hosts, p.host)
		}
	}
	return hosts, nil
}

// clientPort is where a member listens for clients unless told otherwise, as
// etcd does.
const clientPort = "2379"

// withAddresses fills in where a member of several listens and what it advertises,
// as far as cfg does not say: its own address in the list of peers.
func withAddresses(ctx context.Context, cfg cluster.Config, me peer, here host) (cluster.Config, error) {
	if len(cfg.ListenPeer) == 0 || len(cfg.ListenClient) == 0 {
		ip, err := here.listenAddress(ctx, me.host)
		if err != nil {
			return cluster.Config{}, fmt.Errorf("peers: %w", err)
		}
		if len(cfg.ListenPeer) == 0 {
			cfg.ListenPeer = []string{net.JoinHostPort(ip, me.port)}
		}
		if len(cfg.ListenClient) == 0 {
			cfg = listenForClients(cfg, me, ip)
		}
	}
	if len(cfg.AdvertiseClient) == 0 {
		cfg.AdvertiseClient = reachable(cfg.ListenClient, me.host)
	}
	return cfg, nil
}

// listenForClients lets other hosts in, and beside them commands on this one,
// which look at 127.0.0.1 unless told otherwise.
func listenForClients(cfg cluster.Config, me peer, ip string) cluster.Config {
	cfg.ListenClient = []string{net.JoinHostPort(ip, clientPort)}
	if len(cfg.AdvertiseClient) == 0 {
		cfg.AdvertiseClient = []string{net.JoinHostPort(me.host, clientPort)}
	}
	if at, err := netip.ParseAddr(ip); err == nil && !at.IsLoopback() {
		cfg.ListenClient = append(cfg.ListenClient, net.JoinHostPort("127.0.0.1", clientPort))
	}
	return cfg
}

// reachable returns listen with the host's name where an address stands for all
// interfaces, which nobody can dial.
func reachable(listen []string, name string) []string {
	var list []string
	for _, address := range listen {
		u, err := ParseAddress(address)
		if err != nil {
			return listen // settings are checked when they are read
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsUnspecified() {
			address = at(u, net.JoinHostPort(name, u.Port()))
		}
		list = append(list, address)
	}
	return list
}
