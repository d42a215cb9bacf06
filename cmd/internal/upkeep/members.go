package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// askWait bounds a request that takes milliseconds. One that finds its member
// hanging must not hang with it.
const askWait = 10 * time.Second

// Member is one member, as it describes itself.
type Member struct {
	ID       uint64
	Name     string
	Endpoint string // where it was asked
	Leader   bool
	Learner  bool
	Size     int64 // bytes of its database
	Used     int64 // bytes of them that are in use
	Quota    int64
	Revision int64
}

// Free is what defragmentation would give back, in bytes.
func (m Member) Free() int64 { return m.Size - m.Used }

// Members asks every member of the cluster, and returns the leader last. One that
// does not answer is an error: upkeep is for a cluster that is whole.
func Members(ctx context.Context, etcd *clientv3.Client) ([]Member, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	list, err := etcd.MemberList(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the members: %w; upkeep needs a majority", err)
	}
	var members []Member
	for _, listed := range list.Members {
		m, err := ask(ctx, etcd, listed.ID, listed.Name, listed.ClientURLs)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	slices.SortStableFunc(members, func(a, b Member) int { return cmp.Compare(rank(a), rank(b)) })
	return members, nil
}

func rank(m Member) int {
	if m.Leader {
		return 1
	}
	return 0
}

// ask tries a member's addresses in turn.
func ask(ctx context.Context, etcd *clientv3.Client, id uint64, name string, urls []string) (Member, error) {
	err := errors.New("it has never been started")
	for _, url := range urls {
		var s *clientv3.StatusResponse
		if s, err = etcd.Status(ctx, url); err != nil {
			continue
		}
		return Member{
			ID: id, Name: name, Endpoint: url, Leader: s.Leader == id, Learner: s.IsLearner,
			Size: s.DbSize, Used: s.DbSizeInUse, Quota: s.DbSizeQuota, Revision: s.Header.Revision,
		}, nil
	}
	return Member{}, fmt.Errorf("ask member %s at %v: %w; upkeep needs every member: start it, or remove it", cmp.Or(name, fmt.Sprintf("%x", id)), urls, err)
}
