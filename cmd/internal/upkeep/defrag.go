package upkeep

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster"
)

const (
	// defragWait is for one member. The largest database that etcd advises,
	// 8 GiB, takes a minute or two.
	defragWait = cluster.TurnTTL * time.Second

	// leaderPoll is how often it is looked who leads.
	leaderPoll = 50 * time.Millisecond
)

// Defragmented is what became of one member.
type Defragmented struct {
	Member
	After   int64 // bytes of its database now
	Took    time.Duration
	Skipped bool // there was not enough to give back
}

// Defragment goes through the members one by one, the leader last and only when it
// does not lead any more. Those whose free share is below least are left alone.
// done is called after each.
func Defragment(ctx context.Context, etcd *clientv3.Client, least float64, done func(Defragmented)) error {
	members, err := Members(ctx, etcd)
	if err != nil {
		return err
	}
	if err := takeTurn(ctx, etcd); err != nil {
		return err
	}
	defer endTurn(etcd)
	for _, m := range members {
		if float64(m.Free()) < least*float64(m.Size) {
			done(Defragmented{Member: m, After: m.Size, Skipped: true})
			continue
		}
		result, err := defragment(ctx, etcd, m)
		if err != nil {
			return fmt.Errorf("defragment member %s: %w", m.Name, err)
		}
		done(result)
	}
	return nil
}

// defragment waits until the member answers again before the next one's turn.
func defragment(ctx context.Context, etcd *clientv3.Client, m Member) (Defragmented, error) {
	if err := moveLeader(ctx, etcd, m.ID); err != nil {
		return Defragmented{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, defragWait)
	defer cancel()
	began := time.Now()
	if _, err := etcd.Defragment(ctx, m.Endpoint); err != nil {
		return Defragmented{}, err
	}
	after, err := etcd.Status(ctx, m.Endpoint)
	if err != nil {
		return Defragmented{}, err
	}
	return Defragmented{Member: m, After: after.DbSize, Took: time.Since(began)}, nil
}

// moveLeader makes another member the leader if this one is. A member without
// others stays what it is.
func moveLeader(ctx context.Context, etcd *clientv3.Client, id uint64) error {
	members, err := Members(ctx, etcd)
	if err != nil {
		return err
	}
	leads, to := Member{}, Member{}
	for _, m := range members {
		switch {
		case m.Leader:
			leads = m
		case !m.Learner:
			to = m
		}
	}
	if leads.ID != id || to.ID == 0 {
		return nil
	}
	return transfer(ctx, etcd, leads, to)
}

func transfer(ctx context.Context, etcd *clientv3.Client, from, to Member) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	conn, err := etcd.Dial(from.Endpoint) // only the leader can do this
	if err != nil {
		return fmt.Errorf("move leadership from %s: %w", from.Name, err)
	}
	defer conn.Close()
	if _, err := pb.NewMaintenanceClient(conn).MoveLeader(ctx, &pb.MoveLeaderRequest{TargetID: to.ID}); err != nil {
		return fmt.Errorf("move leadership from %s to %s: %w", from.Name, to.Name, err)
	}
	return awaitLeader(ctx, etcd, to)
}

func awaitLeader(ctx context.Context, etcd *clientv3.Client, m Member) error {
	ticker := time.NewTicker(leaderPoll)
	defer ticker.Stop()
	for {
		if s, err := etcd.Status(ctx, m.Endpoint); err == nil && s.Leader == m.ID {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("member %s has not taken over leadership: %w", m.Name, ctx.Err())
		case <-ticker.C:
		}
	}
}

// takeTurn keeps members from defragmenting themselves meanwhile. A full store has
// no room for the lease that stands for it, nor has it for theirs.
func takeTurn(ctx context.Context, etcd *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	_, err := leases(etcd).LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: cluster.TurnLease, TTL: cluster.TurnTTL})
	switch err := rpctypes.Error(err); {
	case errors.Is(err, rpctypes.ErrLeaseExist):
		return errors.New("a member is being defragmented, by schedule or by somebody else; try again in a minute (after a crash: in ten)")
	case errors.Is(err, rpctypes.ErrNoSpace):
		return nil
	case err != nil:
		return fmt.Errorf("take the turn: %w", err)
	}
	return nil
}

// endTurn has its own time. If it fails, the lease ends by itself.
func endTurn(etcd *clientv3.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), askWait)
	defer cancel()
	_, _ = leases(etcd).LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: cluster.TurnLease})
}

func leases(etcd *clientv3.Client) pb.LeaseClient { return pb.NewLeaseClient(etcd.ActiveConnection()) }
