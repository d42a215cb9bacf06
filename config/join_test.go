package config

import (
	"context"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

// joiningHost reaches the cluster from 10.0.0.4.
func joiningHost() host {
	h := thisHost()
	h.addresses = func() (ownAddresses, error) { return ownAddresses{netip.MustParseAddr("10.0.0.4")}, nil }
	h.source = func(_ context.Context, to string) (string, error) {
		if !strings.HasPrefix(to, "10.0.0.") {
			return "", errors.New("no route to " + to)
		}
		return "10.0.0.4", nil
	}
	return h
}

// A member that joins has an address that others can dial, and a name.
func TestJoinAddresses(t *testing.T) {
	for _, test := range []struct {
		env                                          string
		name, listenPeer, advertisePeer, listenOther string
	}{
		{"", "10.0.0.4:2380", "10.0.0.4:2380", "10.0.0.4:2380", "10.0.0.4:2379"},
		{"NAME=n", "n", "10.0.0.4:2380", "10.0.0.4:2380", "10.0.0.4:2379"},
		{"LISTEN_PEER=0.0.0.0:9000", "10.0.0.4:9000", "0.0.0.0:9000", "10.0.0.4:9000", "10.0.0.4:2379"},
		{"LISTEN_PEER=10.0.0.4:9000", "10.0.0.4:9000", "10.0.0.4:9000", "10.0.0.4:9000", "10.0.0.4:2379"},
		{"ADVERTISE_PEER=http://10.0.0.4:9000", "10.0.0.4:9000", "10.0.0.4:9000", "http://10.0.0.4:9000", "10.0.0.4:2379"},
	} {
		c := mustLoad(t, Sources{Env: []string{"FENCELOCK_SERVER_JOIN=10.0.0.1:2379", "FENCELOCK_SERVER_" + test.env}})
		got, err := c.Server.member(context.Background(), joiningHost())
		if err != nil {
			t.Errorf("%s: %v", test.env, err)
			continue
		}
		have := []string{got.Name, got.ListenPeer[0], got.AdvertisePeer[0], got.ListenClient[0]}
		if want := []string{test.name, test.listenPeer, test.advertisePeer, test.listenOther}; !reflect.DeepEqual(have, want) {
			t.Errorf("%q: got name, peer addresses and client address %q, want %q", test.env, have, want)
		}
	}
}

func TestJoinSettings(t *testing.T) {
	for env, want := range map[string]string{
		"PEERS=a:1":              "--join and --peers exclude each other",
		"TOKEN_FLOOR=5":          "--token-floor is for a new cluster",
		"JOIN=nowhere.test:1":    "pass --advertise-peer",
		"LISTEN_PEER=10.9.9.9:1": "10.9.9.9 is no address of this host",
	} {
		from := []string{"FENCELOCK_SERVER_JOIN=10.0.0.1:2379", "FENCELOCK_SERVER_" + env}
		c := mustLoad(t, Sources{Env: from})
		if _, err := c.Server.member(context.Background(), joiningHost()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", env, err, want)
		}
	}
}
