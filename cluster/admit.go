package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// admit returns when the member may serve clients.
func (m *Member) admit(ctx context.Context, restart bool) error {
	select {
	case <-m.etcd.Server.ReadyNotify():
	case <-m.etcd.Server.StopNotify():
		return m.removed()
	case err := <-m.etcd.Err():
		return m.ended(err)
	case <-m.fatal.died:
		return m.fatal.cause()
	case <-ctx.Done():
		return m.notReady(ctx)
	}
	if err := m.firstRead(ctx); err != nil {
		return err
	}
	return m.checkCorruption(restart)
}

// readRetry spaces reads that fail at once, as around a change of leader.
const readRetry = 50 * time.Millisecond

func (m *Member) firstRead(ctx context.Context) error {
	for {
		if m.Ready(ctx) == nil {
			return nil
		}
		select {
		case <-time.After(readRetry):
		case <-m.etcd.Server.StopNotify():
			return m.removed()
		case <-ctx.Done():
			return m.notReady(ctx)
		}
	}
}

// checkCorruption compares the data with the peers' at one revision. Peers that
// do not answer are skipped, after up to 7 s each.
func (m *Member) checkCorruption(restart bool) error {
	if !restart || len(m.etcd.Server.Cluster().Members()) == 1 {
		return nil
	}
	if err := m.etcd.Server.CorruptionChecker().InitialCheck(); err != nil {
		return fmt.Errorf("compare data with peers: %w; restore this member from the others: remove it and add it anew", err)
	}
	return nil
}

func (m *Member) notReady(ctx context.Context) error {
	state := "it has a leader, but has not caught up"
	if m.Leader() == 0 {
		state = "no leader: a majority of its members must run and reach each other"
	}
	return fmt.Errorf("not ready, %s; members %s: %w", state, m.peerList(), ctx.Err())
}

func (m *Member) peerList() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m.cfg.InitialCluster)) {
		list = append(list, name+"="+strings.Join(m.cfg.InitialCluster[name], "|"))
	}
	return strings.Join(list, ", ")
}
