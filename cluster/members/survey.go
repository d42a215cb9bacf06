package members

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// State is a member and what it says about itself.
type State struct {
	Member
	Reachable bool // nothing below is set otherwise
	Endpoint  string
	Leader    bool
	Revision  int64  // of its own data
	Index     uint64 // of the Raft log, as far as it has applied it
	DBSize    int64  // bytes on disk
	Version   string
	Errors    []string
}

// Survey asks every member how it is, at its own addresses and at the endpoints of
// etcd, all at once, until all have answered or ctx ends.
func Survey(ctx context.Context, etcd *clientv3.Client, list List) []State {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	states := make([]State, len(list.Members))
	for i, m := range list.Members {
		states[i].Member = m
	}
	left := len(states)
	for a := range answers(ctx, etcd, addressesOf(etcd, list)) {
		for i, s := range states {
			if s.ID == a.status.Header.MemberId && list.Cluster == a.status.Header.ClusterId && !s.Reachable {
				states[i] = stateOf(s.Member, a)
				left--
			}
		}
		if left == 0 {
			cancel() // addresses that are left are dead, or a member's second ones
		}
	}
	return states
}

func addressesOf(etcd *clientv3.Client, list List) []string {
	addresses := slices.Clone(etcd.Endpoints())
	for _, m := range list.Members {
		addresses = append(addresses, m.Clients...)
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

type answer struct {
	endpoint string
	status   *clientv3.StatusResponse
}

// answers asks all endpoints. The channel is closed when nobody is left to answer.
func answers(ctx context.Context, etcd *clientv3.Client, endpoints []string) <-chan answer {
	all := make(chan answer)
	var asking sync.WaitGroup
	for _, endpoint := range endpoints {
		asking.Go(func() {
			if resp, err := etcd.Status(ctx, endpoint); err == nil {
				all <- answer{endpoint, resp}
			}
		})
	}
	go func() {
		asking.Wait()
		close(all)
	}()
	return all
}

func stateOf(m Member, a answer) State {
	return State{
		Member:    m,
		Reachable: true,
		Endpoint:  a.endpoint,
		Leader:    a.status.Leader == m.ID,
		Revision:  a.status.Header.Revision,
		Index:     a.status.RaftAppliedIndex,
		DBSize:    a.status.DbSize,
		Version:   a.status.Version,
		Errors:    a.status.Errors,
	}
}

// CheckRemove refuses a removal after which those that are left could not decide
// anything.
func CheckRemove(states []State, id uint64) error {
	var rest, alive []Member
	for _, s := range states {
		if s.ID == id && s.Learner {
			return nil // does not count
		}
		if s.ID == id || s.Learner {
			continue
		}
		rest = append(rest, s.Member)
		if s.Reachable {
			alive = append(alive, s.Member)
		}
	}
	majority := len(rest)/2 + 1
	switch {
	case len(rest) == 0:
		return errors.New("it is the last member: nothing would be left of the cluster; to end it, stop the member and delete its folder")
	case len(alive) < majority:
		return fmt.Errorf("it would break the quorum: %d would be left (%s), of which %d must answer, and %d do (%s); start the others again, or remove those that are dead first",
			len(rest), names(rest), majority, len(alive), names(alive))
	}
	return nil
}

// Successor returns the voter to which leadership should move before the leader is
// removed; false: there is none, or id does not lead.
func Successor(states []State, id uint64) (State, bool) {
	var best State
	leads := false
	for _, s := range states {
		switch {
		case s.ID == id:
			leads = s.Leader
		case s.Reachable && !s.Learner && s.Index >= best.Index:
			best = s
		}
	}
	return best, leads && best.ID != 0
}
