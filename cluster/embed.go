package cluster

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"go.etcd.io/etcd/pkg/v3/featuregate"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/features"
)

// embedConfig maps a valid cfg onto etcd's settings. Whatever matters for
// safety is set here even where etcd's default is the same today.
func embedConfig(cfg Config) (*embed.Config, error) {
	a, err := cfg.addresses()
	if err != nil {
		return nil, err
	}
	gates, err := featureGates()
	if err != nil {
		return nil, err
	}
	c := embed.NewConfig()
	c.ServerFeatureGate = gates
	setIdentity(c, cfg, a)
	setRaft(c, cfg)
	setLimits(c, cfg)
	setExposure(c, a)
	c.PeerTLSInfo = tlsInfo(cfg.PeerTLS)
	if err := setClientTLS(c, cfg); err != nil {
		return nil, err
	}
	if c.AuthToken, err = cfg.Tokens.setting(); err != nil {
		return nil, err
	}
	return c, nil
}

func setIdentity(c *embed.Config, cfg Config, a addresses) {
	c.Name = cfg.Name
	c.Dir = cfg.DataDir
	c.ListenClientUrls, c.AdvertiseClientUrls = a.listenClient, a.advertiseClient
	c.ListenPeerUrls, c.AdvertisePeerUrls = a.listenPeer, a.advertisePeer
	c.InitialCluster = initialCluster(a.peers)
	c.InitialClusterToken = cfg.ClusterToken
	c.ClusterState = embed.ClusterStateFlagNew
	if cfg.Existing {
		c.ClusterState = embed.ClusterStateFlagExisting
	}
	c.ForceNewCluster = false
}

// initialCluster writes peers as etcd reads them, "a=http://…,b=http://…".
func initialCluster(peers map[string][]url.URL) string {
	var list []string
	for name, urls := range peers {
		for _, u := range urls {
			list = append(list, name+"="+u.String())
		}
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

func setRaft(c *embed.Config, cfg Config) {
	c.TickMs = uint(cfg.Heartbeat.Milliseconds())
	c.ElectionMs = uint(cfg.Election.Milliseconds())
	c.PreVote = true             // a member that comes back does not depose the leader
	c.StrictReconfigCheck = true // no change of members that would lose the quorum
	c.UnsafeNoFsync = cfg.UnsafeNoFsync
}

func setLimits(c *embed.Config, cfg Config) {
	c.QuotaBackendBytes = cfg.Quota
	c.AutoCompactionMode = embed.CompactorModePeriodic
	c.AutoCompactionRetention = cfg.Retention.String()
	c.MaxRequestBytes = uint(cfg.MaxRequestBytes)
	c.MaxConcurrentStreams = cfg.MaxConcurrentStreams
	c.BcryptCost = uint(cfg.PasswordCost)
}

// setExposure closes what etcd leaves open on the client port beside gRPC.
func setExposure(c *embed.Config, a addresses) {
	c.EnableGRPCGateway = false
	c.EnableDistributedTracing = false
	c.EnablePprof = false
	c.LogLevel = "info" // "debug" would serve pprof and traces; the log's level is cfg.Logger's
	c.Metrics = "basic"
	c.HostWhitelist = hostWhitelist(a)
	// An empty set would admit every origin (AccessController.OriginAllowed).
	// No browser sends "none": an origin is "null" or has a scheme.
	c.CORS = map[string]struct{}{"none": {}}
	// etcd serves expvar there, the command line among it.
	c.UserHandlers = map[string]http.Handler{"/debug/": http.NotFoundHandler()}
}

// hostWhitelist has the Host headers that plain HTTP requests may carry; any
// other name is a page of somebody else's that a browser was led here from.
func hostWhitelist(a addresses) map[string]struct{} {
	hosts := map[string]struct{}{"localhost": {}, "127.0.0.1": {}, "::1": {}}
	for _, u := range slices.Concat(a.advertiseClient, a.listenClient) {
		if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsUnspecified() {
			hosts[u.Hostname()] = struct{}{}
		}
	}
	return hosts
}

// featureGates has the checks for corruption. The one at the start is run by
// Member.admit instead. etcd's own runs before peers are served, so that members
// restarted together wait 7 s for each of the others, and then skip it: 14.1 s for
// three, measured, and 0.2 s with this one, which gets answers. And when etcd's
// fails, it leaves its peer connections open.
func featureGates() (featuregate.FeatureGate, error) {
	gates := featuregate.New("fencelock", nil)
	if err := gates.Add(features.DefaultEtcdServerFeatureGates); err != nil {
		return nil, fmt.Errorf("feature gates: %w", err)
	}
	err := gates.SetFromMap(map[string]bool{
		string(features.CompactHashCheck):    true,
		string(features.InitialCorruptCheck): false,
	})
	if err != nil {
		return nil, fmt.Errorf("feature gates: %w", err)
	}
	return gates, nil
}
