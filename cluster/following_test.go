package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// put sends a write through g that is answered after d, and returns when and how.
func put(g *gate, d time.Duration) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := g.unary(context.Background(), &pb.PutRequest{}, nil, func(ctx context.Context, _ any) (any, error) {
			select {
			case <-time.After(d):
				return nil, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		done <- err
	}()
	return done
}

// Requests wait for an election; when none helps, those inside end, with an open
// outcome, and new ones are sent elsewhere, until there is a leader again.
func TestGateWithoutLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const patience = 1500 * time.Millisecond // for an election time-out of 1 s
		g := newGate(time.Second)
		g.open()
		var leaderless atomic.Bool
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go g.following.run(ctx, 100*time.Millisecond, func() bool { return !leaderless.Load() })

		synctest.Wait() // it has looked once

		began := time.Now()
		leaderless.Store(true)
		inside := put(g, time.Minute)
		<-time.After(200 * time.Millisecond)
		held := put(g, 0)
		if err := <-held; !errors.Is(err, errNotAdmitted) || time.Since(began) < patience {
			t.Errorf("a write without a leader: got %v after %v, want a refusal after %v", err, time.Since(began), patience)
		}
		if err := <-inside; !errors.Is(err, rpctypes.ErrGRPCNoLeader) {
			t.Errorf("the write inside: got %v, want ErrGRPCNoLeader", err)
		}
		began = time.Now()
		if err := <-put(g, 0); !errors.Is(err, errNotAdmitted) || time.Since(began) != refusalPause {
			t.Errorf("the next write: got %v after %v, want a refusal after %v", err, time.Since(began), refusalPause)
		}
		if err := <-call(g, t.Context(), 0); err != nil {
			t.Errorf("a request that needs no leader: %v", err)
		}
		leaderless.Store(false)
		<-time.After(200 * time.Millisecond)
		if err := <-put(g, 3*patience); err != nil {
			t.Errorf("with a leader again: %v", err)
		}
		leaderless.Store(true) // an election in time
		<-time.After(200 * time.Millisecond)
		held = put(g, 0)
		<-time.After(time.Second)
		leaderless.Store(false)
		if err := <-held; err != nil {
			t.Errorf("a write during an election: %v", err)
		}
	})
}
