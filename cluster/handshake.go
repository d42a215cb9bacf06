package cluster

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/cluster/bootstrap"
	"github.com/fencelock/fencelock/cluster/snapshot"
)

// begin makes sure that etcd's first start in this folder is the cluster's first,
// too, or that the cluster has asked for this member.
func (m *Member) begin(ctx context.Context) error {
	alone := len(m.cfg.InitialCluster) == 1
	switch {
	case m.folder.hasData():
		return nil
	case m.folder.ran() && (alone || m.cfg.Existing):
		return fmt.Errorf("%w: data folder %s is marked as one in which a member ran, and the data is gone; use an empty folder, and restore a snapshot or replace the member",
			ErrReplace, m.folder.path)
	case m.cfg.Existing:
		return nil
	}
	origin, _, err := snapshot.ReadOrigin(m.folder.path)
	if err != nil {
		return fmt.Errorf("data folder %s: %w", m.folder.path, err)
	}
	agree := m.agree
	if alone {
		agree = m.decideAlone
	}
	decision, err := agree(ctx, origin)
	if err != nil {
		return err
	}
	m.cfg.ClusterToken = decision.Token()
	return m.stage(origin, decision.Floor)
}

// decideAlone is what a single node begins with. It asks nobody, and writes nothing
// down: its birth makes its cluster another one than every other single node's, which
// all have the same addresses where nobody sets them.
func (m *Member) decideAlone(_ context.Context, origin snapshot.Origin) (bootstrap.Decision, error) {
	a, err := m.cfg.addresses()
	return bootstrap.Decision{
		Births:  map[string]string{memberKey(a.advertisePeer): origin.Birth},
		Cluster: m.cfg.ClusterToken, Snapshot: origin.Snapshot, Floor: origin.Floor,
	}, err
}

// agree runs the protocol of package bootstrap.
func (m *Member) agree(ctx context.Context, origin snapshot.Origin) (bootstrap.Decision, error) {
	a, err := m.cfg.addresses()
	if err != nil {
		return bootstrap.Decision{}, err
	}
	self, err := m.answer(a, origin)
	if err != nil {
		return bootstrap.Decision{}, fmt.Errorf("data folder %s: %w", m.folder.path, err)
	}
	decision, err := bootstrap.Run(ctx, bootstrap.Config{
		Self:      self,
		Listen:    a.listenPeer,
		TLS:       tlsInfo(m.cfg.PeerTLS),
		ClusterID: func(d bootstrap.Decision) string { return clusterID(a.peers, d) },
		Record:    m.folder.recordDecision,
		Log:       m.log,
	})
	return decision, explainListen(err)
}

// answer is what the member says of its folder.
func (m *Member) answer(a addresses, origin snapshot.Origin) (bootstrap.Answer, error) {
	self := bootstrap.Answer{
		Member:   memberKey(a.advertisePeer),
		Name:     m.cfg.Name,
		Birth:    origin.Birth,
		Cluster:  m.cfg.ClusterToken,
		Snapshot: origin.Snapshot,
		Floor:    origin.Floor,
		FloorNow: m.cfg.TokenFloor == FloorNow && origin.Snapshot == "",
		Ran:      m.folder.ran(),

		Heartbeat: m.cfg.Heartbeat,
		Election:  m.cfg.Election,
	}
	for _, urls := range a.peers {
		self.Peers = append(self.Peers, memberKey(urls))
	}
	slices.Sort(self.Peers)
	var err error
	self.Decision, err = m.folder.decision()
	if d := self.Decision; err == nil && d != nil && d.Births[self.Member] != self.Birth {
		return self, fmt.Errorf("%w: its decision.json is not about this folder; empty it", ErrInterrupted)
	}
	return self, err
}

// memberKey is what the members call one in a bootstrap.Answer.
func memberKey(urls []url.URL) string { return strings.Join(sorted(urls), ",") }

// clusterID is the id that etcd gives to the cluster of d. It goes by addresses
// and token; names play no part.
func clusterID(peers map[string][]url.URL, d bootstrap.Decision) string {
	all := types.URLsMap{}
	for name, urls := range peers {
		all[name] = urls
	}
	cluster, err := membership.NewClusterFromURLsMap(zap.NewNop(), d.Token(), all)
	if err != nil {
		return "" // no cluster has this id
	}
	return cluster.ID().String()
}

// warnTwo says what two members are not.
func (m *Member) warnTwo() {
	var voters []string
	for _, member := range m.etcd.Server.Cluster().Members() {
		if !member.IsLearner {
			voters = append(voters, cmp.Or(member.Name, strings.Join(member.PeerURLs, "|")))
		}
	}
	if len(voters) == 2 {
		m.log.Warn("two members: the cluster stops when either of them does; run one, or three", zap.Strings("members", voters))
	}
}
