package config

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/keys"
)

const prefix = "FENCELOCK_"

// setting is one thing that can be set, bound to its place in a Config.
type setting struct {
	key    string // as in a file: its section, a dot, its name
	flag   string // empty: there is none
	value  pflag.Value
	def    string // as text; empty: the value stays empty
	usage  string
	secret bool // not to be shown
}

// variable is the environment variable of the setting.
func (s setting) variable() string {
	return prefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(s.key))
}

// settings lists all there are, bound to c.
func settings(c *Config) []setting {
	all := []setting{{key: "output", flag: "output", value: oneOf(&c.Output, "table", "json", "yaml"), def: "table", usage: "how to print"}}
	all = append(all, clientSettings(&c.Client)...)
	all = append(all, serverSettings(&c.Server)...)
	all = append(all, tokenSettings(&c.Server.Tokens)...)
	all = append(all, tlsSettings("client", &c.Server.ClientTLS)...)
	return append(all, tlsSettings("peer", &c.Server.PeerTLS)...)
}

func clientSettings(c *Client) []setting {
	return []setting{
		{key: "client.endpoints", flag: "endpoints", value: addresses(&c.Endpoints), def: client.DefaultEndpoint,
			usage: "members to ask, host:port or URLs, comma-separated"},
		{key: "client.namespace", flag: "namespace", value: namespace(&c.Namespace), def: keys.DefaultNamespace,
			usage: "where all keys lie in etcd"},
		{key: "client.dial-timeout", flag: "dial-timeout", value: duration(&c.DialTimeout, 1), def: client.DefaultDialTimeout.String(),
			usage: "how long a request may go without an answer"},
		{key: "client.ttl", flag: "ttl", value: durationBetween(&c.TTL, client.MinTTL, client.MaxTTL), def: client.DefaultTTL.String(),
			usage: "how long a lock outlives a holder that died"},
		{key: "client.owner", flag: "owner", value: owner(&c.Owner),
			usage: "who holds, for those who look at a lock (default host:pid)"},
		{key: "client.user", flag: "user", value: user(&c.User),
			usage: "etcd user; the password is in " + prefix + "CLIENT_PASSWORD or the file"},
		{key: "client.password", value: text(&c.Password), secret: true},
		{key: "client.cacert", flag: "cacert", value: text(&c.CACert), usage: "PEM file of the CA that signed the members' certificates"},
		{key: "client.cert", flag: "cert", value: text(&c.Cert), usage: "PEM file of the client's certificate"},
		{key: "client.key", flag: "key", value: text(&c.Key), usage: "PEM file of the client's key"},
	}
}

func serverSettings(s *Server) []setting {
	return []setting{
		{key: "server.name", flag: "name", value: memberName(&s.Name),
			usage: `the member's name (default "default"; with --peers or --join its peer address)`},
		{key: "server.data-dir", flag: "data-dir", value: filled(&s.DataDir), def: "fencelock-data", usage: "data folder"},
		{key: "server.listen-client", flag: "listen-client", value: addresses(&s.ListenClient),
			usage: "where clients connect (default 127.0.0.1:2379; with --peers also this host's address, port 2379)"},
		{key: "server.listen-peer", flag: "listen-peer", value: addresses(&s.ListenPeer),
			usage: "where other members connect (default 127.0.0.1:2380; with --peers this host's address there)"},
		{key: "server.advertise-client", flag: "advertise-client", value: addresses(&s.AdvertiseClient),
			usage: "what clients are told to dial (default: as --listen-client)"},
		{key: "server.advertise-peer", flag: "advertise-peer", value: addresses(&s.AdvertisePeer),
			usage: "what other members dial (default: as in --peers, else as --listen-peer)"},
		{key: "server.peers", flag: "peers", value: addresses(&s.Peers),
			usage: "the peer addresses of all members, this one included, the same on every host"},
		{key: "server.join", flag: "join", value: addresses(&s.Join),
			usage: "client addresses of a running cluster, which this member joins"},
		{key: "server.token-floor", flag: "token-floor", value: tokenFloor(&s.TokenFloor),
			usage: "issue tokens above this number, or above the microseconds since 1970 (now); only where there is no data yet"},
		{key: "server.listen-metrics", flag: "listen-metrics", value: addressOrOff(&s.ListenMetrics),
			usage: "where /livez, /readyz and /metrics are answered, without TLS (default 127.0.0.1:2381, if it is free)"},
		{key: "server.heartbeat", flag: "heartbeat", value: duration(&s.Heartbeat, time.Millisecond), def: "100ms", usage: "how often the leader shows itself"},
		{key: "server.election", flag: "election", value: duration(&s.Election, time.Millisecond), def: "1s",
			usage: "how long without the leader until an election; lease TTLs are at least 1.5 times that"},
		{key: "server.quota", flag: "quota", value: size(&s.Quota), def: "2GiB", usage: "limit of the database"},
		{key: "server.retention", flag: "retention", value: duration(&s.Retention, time.Second), def: "5m", usage: "how much history is kept"},
		{key: "server.defrag", flag: "defrag", value: durationOrOff(&s.Defrag, time.Minute), def: "1h",
			usage: "how often to see whether the database is worth defragmenting"},
		{key: "server.start-timeout", flag: "start-timeout", value: durationOrNone(&s.StartTimeout, time.Second),
			usage: "how long a start waits for other members before it ends with an error (default 1m, with --join 10m)"},
		{key: "server.log-level", flag: "log-level", value: oneOf(&s.LogLevel, "debug", "info", "warn", "error"), def: "warn",
			usage: "what to log, on standard error"},
		{key: "server.log-format", flag: "log-format", value: oneOf(&s.LogFormat, "console", "json"), def: "console", usage: "how to log"},
	}
}

func tokenSettings(t *ServerTokens) []setting {
	return []setting{
		{key: "server.auth-jwt-key", flag: "auth-jwt-key", value: text(&t.Key),
			usage: "PEM file of the private key that logins are signed with, the same on all members (default: etcd's simple tokens)"},
		{key: "server.auth-jwt-pub-key", flag: "auth-jwt-pub-key", value: text(&t.PubKey), usage: "PEM file of its public key, to be checked against it"},
		{key: "server.auth-jwt-ttl", flag: "auth-jwt-ttl", value: duration(&t.TTL, time.Second), def: "5m", usage: "how long a signed login is good for"},
	}
}

// tlsSettings are those of one side of a member. Their flags have the side's name
// before them, to tell them from the flags of a client.
func tlsSettings(side string, t *ServerTLS) []setting {
	return []setting{
		{key: "server." + side + "-cert", flag: side + "-cert", value: text(&t.Cert), usage: "PEM file of the certificate shown to " + side + "s"},
		{key: "server." + side + "-key", flag: side + "-key", value: text(&t.Key), usage: "PEM file of its key"},
		{key: "server." + side + "-cacert", flag: side + "-cacert", value: text(&t.CACert), usage: "PEM file of the CA that signed the certificates of " + side + "s"},
		{key: "server." + side + "-cert-auth", flag: side + "-cert-auth", value: boolean(&t.CertAuth), def: "false", usage: "refuse " + side + "s without a certificate"},
	}
}
