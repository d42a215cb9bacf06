package config

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/cluster"
)

// fakeHost has two interfaces and knows some names.
func fakeHost() host {
	names := map[string]string{"a.example": "10.0.0.1", "b.example": "10.0.0.2", "c.example": "10.0.0.3", "self": "127.0.1.1", "mars": "10.9.9.9"}
	return host{
		addresses: func() (ownAddresses, error) {
			return ownAddresses{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")}, nil
		},
		lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			if ip, ok := names[name]; ok {
				return []netip.Addr{netip.MustParseAddr(ip)}, nil
			}
			return nil, fmt.Errorf("lookup %s: no such host", name)
		},
	}
}

// serverWith is the default settings with some changed.
func serverWith(t *testing.T, change func(*Server)) Server {
	t.Helper()
	s := mustLoad(t, Sources{}).Server
	change(&s)
	return s
}

func TestPeersFindThisHost(t *testing.T) {
	tests := []struct {
		peers, name string
		want        string // the member's name, or a part of the error
		listenPeer  string
	}{
		{"a.example:2380,b.example:2380,c.example:2380", "", "a.example:2380", "10.0.0.1:2380"},
		{"10.0.0.1:2380,10.0.0.2:2380,10.0.0.3:2380", "", "10.0.0.1:2380", "10.0.0.1:2380"},
		{"[fd00::1]:2380,[fd00::2]:2380", "", "[fd00::1]:2380", "[fd00::1]:2380"},
		{"http://a.example:7000,http://b.example:7000", "", "a.example:7000", "10.0.0.1:7000"},
		{"A.Example:2380,b.example:2380", "", "a.example:2380", "10.0.0.1:2380"},
		{"unknown:2380,a.example:2380", "", "a.example:2380", "10.0.0.1:2380"},
		{"localhost:1,b.example:2", "localhost:1", "localhost:1", "localhost:1"},
		{"127.0.0.1:1,127.0.0.1:2,127.0.0.1:3", "127.0.0.1:2", "127.0.0.1:2", "127.0.0.1:2"},
		{"a.example:2380,b.example:2380", "a.example", "a.example", "10.0.0.1:2380"},
		{"a.example:2380,b.example:2380", "own", "own", "10.0.0.1:2380"},

		{"127.0.0.1:1,127.0.0.1:2,127.0.0.1:3", "", "127.0.0.1:1, 127.0.0.1:2, 127.0.0.1:3 are all addresses of this host; pass --name", ""},
		{"b.example:2380,c.example:2380", "", "none of b.example:2380, c.example:2380 is an address of this host; pass --name", ""},
		{"unknown:2380,c.example:2380", "", "pass --name with the one that this member is (lookup unknown: no such host)", ""},
		{"127.0.0.1:1,127.0.0.1:2", "127.0.0.1", "are all addresses of this host; pass --name", ""},
		{"b.example:2380,c.example:2380", "x", "is an address of this host; pass --name", ""},
		{"[FD00:0::1]:02380,[fd00::2]:2380", "", "[fd00::1]:2380", "[fd00::1]:2380"},
		{"[fd00::1]:2380,[fd00::2]:2380", "fd00:0:0::1", "fd00:0:0::1", "[fd00::1]:2380"},
		{"[::1]:1,[::1]:2", "[0:0::1]:2", "[0:0::1]:2", "[::1]:2"},
		{"[::ffff:10.0.0.1]:2380,10.0.0.2:2380", "", "10.0.0.1:2380", "10.0.0.1:2380"},

		{"a.example:2380,a.example:2380", "", "a.example:2380 is there twice", ""},
		{"[fd00::1]:2380,[fd00:0:0::1]:2380", "", "[fd00::1]:2380 is there twice", ""},
		{"fd00::1:2380,b.example:2380", "", "want an IPv6 address in brackets", ""},
		{"self:2380,b.example:2380", "", "self is a loopback address on this host", ""},
		{"mars:2380,b.example:2380", "mars", "mars is no address of this host; pass --listen-peer", ""},
	}
	for _, test := range tests {
		s := serverWith(t, func(s *Server) { s.Name, s.Peers = test.name, strings.Split(test.peers, ",") })
		got, err := s.member(context.Background(), fakeHost())
		switch {
		case err != nil && (test.listenPeer != "" || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s as %q: error %q, want %q", test.peers, test.name, err, test.want)
		case err != nil:
		case got.Name != test.want || got.ListenPeer[0] != test.listenPeer:
			t.Errorf("%s as %q: %s at %s, want %s at %s", test.peers, test.name, got.Name, got.ListenPeer, test.want, test.listenPeer)
		}
	}
}

// A member of several serves other hosts, and commands on its own.
func TestPeersAddresses(t *testing.T) {
	peers := []string{"a.example:2380", "b.example:2380"}
	tests := []struct {
		change            func(*Server)
		listen, advertise []string
	}{
		{func(*Server) {}, []string{"10.0.0.1:2379", "127.0.0.1:2379"}, []string{"a.example:2379"}},
		{func(s *Server) { s.ListenClient = []string{"0.0.0.0:9000"} }, []string{"0.0.0.0:9000"}, []string{"a.example:9000"}},
		{func(s *Server) { s.ListenClient = []string{"https://[::]:9000"} }, []string{"https://[::]:9000"}, []string{"https://a.example:9000"}},
		{func(s *Server) { s.ListenClient = []string{"10.7.0.1:9000"} }, []string{"10.7.0.1:9000"}, []string{"10.7.0.1:9000"}},
		{func(s *Server) { s.AdvertiseClient = []string{"x:1"} }, []string{"10.0.0.1:2379", "127.0.0.1:2379"}, []string{"x:1"}},
	}
	for _, test := range tests {
		s := serverWith(t, func(s *Server) { s.Peers = peers; test.change(s) })
		got, err := s.member(context.Background(), fakeHost())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.ListenClient, test.listen) || !slices.Equal(got.AdvertiseClient, test.advertise) {
			t.Errorf("listen %q, advertise %q; want %q, %q", got.ListenClient, got.AdvertiseClient, test.listen, test.advertise)
		}
	}
	s := serverWith(t, func(s *Server) { s.Peers, s.ListenPeer = []string{"mars:1", "a.example:1"}, []string{"0.0.0.0:1"} })
	s.ListenClient, s.Name = []string{"0.0.0.0:2"}, "mars"
	got, err := s.member(context.Background(), fakeHost())
	if err != nil || got.ListenPeer[0] != "0.0.0.0:1" || got.AdvertiseClient[0] != "mars:2" {
		t.Errorf("with all addresses given: %v, %v", got, err)
	}
}

// All members must come to the same cluster, whatever the order of the list.
func TestPeersAgree(t *testing.T) {
	member := func(name string, peers ...string) cluster.Config {
		s := serverWith(t, func(s *Server) { s.Name, s.Peers = name, peers })
		s.ListenClient, s.ListenPeer = []string{"127.0.0.1:1"}, []string{"127.0.0.1:2"}
		cfg, err := s.member(context.Background(), fakeHost())
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	a := member("a.example", "a.example:2380", "b.example:2380", "c.example:2380")
	b := member("b.example", "c.example:2380", "b.example:2380", "A.example:2380")
	if a.ClusterToken != b.ClusterToken {
		t.Errorf("tokens %s and %s differ for one list", a.ClusterToken, b.ClusterToken)
	}
	if x, y := addressesOf(a), addressesOf(b); !slices.Equal(x, y) {
		t.Errorf("addresses %v and %v differ for one list", x, y)
	}
	if len(a.InitialCluster) != 3 || len(b.InitialCluster) != 3 {
		t.Errorf("members %v and %v, want three each", a.InitialCluster, b.InitialCluster)
	}
	other := member("a.example", "a.example:2380", "b.example:2380")
	if a.ClusterToken == other.ClusterToken {
		t.Error("another list of peers has the same token")
	}
}

func addressesOf(cfg cluster.Config) []string {
	var list []string
	for _, addresses := range cfg.InitialCluster {
		list = append(list, addresses...)
	}
	slices.Sort(list)
	return list
}

// A name of one's own goes with an address that says which member it is.
func TestPeersByAddress(t *testing.T) {
	for _, change := range []func(*Server){
		func(s *Server) { s.ListenPeer = []string{"127.0.0.1:2"} },
		func(s *Server) { s.AdvertisePeer, s.ListenPeer = []string{"http://127.0.0.1:2"}, []string{"0.0.0.0:2"} },
	} {
		s := serverWith(t, func(s *Server) {
			s.Name, s.Peers = "own", []string{"127.0.0.1:1", "127.0.0.1:2"}
			change(s)
		})
		got, err := s.member(context.Background(), fakeHost())
		if err != nil || got.Name != "own" || !slices.Equal(got.InitialCluster["own"], []string{"127.0.0.1:2"}) || len(got.InitialCluster) != 2 {
			t.Errorf("got %+v, %v; want own at 127.0.0.1:2", got, err)
		}
	}
}
