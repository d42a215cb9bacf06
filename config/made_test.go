package config

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster"
)

// Every setting arrives in what clients and members are made of.
func TestClientConfig(t *testing.T) {
	c := mustLoad(t, Sources{Env: []string{
		"FENCELOCK_CLIENT_ENDPOINTS=a:1,b:2", "FENCELOCK_CLIENT_TTL=9s", "FENCELOCK_CLIENT_NAMESPACE=n/", "FENCELOCK_CLIENT_OWNER=me",
		"FENCELOCK_CLIENT_USER=u", "FENCELOCK_CLIENT_PASSWORD=p", "FENCELOCK_CLIENT_DIAL_TIMEOUT=3s",
	}})
	got, err := c.Client.Config()
	if err != nil {
		t.Fatal(err)
	}
	want := client.Config{Endpoints: []string{"a:1", "b:2"}, TTL: 9 * time.Second, Namespace: "n/", Owner: "me", Username: "u", Password: "p", DialTimeout: 3 * time.Second}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMemberConfig(t *testing.T) {
	c := mustLoad(t, Sources{Env: []string{
		"FENCELOCK_SERVER_NAME=n", "FENCELOCK_SERVER_DATA_DIR=/d", "FENCELOCK_SERVER_LISTEN_CLIENT=127.0.0.1:1", "FENCELOCK_SERVER_LISTEN_PEER=127.0.0.1:2",
		"FENCELOCK_SERVER_ADVERTISE_CLIENT=a:1", "FENCELOCK_SERVER_ADVERTISE_PEER=a:2", "FENCELOCK_SERVER_HEARTBEAT=50ms", "FENCELOCK_SERVER_ELECTION=2s",
		"FENCELOCK_SERVER_QUOTA=1GiB", "FENCELOCK_SERVER_LISTEN_METRICS=127.0.0.1:3", "FENCELOCK_SERVER_DEFRAG=3h", "FENCELOCK_SERVER_RETENTION=7m",
		"FENCELOCK_SERVER_START_TIMEOUT=5m",
		"FENCELOCK_SERVER_TOKEN_FLOOR=9007",
		"FENCELOCK_SERVER_AUTH_JWT_KEY=jk", "FENCELOCK_SERVER_AUTH_JWT_PUB_KEY=jp", "FENCELOCK_SERVER_AUTH_JWT_TTL=7s",
		"FENCELOCK_SERVER_CLIENT_CERT=cc", "FENCELOCK_SERVER_CLIENT_KEY=ck", "FENCELOCK_SERVER_CLIENT_CACERT=ca", "FENCELOCK_SERVER_CLIENT_CERT_AUTH=true",
		"FENCELOCK_SERVER_PEER_CERT=pc", "FENCELOCK_SERVER_PEER_KEY=pk", "FENCELOCK_SERVER_PEER_CACERT=pa", "FENCELOCK_SERVER_PEER_CERT_AUTH=true",
	}})
	got, err := c.Server.Member(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := cluster.Config{
		Name: "n", DataDir: "/d", ListenClient: []string{"127.0.0.1:1"}, ListenPeer: []string{"127.0.0.1:2"},
		AdvertiseClient: []string{"a:1"}, AdvertisePeer: []string{"a:2"}, Heartbeat: 50 * time.Millisecond, Election: 2 * time.Second,
		Quota: 1 << 30, Retention: 7 * time.Minute, TokenFloor: 9007, ListenMetrics: "127.0.0.1:3", Defrag: cluster.Defrag{Every: 3 * time.Hour}, StartTimeout: 5 * time.Minute,
		ClientTLS: cluster.TLS{CertFile: "cc", KeyFile: "ck", CAFile: "ca", ClientCertAuth: true},
		Tokens:    cluster.Tokens{KeyFile: "jk", PublicKeyFile: "jp", TTL: 7 * time.Second},
		PeerTLS:   cluster.TLS{CertFile: "pc", KeyFile: "pk", CAFile: "pa", ClientCertAuth: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Settings that do not go together are refused before anything is sent.
func TestSettingsTogether(t *testing.T) {
	for env, want := range map[string]string{
		"CLIENT_USER=u":                               "set FENCELOCK_CLIENT_PASSWORD",
		"CLIENT_PASSWORD=p":                           "a password without a user",
		"CLIENT_CERT=x":                               "--cert and --key go together",
		"CLIENT_CACERT=/none":                         "read CA: open /none",
		"CLIENT_CACERT=made_test.go":                  "no certificate in made_test.go",
		"CLIENT_CACERT=x CLIENT_ENDPOINTS=http://a:1": "http, but TLS files are given",
		"CLIENT_ENDPOINTS=http://a:1,https://b:1":     "one with TLS, one without",
		"CLIENT_ENDPOINTS=a:1,https://b:1":            "one with TLS, one without",
		"SERVER_CLIENT_CERT=x":                        "--client-cert and --client-key go together",
		"SERVER_PEER_CACERT=x":                        "--peer-cacert without --peer-cert has no effect",
		"SERVER_PEER_CERT=x SERVER_PEER_KEY=y SERVER_PEER_CERT_AUTH=1": "--peer-cert-auth needs --peer-cacert",
		"SERVER_AUTH_JWT_PUB_KEY=x":                                    "--auth-jwt-pub-key without --auth-jwt-key",
		"SERVER_AUTH_JWT_KEY=x SERVER_AUTH_JWT_TTL=1500ms":             "want whole seconds",
		"SERVER_HEARTBEAT=1s SERVER_ELECTION=2s":                       "want at least 5 heartbeats",
	} {
		var list []string
		for assignment := range strings.FieldsSeq(env) {
			list = append(list, prefix+assignment)
		}
		c := mustLoad(t, Sources{Env: list})
		_, err := c.Client.Config()
		if strings.HasPrefix(env, "SERVER") {
			_, err = c.Server.Member(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", env, err, want)
		}
	}
}

// Health and metrics have a default that gives way, and can be switched off.
func TestListenMetrics(t *testing.T) {
	for given, want := range map[string]cluster.Config{
		"":            {ListenMetrics: "127.0.0.1:2381", MetricsOptional: true},
		"off":         {},
		"0.0.0.0:999": {ListenMetrics: "0.0.0.0:999"},
	} {
		var env []string
		if given != "" {
			env = []string{"FENCELOCK_SERVER_LISTEN_METRICS=" + given, "FENCELOCK_SERVER_DEFRAG=off"}
		}
		c := mustLoad(t, Sources{Env: env})
		got, err := c.Server.Member(context.Background())
		if err != nil || got.ListenMetrics != want.ListenMetrics || got.MetricsOptional != want.MetricsOptional {
			t.Errorf("%q: %+v, %v; want %q, optional %v", given, got, err, want.ListenMetrics, want.MetricsOptional)
		}
		if off := got.Defrag.Every < 0; off != (given != "") {
			t.Errorf("%q: defragmentation every %v", given, got.Defrag.Every)
		}
	}
	for _, bad := range []string{"127.0.0.1", "http://a:1", ":2381", "a:1/x"} {
		if _, err := Load(Sources{Env: []string{"FENCELOCK_SERVER_LISTEN_METRICS=" + bad}}); err == nil {
			t.Errorf("listen-metrics %q: got no error, want one", bad)
		}
	}
}
