package cluster

import (
	"maps"
	"slices"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/features"
)

func mustEmbed(t *testing.T, cfg Config) *embed.Config {
	t.Helper()
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		t.Fatalf("validate: %v", err)
	}
	c, err := embedConfig(cfg)
	if err != nil {
		t.Fatalf("embedConfig: %v", err)
	}
	return c
}

// Every setting of etcd's that safety rests on, as it is without any argument.
func TestSafeDefaults(t *testing.T) {
	c := mustEmbed(t, Config{})
	for _, s := range []struct {
		name      string
		got, want any
	}{
		{"Name", c.Name, "default"},
		{"Dir", c.Dir, "fencelock-data"},
		{"ListenClientUrls", texts(c.ListenClientUrls)[0], "http://127.0.0.1:2379"},
		{"AdvertiseClientUrls", texts(c.AdvertiseClientUrls)[0], "http://127.0.0.1:2379"},
		{"ListenPeerUrls", texts(c.ListenPeerUrls)[0], "http://127.0.0.1:2380"},
		{"AdvertisePeerUrls", texts(c.AdvertisePeerUrls)[0], "http://127.0.0.1:2380"},
		{"ListenClientHttpUrls", len(c.ListenClientHttpUrls), 0},
		{"ListenMetricsUrls", len(c.ListenMetricsUrls), 0},
		{"InitialCluster", c.InitialCluster, "default=http://127.0.0.1:2380"},
		{"InitialClusterToken", c.InitialClusterToken, "fencelock"},
		{"ClusterState", c.ClusterState, "new"},
		{"ForceNewCluster", c.ForceNewCluster, false},
		{"UnsafeNoFsync", c.UnsafeNoFsync, false},

		{"TickMs", c.TickMs, uint(100)},
		{"ElectionMs", c.ElectionMs, uint(1000)}, // shortest lease: 2 s
		{"PreVote", c.PreVote, true},
		{"StrictReconfigCheck", c.StrictReconfigCheck, true},
		{"MaxLearners", c.MaxLearners, 1},

		{"CompactHashCheck", c.ServerFeatureGate.Enabled(features.CompactHashCheck), true},
		{"CompactHashCheckTime", c.CompactHashCheckTime, time.Minute},
		{"InitialCorruptCheck", c.ServerFeatureGate.Enabled(features.InitialCorruptCheck), false}, // TestCorruptMember

		{"FastLeaseKeepAlive", c.ServerFeatureGate.Enabled(features.FastLeaseKeepAlive), true}, // renewals pass a leader that is defragmented
		{"LeaseCheckpoint", c.ServerFeatureGate.Enabled(features.LeaseCheckpoint), false},      // a new leader gives every lease its whole TTL
		{"InitialElectionTickAdvance", c.InitialElectionTickAdvance, true},
		{"MaxSnapFiles", c.MaxSnapFiles, uint(5)},
		{"MaxWalFiles", c.MaxWalFiles, uint(5)},
		{"BackendBatchInterval", c.BackendBatchInterval, time.Duration(0)}, // etcd's: the log is synced, the database need not be
		{"GRPCKeepAliveMinTime", c.GRPCKeepAliveMinTime, 5 * time.Second},
		{"AuthTokenTTL", c.AuthTokenTTL, uint(300)},

		{"QuotaBackendBytes", c.QuotaBackendBytes, int64(2 << 30)},
		{"AutoCompactionMode", c.AutoCompactionMode, "periodic"},
		{"AutoCompactionRetention", c.AutoCompactionRetention, "5m0s"},
		{"MaxRequestBytes", c.MaxRequestBytes, uint(1536 << 10)},
		{"MaxConcurrentStreams", c.MaxConcurrentStreams, uint32(4096)},
		{"MaxTxnOps", c.MaxTxnOps, uint(128)},

		{"EnableGRPCGateway", c.EnableGRPCGateway, false},
		{"EnablePprof", c.EnablePprof, false},
		{"LogLevel", c.LogLevel, "info"},
		{"EnableDistributedTracing", c.EnableDistributedTracing, false},
		{"Metrics", c.Metrics, "basic"},
		{"CORS", setText(c.CORS), "none"},
		{"HostWhitelist", setText(c.HostWhitelist), "127.0.0.1 ::1 localhost"},
		{"SocketOpts", c.SocketOpts.ReusePort || c.SocketOpts.ReuseAddress, false},

		{"AuthToken", c.AuthToken, "simple"},
		{"BcryptCost", c.BcryptCost, uint(10)},
		{"TlsMinVersion", c.TlsMinVersion, "TLS1.2"},
		{"ClientAutoTLS", c.ClientAutoTLS, false},
		{"PeerAutoTLS", c.PeerAutoTLS, false},
	} {
		if s.got != s.want {
			t.Errorf("%s: got %v, want %v", s.name, s.got, s.want)
		}
	}
}

func setText(set map[string]struct{}) string {
	list := ""
	for _, k := range slices.Sorted(maps.Keys(set)) {
		list += " " + k
	}
	return list[min(1, len(list)):]
}

func TestEmbedConfig(t *testing.T) {
	c := mustEmbed(t, Config{
		Name:            "b",
		ListenClient:    []string{"0.0.0.0:1001"},
		ListenPeer:      []string{"0.0.0.0:1002"},
		AdvertiseClient: []string{"locks.example:1001"},
		InitialCluster:  map[string][]string{"a": {"10.0.0.1:1002"}, "b": {"b.example:1002"}},
		Existing:        true,
		Heartbeat:       20 * time.Millisecond,
		Election:        200 * time.Millisecond,
		Retention:       90 * time.Second,
		PeerTLS:         TLS{CertFile: "c", KeyFile: "k", CAFile: "ca", ClientCertAuth: true},
	})
	for _, s := range []struct {
		name      string
		got, want any
	}{
		{"ClusterState", c.ClusterState, "existing"},
		{"InitialCluster", c.InitialCluster, "a=https://10.0.0.1:1002,b=https://b.example:1002"},
		{"AdvertisePeerUrls", texts(c.AdvertisePeerUrls)[0], "https://b.example:1002"},
		{"AdvertiseClientUrls", texts(c.AdvertiseClientUrls)[0], "http://locks.example:1001"},
		{"HostWhitelist", setText(c.HostWhitelist), "127.0.0.1 ::1 localhost locks.example"},
		{"TickMs", c.TickMs, uint(20)},
		{"ElectionMs", c.ElectionMs, uint(200)},
		{"AutoCompactionRetention", c.AutoCompactionRetention, "1m30s"},
		{"ClientTLS", c.ClientTLSInfo.Empty(), true},
		{"PeerTLS cert", c.PeerTLSInfo.CertFile + c.PeerTLSInfo.KeyFile + c.PeerTLSInfo.TrustedCAFile, "ckca"},
		{"PeerTLS addresses", c.PeerTLSInfo.SkipClientSANVerify, true},
		{"PeerTLS auth", c.PeerTLSInfo.ClientCertAuth, true},
	} {
		if s.got != s.want {
			t.Errorf("%s: got %v, want %v", s.name, s.got, s.want)
		}
	}
}
