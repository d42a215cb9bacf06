//go:build linux

package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Leader waits for a member that leads, as it says itself and a majority agrees.
func (w *World) Leader(ctx context.Context) (*Member, error) {
	leader, _, err := w.lead(ctx, size/2+1)
	return leader, err
}

// Follower waits for a leader and returns one of the others, who agree.
func (w *World) Follower(ctx context.Context, r *rand.Rand) (*Member, error) {
	leader, agreed, err := w.lead(ctx, size/2+1)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(agreed, func(m *Member) bool { return m == leader })
	return others[r.IntN(len(others))], nil
}

// Settle waits until every member is ready and all agree on the leader. It heals
// nothing: another fault may be under way.
func (w *World) Settle(ctx context.Context) error {
	for _, m := range w.Members {
		if err := m.Ready(ctx); err != nil {
			return err
		}
	}
	_, _, err := w.lead(ctx, size)
	return err
}

// lead waits until so many members, the leader among them, agree who leads.
func (w *World) lead(ctx context.Context, majority int) (leader *Member, agreed []*Member, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		states := w.states(ctx)
		for i, s := range states {
			if s == nil || s.Leader != s.Header.MemberId {
				continue
			}
			agreed = nil
			for j, other := range states {
				if other != nil && other.Leader == s.Leader && other.RaftTerm == s.RaftTerm {
					agreed = append(agreed, w.Members[j])
				}
			}
			if len(agreed) >= majority {
				return w.Members[i], agreed, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("%d members do not agree on a leader: %w", majority, ctx.Err())
		case <-tick.C:
		}
	}
}

// states asks all members at once; nil: no answer.
func (w *World) states(ctx context.Context) []*clientv3.StatusResponse {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	states := make([]*clientv3.StatusResponse, len(w.Members))
	var asking sync.WaitGroup
	for i, m := range w.Members {
		asking.Go(func() {
			if s, err := w.etcd.Status(ctx, m.Endpoint); err == nil {
				states[i] = s
			}
		})
	}
	asking.Wait()
	return states
}

// CLI runs a command of the program to its end, from outside, on the members' own
// addresses unless args name --endpoints.
func (w *World) CLI(ctx context.Context, args ...string) (stdout string, err error) {
	if !slices.Contains(args, "--endpoints") {
		args = append(slices.Clip(args), "--endpoints", strings.Join(w.etcd.Endpoints(), ","))
	}
	cmd := exec.CommandContext(ctx, w.options.Binary, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Dir = w.Scratch()
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("fencelock %s: %w: %s", strings.Join(args, " "), errors.Join(err, ctx.Err()), strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}

// Final runs one more client, "c0", outside, which takes every lock, reads
// everything and ends, and returns its history.
func (w *World) Final(ctx context.Context) (history string, err error) {
	c := w.lastRead
	if err := c.Start(); err != nil {
		return "", err
	}
	if err := c.await(ctx, c.Name); err != nil {
		return "", errors.Join(err, c.Kill())
	}
	all := c.Histories()
	return all[len(all)-1], nil
}
