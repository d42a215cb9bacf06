package cluster

import (
	"strings"
	"testing"
	"time"
)

// Values that are refused, and a part of what is said about each.
func TestValidate(t *testing.T) {
	three := map[string][]string{"a": {"127.0.0.1:1"}, "b": {"127.0.0.1:2"}, "c": {"127.0.0.1:3"}}
	for _, test := range []struct {
		want string
		cfg  Config
	}{
		{"member name", Config{Name: "a=b"}},
		{"heartbeat", Config{Heartbeat: 1500 * time.Microsecond}},
		{"heartbeat", Config{Heartbeat: -time.Second}},
		{"election timeout", Config{Election: 400 * time.Millisecond}},
		{"election timeout", Config{Election: time.Minute}},
		{"retention", Config{Retention: time.Millisecond}},
		{"start timeout", Config{StartTimeout: -1}},
		{"quota", Config{Quota: -1}},
		{"max request bytes", Config{MaxRequestBytes: 11 << 20}},
		{"certificate and key", Config{ClientTLS: TLS{CertFile: "c"}}},
		{"need a certificate", Config{PeerTLS: TLS{ClientCertAuth: true}}},
		{"no effect", Config{PeerTLS: TLS{CAFile: "ca"}}},
		{"listen client", Config{ListenClient: []string{"locks.example:2379"}}},
		{"host and a port", Config{ListenClient: []string{"127.0.0.1"}}},
		{"host and a port", Config{ListenPeer: []string{"127.0.0.1:0"}}},
		{"no certificate", Config{ListenPeer: []string{"https://127.0.0.1:2380"}}},
		{"http, but a certificate", Config{ListenClient: []string{"http://127.0.0.1:2379"}, ClientTLS: TLS{CertFile: "c", KeyFile: "k"}}},
		{"scheme", Config{ListenClient: []string{"unix://127.0.0.1:2379"}}},
		{"no more than", Config{ListenClient: []string{"http://127.0.0.1:2379/path"}}},
		{"nobody can dial", Config{ListenClient: []string{"0.0.0.0:2379"}}},
		{"nobody can dial", Config{ListenPeer: []string{"[::]:2380"}}},
		{"no member \"d\"", Config{Name: "d", InitialCluster: three}},
		{"but advertises", Config{Name: "a", InitialCluster: three, AdvertisePeer: []string{"127.0.0.1:9"}}},
		{"given for", Config{Name: "a", InitialCluster: map[string][]string{"a": {"127.0.0.1:1"}, "b": {"127.0.0.1:1"}}}},
		{"has no address", Config{Name: "a", InitialCluster: map[string][]string{"a": {"127.0.0.1:1"}, "b": nil}}},
	} {
		err := test.cfg.withDefaults().validate()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want an error about %q", test.cfg, err, test.want)
		}
	}
}

func TestBeyondLoopback(t *testing.T) {
	for address, want := range map[string]int{
		"127.0.0.1:1": 0, "127.9.9.9:1": 0, "localhost:1": 0, "[::1]:1": 0,
		"0.0.0.0:1": 1, "[::]:1": 1, "10.0.0.1:1": 1, "locks.example:1": 1,
	} {
		urls, err := parseAddresses("test", []string{address}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(beyondLoopback(urls)); got != want {
			t.Errorf("%s: got %d addresses beyond loopback, want %d", address, got, want)
		}
	}
}
