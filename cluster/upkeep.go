package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/lease"
	"go.uber.org/zap"
)

// A database never shrinks by itself: what compaction frees is used again, and
// stays on disk. Defragmentation writes it anew, and the member answers nothing
// that long. So members take turns:
//
//	due ──▶ worth it? ──▶ follower ──────────────────▶ turn ──▶ defragment
//	             │                                      ▲
//	             └──────▶ leader: let followers go first ┘ then leadership moves away
//
// The turn is a lease with an id that everybody knows: granting it again fails.
// It needs no rights on keys, ends by itself if its member dies, and a command
// that defragments by hand takes the same one.

// Defrag says when a member defragments its database.
type Defrag struct {
	Every time.Duration // by the wall clock, so that all members think of it at once; default 1 h; negative: never
	Share float64       // of the database that has to be free; default 0.5
	Least int64         // bytes that have to be free; default 64 MiB
}

func (d Defrag) withDefaults() Defrag {
	return Defrag{orDefault(d.Every, time.Hour), orDefault(d.Share, 0.5), orDefault(d.Least, 64<<20)}
}

const (
	// TurnLease is the id of the lease that the one member has which is being
	// defragmented, "fencedef" in ASCII.
	TurnLease = 0x66656e6365646566

	// TurnTTL, in seconds, is longer than the defragmentation of the largest
	// database that etcd advises, 8 GiB, which takes a minute or two.
	TurnTTL = 600

	// followerPoll and leaderPoll are how often a member tries to get its turn. The
	// leader tries less often, and finds followers that wait ahead of it.
	followerPoll = time.Second
	leaderPoll   = 5 * time.Second

	// upkeepWait bounds each request of upkeep.
	upkeepWait = 5 * time.Second

	// loneLimit is the largest database in use that a member without others
	// defragments by itself, for nobody else answers meanwhile: 40 MiB took 0.08 s
	// to 0.25 s, measured, and a lock of 5 s TTL stands some 2.8 s of silence.
	loneLimit = 64 << 20
)

// errNoTurn: another member is at it.
var errNoTurn = errors.New("another member is being defragmented")

// upkeep defragments when it is due, until ctx ends.
func (m *Member) upkeep(ctx context.Context) {
	every := m.cfg.Defrag.Every
	if every < 0 {
		return
	}
	for {
		now := time.Now()
		if !sleep(ctx, now.Truncate(every).Add(every).Sub(now)) {
			return
		}
		var err error
		if m.attached(func() { err = m.tidy(ctx) }) && err != nil && ctx.Err() == nil {
			m.log.Warn("not defragmented this time", zap.Error(err))
		}
	}
}

// tidy defragments the member if that is worth it, when it is its turn, within
// half the time until it is due again.
func (m *Member) tidy(ctx context.Context) error {
	if !m.worthIt() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Defrag.Every/2)
	defer cancel()
	poll := followerPoll
	if m.IsLeader() && !m.alone() {
		poll = leaderPoll
		if !sleep(ctx, min(poll, m.cfg.Defrag.Every/8)) {
			return ctx.Err()
		}
	}
	if err := m.awaitTurn(ctx, min(poll, m.cfg.Defrag.Every/8)); err != nil {
		return err
	}
	defer m.endTurn()
	return m.defragment(ctx)
}

// worthIt compares what is free with what has to be.
func (m *Member) worthIt() bool {
	backend := m.etcd.Server.Backend()
	size, used := backend.Size(), backend.SizeInUse()
	free := size - used
	if free < m.cfg.Defrag.Least || float64(free) < m.cfg.Defrag.Share*float64(size) {
		return false
	}
	if m.alone() && used > loneLimit {
		m.log.Warn(`the only member of its cluster is worth defragmenting, and would serve nobody meanwhile: run "fencelock defrag" when it suits`,
			zap.Int64("bytes", size), zap.Int64("free", free))
		return false
	}
	return true
}

// alone reports whether there is nobody else to lead.
func (m *Member) alone() bool {
	voters := 0
	for _, member := range m.etcd.Server.Cluster().Members() {
		if !member.IsLearner {
			voters++
		}
	}
	return voters == 1
}

func (m *Member) awaitTurn(ctx context.Context, poll time.Duration) error {
	for {
		err := m.takeTurn(ctx)
		if !errors.Is(err, errNoTurn) {
			return err
		}
		if !sleep(ctx, poll) {
			return err
		}
	}
}

func (m *Member) takeTurn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, upkeepWait)
	defer cancel()
	_, err := m.etcd.Server.LeaseGrant(m.asRoot(ctx), &pb.LeaseGrantRequest{ID: TurnLease, TTL: TurnTTL})
	switch {
	case errors.Is(err, lease.ErrLeaseExists):
		return errNoTurn
	case err != nil:
		return fmt.Errorf("take the turn: %w", err)
	}
	return nil
}

// endTurn has its own time. If it fails, the lease ends by itself.
func (m *Member) endTurn() {
	ctx, cancel := context.WithTimeout(context.Background(), upkeepWait)
	defer cancel()
	if _, err := m.etcd.Server.LeaseRevoke(m.asRoot(ctx), &pb.LeaseRevokeRequest{ID: TurnLease}); err != nil {
		m.log.Info("the turn to defragment was not given back", zap.Error(err))
	}
}

// defragment leads nobody while it is at it.
func (m *Member) defragment(ctx context.Context) error {
	if err := m.stepDown(ctx); err != nil {
		return err
	}
	began, before := time.Now(), m.etcd.Server.Backend().Size()
	if err := m.etcd.Server.Defragment(); err != nil {
		return fmt.Errorf("defragment: %w", err)
	}
	m.log.Info("defragmented", zap.Duration("took", time.Since(began)),
		zap.Int64("before", before), zap.Int64("after", m.etcd.Server.Backend().Size()))
	return nil
}

func (m *Member) stepDown(ctx context.Context) error {
	if !m.IsLeader() || m.alone() {
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- m.etcd.Server.TryTransferLeadershipOnShutdown() }() // bounded by etcd: 5 s + 2 elections
	select {
	case err := <-done:
		if err == nil && m.IsLeader() {
			err = errors.New("the member still leads")
		}
		if err != nil {
			return fmt.Errorf("move leadership away: %w", err)
		}
		return nil
	case <-ctx.Done():
		<-done
		return ctx.Err()
	}
}

// attached runs f while etcd does not close its files, unless it is about to. It
// reports whether f has run.
func (m *Member) attached(f func()) bool {
	ran := make(chan struct{})
	m.etcd.Server.GoAttach(func() {
		defer close(ran)
		f()
	})
	select {
	case <-ran:
		return true
	case <-m.etcd.Server.StopNotify(): // it has waited for f, if it took it
	}
	select {
	case <-ran:
		return true
	default:
		return false
	}
}

// sleep reports whether the time passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
