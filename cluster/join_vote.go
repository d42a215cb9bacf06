package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// promote returns when m knows that it votes.
func (j *joiner) promote(ctx context.Context, m *Member) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopped := make(chan struct{})
	defer func() { cancel(nil); <-stopped }()
	go func() {
		defer close(stopped)
		select {
		case <-m.etcd.Server.StopNotify():
			cancel(m.removed())
		case <-ctx.Done():
		}
	}()
	err := j.askForVote(ctx, m)
	if cause := context.Cause(ctx); errors.Is(cause, ErrRemoved) {
		return cause
	}
	if err != nil {
		return err
	}
	return m.awaitVote(ctx)
}

// askForVote goes the way that Join was given first. The member there may have been
// removed since, so the others, which m knows by now, are asked next.
func (j *joiner) askForVote(ctx context.Context, m *Member) error {
	err := j.promoteVia(ctx, j.via.Endpoints, m.ID())
	others := m.othersForClients()
	if err == nil || ctx.Err() != nil || len(others) == 0 {
		return err
	}
	return j.promoteVia(ctx, others, m.ID())
}

func (j *joiner) promoteVia(ctx context.Context, endpoints []string, id uint64) error {
	etcd, change, err := j.dial(ctx, endpoints)
	if err != nil {
		return err
	}
	defer etcd.Close()
	_, err = change.Promote(ctx, id)
	return err
}

// othersForClients are the client addresses of the other members.
func (m *Member) othersForClients() []string {
	var found []string
	for _, other := range m.etcd.Server.Cluster().Members() {
		if uint64(other.ID) != m.ID() {
			found = append(found, other.ClientURLs...)
		}
	}
	return found
}

// votes reports whether m knows itself as a voter. One that was removed does not;
// etcd's own question panics then.
func (m *Member) votes() bool {
	me := m.etcd.Server.Cluster().Member(m.etcd.Server.MemberID())
	return me != nil && !me.IsLearner
}

// awaitVote returns when m has applied its own promotion, which the others may
// have done before.
func (m *Member) awaitVote(ctx context.Context) error {
	for !m.votes() {
		select {
		case <-time.After(readRetry):
		case <-m.etcd.Server.StopNotify():
			return m.removed()
		case <-ctx.Done():
			return fmt.Errorf("wait for its own promotion: %w", ctx.Err())
		}
	}
	return nil
}
