package config

import "time"

// Config is every setting, with the defaults filled in.
type Config struct {
	Output string // how commands print: "table", "json" or "yaml"
	Client Client
	Server Server

	origins map[string]Origin // by key
}

// Client has the settings of everything that talks to a cluster.
type Client struct {
	Endpoints   []string // host:port or URLs of members
	TTL         time.Duration
	Namespace   string
	Owner       string // empty: "host:pid"
	DialTimeout time.Duration

	User, Password    string
	CACert, Cert, Key string // PEM files
}

// Server has the settings of one member. Addresses are host:port or URLs. What
// is empty has a default that depends on the rest, see Member.
type Server struct {
	Name    string
	DataDir string

	ListenClient, ListenPeer       []string
	AdvertiseClient, AdvertisePeer []string
	Peers                          []string // of every member, this one included; empty: a single node
	Join                           []string // client addresses of a running cluster that this member joins

	TokenFloor int64 // 0: none; cluster.FloorNow: now

	ListenMetrics string // host:port or "off"; empty: a default that yields to others

	Heartbeat, Election time.Duration
	Quota               int64 // bytes
	Retention           time.Duration
	Defrag              time.Duration // negative: never
	StartTimeout        time.Duration // 0: a minute, or 10 with Join

	LogLevel  string // "debug", "info", "warn" or "error"
	LogFormat string // "console" or "json"

	ClientTLS, PeerTLS ServerTLS
	Tokens             ServerTokens
}

// ServerTokens has the PEM files of the key that logins are signed with. Without
// one, etcd's simple tokens are used.
type ServerTokens struct {
	Key, PubKey string
	TTL         time.Duration
}

// ServerTLS has the PEM files of one side of a member.
type ServerTLS struct {
	Cert, Key, CACert string
	CertAuth          bool // refuse connections without a certificate of CACert
}

// Origin says where a setting's value came from.
type Origin struct {
	Layer Layer
	Name  string // of the flag, the variable or the file; empty for a default
}

// Layer is a place where settings can be given. A higher one decides.
type Layer int

// The layers.
const (
	Default Layer = iota
	File
	Environment
	Flag
)

// Origin returns where the value of the setting with this key came from.
func (c Config) Origin(key string) Origin { return c.origins[key] }
