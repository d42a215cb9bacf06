package cluster

import "go.etcd.io/etcd/client/pkg/v3/types"

// CutPeer drops every Raft message to and from the member id, until MendPeer. It
// is for tests: with both sides cut, the two cannot agree on anything, but their
// other requests on the peer port (a renewal passed on to the leader, versions)
// still get through.
func (m *Member) CutPeer(id uint64) { m.etcd.Server.CutPeer(types.ID(id)) }

// MendPeer ends CutPeer.
func (m *Member) MendPeer(id uint64) { m.etcd.Server.MendPeer(types.ID(id)) }
