package cluster

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fencelock/fencelock/cluster/snapshot"
)

// Config describes one member. The zero value is a single node on
// 127.0.0.1:2379 with its data in ./fencelock-data.
//
// Addresses are host:port or URLs. Without a scheme they are https when the
// side they belong to, client or peer, has a certificate, and http otherwise.
type Config struct {
	Name    string // unique in the cluster; default "default"
	DataDir string // made with mode 0700 if missing; default "fencelock-data"

	ListenClient    []string // IP or localhost, and port; default 127.0.0.1:2379
	ListenPeer      []string // default 127.0.0.1:2380
	AdvertiseClient []string // what clients are told to dial; default ListenClient
	AdvertisePeer   []string // what peers dial; default InitialCluster[Name], else ListenPeer

	// InitialCluster has the peer addresses of every member by name, this one
	// included, the same on all members. Empty: a single node. It only counts
	// on the first start; later the folder knows the members.
	InitialCluster map[string][]string
	ClusterToken   string // tells clusters with the same addresses apart; default "fencelock"
	Existing       bool   // the cluster runs already and has added this member

	// TokenFloor makes a new cluster issue only tokens above it, for resources
	// that remember an older cluster: up to MaxFloor, or FloorNow. Default 0: none. It is
	// the same on all members, and is ignored where there is data.
	TokenFloor int64

	Heartbeat time.Duration // whole milliseconds; default 100 ms, as etcd
	// Election is the time without a leader's word after which a member stands
	// for election: 5 heartbeats to 50 s, default 1 s, as etcd. It also bounds
	// lease TTLs from below: whole seconds, at least 1.5 Election (2 s by default).
	Election time.Duration

	Quota     int64         // bytes of database; default 2 GiB, etcd's own default for one
	Retention time.Duration // history kept by automatic compaction, at least 1 s; default 5 min
	// MaxRequestBytes limits one request; default 1.5 MiB, as etcd, and at most
	// 10 MiB, from where etcd warns.
	MaxRequestBytes int
	// MaxConcurrentStreams limits the requests and streams of one connection;
	// more wait in the client. Default 4096: a process with 1,000 waiters
	// has one watch and one renewal or request each at its busiest, twice over.
	MaxConcurrentStreams uint32

	ClientTLS TLS
	PeerTLS   TLS
	Tokens    Tokens // what a login is answered with
	// PasswordCost is bcrypt's, 4 to 31: how hard passwords are to guess from stolen
	// data, and what a login costs a member. Default 10, as etcd: about 60 ms.
	PasswordCost int

	// ListenMetrics is where /livez, /readyz and /metrics are answered, host:port,
	// without TLS; default: nowhere. If MetricsOptional is set, and the port is in
	// use, the member says so in its log and goes on without.
	ListenMetrics   string
	MetricsOptional bool
	Namespace       string // whose locks are counted; default "fencelock/"

	Defrag Defrag

	StartTimeout time.Duration // until Start gives up; default 60 s
	Logger       *zap.Logger   // default: no log

	// UnsafeNoFsync acknowledges writes that are not on disk: a crash loses
	// them, and with them issued tokens. FOR TESTS ONLY, never for data.
	UnsafeNoFsync bool
}

// TLS names the PEM files of one side, client or peer. The zero TLS is none.
// Certificate and key are read anew for every connection, the CA as well on the
// side of clients; peers read theirs when a member starts.
type TLS struct {
	CertFile, KeyFile string
	CAFile            string // verifies the other side's certificate
	ClientCertAuth    bool   // refuse connections without a certificate of CAFile
}

func (c Config) withDefaults() Config {
	c.Name = orDefault(c.Name, "default")
	c.DataDir = orDefault(c.DataDir, "fencelock-data")
	c.ClusterToken = orDefault(c.ClusterToken, "fencelock")
	c.Heartbeat = orDefault(c.Heartbeat, 100*time.Millisecond)
	c.Election = orDefault(c.Election, time.Second)
	c.Quota = orDefault(c.Quota, 2<<30)
	c.Retention = orDefault(c.Retention, 5*time.Minute)
	c.MaxRequestBytes = orDefault(c.MaxRequestBytes, 3<<19)
	c.MaxConcurrentStreams = orDefault(c.MaxConcurrentStreams, 4096)
	c.StartTimeout = orDefault(c.StartTimeout, time.Minute)
	c.PasswordCost = orDefault(c.PasswordCost, 10)
	c.Logger = orDefault(c.Logger, zap.NewNop())
	c.Defrag = c.Defrag.withDefaults()
	if c.Tokens.KeyFile != "" {
		c.Tokens.TTL = orDefault(c.Tokens.TTL, 5*time.Minute)
	}
	return c.withAddresses()
}

func (c Config) withAddresses() Config {
	c.ListenClient = orList(c.ListenClient, []string{"127.0.0.1:2379"})
	c.ListenPeer = orList(c.ListenPeer, []string{"127.0.0.1:2380"})
	c.AdvertiseClient = orList(c.AdvertiseClient, c.ListenClient)
	c.AdvertisePeer = orList(orList(c.AdvertisePeer, c.InitialCluster[c.Name]), c.ListenPeer)
	if len(c.InitialCluster) == 0 {
		c.InitialCluster = map[string][]string{c.Name: c.AdvertisePeer}
	}
	return c
}

// MaxFloor is the largest TokenFloor.
const MaxFloor int64 = snapshot.MaxFloor

// FloorNow is a TokenFloor above all tokens of any cluster that made less than a
// million writes per second since 1970: the microseconds since then. Members that
// start together agree on the largest that one of them proposes.
const FloorNow int64 = -1

func (c Config) validate() error {
	return errors.Join(
		c.checkName(), c.checkTiming(), c.checkLimits(),
		c.ClientTLS.check("client"), c.PeerTLS.check("peer"), c.Tokens.check(),
		c.checkAddresses(), c.checkInitialCluster(),
	)
}

func (c Config) checkName() error {
	for name := range c.InitialCluster {
		if name == "" || strings.ContainsAny(name, "=, ") {
			return fmt.Errorf("member name %q: must not be empty or contain '=', ',' or spaces", name)
		}
	}
	return nil
}

// maxElection is etcd's limit (embed.maxElectionMs); more would leave a
// cluster without a leader for minutes.
const maxElection = 50 * time.Second

func (c Config) checkTiming() error {
	switch {
	case c.Heartbeat < time.Millisecond || c.Heartbeat%time.Millisecond != 0:
		return fmt.Errorf("heartbeat %v: must be whole milliseconds, at least 1", c.Heartbeat)
	case c.Election < 5*c.Heartbeat || c.Election > maxElection:
		return fmt.Errorf("election timeout %v: must be between 5 heartbeats (%v) and %v", c.Election, 5*c.Heartbeat, maxElection)
	case c.Election%time.Millisecond != 0:
		return fmt.Errorf("election timeout %v: must be whole milliseconds", c.Election)
	case c.Retention < time.Second:
		return fmt.Errorf("retention %v: must be at least 1s", c.Retention)
	case c.StartTimeout < 0:
		return fmt.Errorf("start timeout %v: must not be negative", c.StartTimeout)
	}
	return nil
}

func (c Config) checkLimits() error {
	switch {
	case c.Quota < 0:
		return fmt.Errorf("quota %d: must not be negative", c.Quota)
	case c.TokenFloor != FloorNow && (c.TokenFloor < 0 || c.TokenFloor > MaxFloor):
		return fmt.Errorf("token floor %d: must be between 0 and %d, or FloorNow", c.TokenFloor, MaxFloor)
	case c.PasswordCost < 4 || c.PasswordCost > 31:
		return fmt.Errorf("password cost %d: must be between 4 and 31", c.PasswordCost)
	case c.MaxRequestBytes < 0 || c.MaxRequestBytes > 10<<20:
		return fmt.Errorf("max request bytes %d: must be between 1 and %d", c.MaxRequestBytes, 10<<20)
	}
	return nil
}

func orDefault[T comparable](v, def T) T {
	if v == *new(T) {
		return def
	}
	return v
}

func orList(v, def []string) []string {
	if len(v) == 0 {
		return def
	}
	return v
}
