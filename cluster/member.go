package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/cluster/monitor"
	"github.com/fencelock/fencelock/fencing/keys"
)

// Member is a running member. Its methods may be called from several goroutines.
type Member struct {
	cfg    Config // with defaults
	client []string
	peer   []string
	folder *folder
	fatal  *failStop
	gate   *gate
	etcd   *embed.Etcd
	log    *zap.Logger

	space   keys.Space
	counter *monitor.Counter
	monitor *monitor.Server // nil: none
	serving atomic.Bool     // etcd is there, and ready

	errs    chan error    // buffered for the one error that watch sends
	closing chan struct{} // closed by the first Close or Kill
	watched chan struct{} // closed when watch has ended

	tasks   sync.WaitGroup // the census and upkeep, from serving to closing
	endTask context.CancelFunc

	stopOnce sync.Once
	stopErr  error
}

// Name returns the member's name.
func (m *Member) Name() string { return m.cfg.Name }

// ID returns the member's id in the cluster, as etcd's tools show it in hex.
func (m *Member) ID() uint64 { return uint64(m.etcd.Server.MemberID()) }

// DataDir returns the absolute path of the data folder.
func (m *Member) DataDir() string { return m.folder.path }

// ClientAddrs returns the URLs that clients are told to dial.
func (m *Member) ClientAddrs() []string { return slices.Clone(m.client) }

// PeerAddrs returns the URLs that other members dial.
func (m *Member) PeerAddrs() []string { return slices.Clone(m.peer) }

// IsLeader reports whether the member takes itself for the leader. One that is
// cut off may do so for up to an election time-out after it no longer is.
func (m *Member) IsLeader() bool { return m.Leader() == m.ID() }

// Leader returns the id of the leader as the member knows it; 0: none.
func (m *Member) Leader() uint64 { return m.etcd.Server.Lead() }

// Term returns the Raft term the member is in.
func (m *Member) Term() uint64 { return m.etcd.Server.Term() }

// Revision returns the revision of the member's own data, which may lag behind
// the cluster's.
func (m *Member) Revision() int64 { return m.etcd.Server.KV().Rev() }

// Ready returns nil after a linearizable read through this member: it and a
// majority of the cluster are at work. It waits for that as long as ctx allows.
func (m *Member) Ready(ctx context.Context) error {
	if err := m.etcd.Server.LinearizableReadNotify(ctx); err != nil {
		return fmt.Errorf("linearizable read: %w", err)
	}
	return nil
}

// Err delivers one error if the member stops by itself, for instance ErrRemoved;
// Close is still to be called. The channel is closed with or after that error, or
// when the member is closed.
func (m *Member) Err() <-chan error { return m.errs }

// watch waits for the member to stop by itself, or to be stopped.
func (m *Member) watch() {
	defer close(m.watched)
	defer close(m.errs)
	select {
	case <-m.closing:
	case <-m.etcd.Server.StopNotify():
		m.errs <- m.removed()
	case err := <-m.etcd.Err():
		m.errs <- m.ended(err)
	}
}

// removed is the one reason for which etcd's server stops by itself: everything
// that writes to its error channel has learned that.
func (m *Member) removed() error {
	return fmt.Errorf("%w: its peers no longer know it; it can only be replaced, by one with an empty folder", ErrRemoved)
}

// ended explains what a listener returned. If the server stops, they end as well.
func (m *Member) ended(err error) error {
	select {
	case <-m.etcd.Server.StoppingNotify():
		return m.removed()
	default:
	}
	if err == nil {
		err = errors.New("a listener was closed")
	}
	return fmt.Errorf("serve: %w", err)
}
