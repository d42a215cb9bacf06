//go:build linux

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/test/chaos/world"
)

func clusterKinds() []Kind {
	return grouped("cluster", nil, nil,
		Kind{Name: "leadership moves", Cost: nothing(aRequest), Takes: []string{members}, Do: moveLeader},
		Kind{Name: "history is compacted", Cost: nothing(0), Takes: []string{upkeep}, Do: compact},
		Kind{Name: "members are defragmented", Cost: nothing(aRequest), Takes: []string{members}, Do: defragment},
		Kind{Name: "rolling restart", Cost: nothing(aRequest), Takes: []string{members}, Do: restart(everyMember)},
		Kind{Name: "a member is replaced", Cost: nothing(noticed), Takes: []string{members, network, links}, Do: replaceFollower},
	)
}

// moveLeader asks the leader to hand over to another member, several times.
func moveLeader(ctx context.Context, r *Run) error {
	n := 0
	err := r.repeat(ctx, time.Second, func() error {
		return until(ctx, "move the leader", func() error {
			from, err := r.pick(ctx, leader)
			if err != nil {
				return err
			}
			n++
			return handOver(ctx, from[0], some(r, r.others(from[0]), 1)[0])
		})
	})
	r.Note("attempts: %d", n)
	return errors.Join(err, r.settle(ctx))
}

func handOver(ctx context.Context, from, to *world.Member) error {
	ctx, cancel := context.WithTimeout(ctx, aRequest)
	defer cancel()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{from.Endpoint}, DialTimeout: anElection}) // only the leader itself does it
	if err != nil {
		return err
	}
	defer etcd.Close()
	status, err := etcd.Status(ctx, to.Endpoint)
	if err != nil {
		return fmt.Errorf("ask %s: %w", to.Name, err)
	}
	if _, err := etcd.MoveLeader(ctx, status.Header.MemberId); err != nil {
		return fmt.Errorf("move to %s: %w", to.Name, err)
	}
	return nil
}

// compact leaves no history behind the present, again and again.
func compact(ctx context.Context, r *Run) error {
	return r.repeat(ctx, time.Second, func() error {
		return until(ctx, "compact", func() error {
			within, cancel := context.WithTimeout(ctx, aRequest)
			defer cancel()
			now, err := r.World.Etcd().Get(within, "fencelock/", clientv3.WithCountOnly())
			if err != nil {
				return err
			}
			_, err = r.World.Etcd().Compact(within, now.Header.Revision, clientv3.WithCompactPhysical())
			if errors.Is(err, rpctypes.ErrCompacted) { // nothing was written meanwhile
				return nil
			}
			return err
		})
	})
}

// defragment does one member after the other, without regard to who leads.
func defragment(ctx context.Context, r *Run) error {
	return r.repeat(ctx, time.Second, func() error {
		return each(r.World.Members, func(m *world.Member) error {
			return until(ctx, "defragment "+m.Name, func() error {
				within, cancel := context.WithTimeout(ctx, silence)
				defer cancel()
				_, err := r.World.Etcd().Defragment(within, m.Endpoint)
				return err
			})
		})
	})
}

// replaceFollower takes a follower and its disk away, and puts a successor in its
// place as an operator would.
func replaceFollower(ctx context.Context, r *Run) error {
	victims, err := r.pick(ctx, follower)
	if err != nil {
		return err
	}
	m := victims[0]
	if err := errors.Join(m.Kill(), r.hold(ctx)); err != nil {
		return errors.Join(err, m.Start(ctx))
	}
	return r.replace(ctx, m)
}

// replace makes a member that has ended anew on an empty disk.
func (r *Run) replace(ctx context.Context, m *world.Member) error {
	if err := m.Disk.Wipe(); err != nil {
		return err
	}
	var added struct{ Command string }
	err := until(ctx, "replace "+m.Name, func() error {
		out, err := r.World.CLI(ctx, "member", "replace", address(m), "--yes", "--output", "json", "--endpoints", endpoints(r.others(m)))
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(out), &added)
	})
	if err != nil {
		return err
	}
	words := strings.Fields(added.Command)
	if len(words) < 2 {
		return fmt.Errorf("replace %s: the command for its successor is %q", m.Name, added.Command)
	}
	m.SetCommand(words[1:])
	return errors.Join(m.Start(ctx), r.settle(ctx))
}

// address is the one by which members know each other: HOST:PORT.
func address(m *world.Member) string {
	_, host, found := strings.Cut(m.PeerURL, "://")
	if !found {
		return m.PeerURL
	}
	return host
}

func endpoints(of []*world.Member) string {
	var all []string
	for _, m := range of {
		all = append(all, m.Endpoint)
	}
	return strings.Join(all, ",")
}
