package cli

import (
	"context"
	"strconv"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

// claim is one entry in a lock's queue.
type claim struct {
	Token  fencing.Token     `json:"token"`
	Owner  string            `json:"owner"` // empty: a foreign client, which does not say
	Key    string            `json:"key"`   // in etcd
	Mode   string            `json:"mode"`
	Since  time.Time         `json:"since,omitzero"` // when it was put, by its owner's clock
	Labels map[string]string `json:"labels,omitempty"`
	Lease  string            `json:"lease"` // in hex, as etcdctl shows it; "0": it never ends
	session
}

// session is what the cluster says about a claim's session.
type session struct {
	State string `json:"session,omitempty"`          // one of the words below; empty: it was not asked for
	Left  int64  `json:"ttl_left_seconds,omitempty"` // until it ends, if it is not renewed
	TTL   int64  `json:"ttl_seconds,omitempty"`
}

// What can be said of a session.
const (
	sessionAlive   = "alive"
	sessionEnded   = "ended"
	sessionNone    = "none"    // a claim without a lease
	sessionUnknown = "unknown" // no answer
)

const (
	askedTogether = 16              // sessions that are asked for at the same time
	sessionTime   = 2 * time.Second // for all of them
)

func claimOf(c client.Claim) claim {
	return claim{c.Token, c.Owner, c.Key, c.Mode, c.Since, c.Labels, strconv.FormatInt(c.Lease, 16), session{}}
}

func claimsOf(claims []client.Claim) []claim {
	list := []claim{}
	for _, c := range claims {
		list = append(list, claimOf(c))
	}
	return list
}

// who names the claim's owner.
func (c claim) who() string {
	if c.Owner == "" {
		return "unnamed, key " + visible(c.Key)
	}
	return visible(c.Owner)
}

// age is how long ago the claim was put: it may have waited since. The owner's
// clock may be ahead.
func (c claim) age(now time.Time) string {
	if c.Since.IsZero() {
		return "?"
	}
	return max(now.Sub(c.Since), 0).Round(time.Second).String() + " ago"
}

// left is the session's time left, for people.
func (s session) left() string {
	switch s.State {
	case sessionAlive:
		return strconv.FormatInt(s.Left, 10) + "s of " + strconv.FormatInt(s.TTL, 10) + "s"
	case sessionNone:
		return "for ever"
	case sessionEnded:
		return "ended"
	}
	return "?"
}

// askSessions fills in what the cluster says about the claims' sessions, each
// asked for once.
func askSessions(ctx context.Context, c *client.Client, claims []*claim) {
	ctx, cancel := context.WithTimeout(ctx, sessionTime)
	defer cancel()
	byLease := map[string][]*claim{}
	for _, one := range claims {
		byLease[one.Lease] = append(byLease[one.Lease], one)
	}
	var work sync.WaitGroup
	free := make(chan struct{}, askedTogether)
	for lease, of := range byLease {
		free <- struct{}{}
		work.Go(func() {
			defer func() { <-free }()
			state := askSession(ctx, c.Etcd(), lease)
			for _, one := range of {
				one.session = state
			}
		})
	}
	work.Wait()
}

func askSession(ctx context.Context, etcd *clientv3.Client, lease string) session {
	id, err := strconv.ParseInt(lease, 16, 64)
	if err != nil || id == 0 {
		return session{State: sessionNone}
	}
	resp, err := etcd.TimeToLive(ctx, clientv3.LeaseID(id))
	switch {
	case err != nil:
		return session{State: sessionUnknown}
	case resp.TTL < 0:
		return session{State: sessionEnded}
	}
	return session{State: sessionAlive, Left: resp.TTL, TTL: resp.GrantedTTL}
}

// pointers makes a slice's elements changeable.
func pointers[T any](list []T) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}
