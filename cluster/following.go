// A member that has lost its leader, and with it the majority, perhaps.

package cluster

import (
	"context"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// following is whether a member has a leader to follow, itself included.
//
//	followed ──no leader──▶ waiting ──patience is over──▶ alone
//	    ▲                      │                            │
//	    └───────leader─────────┴───────────leader───────────┘
//
// etcd lets requests wait for a leader without end. On a member that is cut off from
// the others none comes, while the others have one: requests that go there, by turns,
// would use up their whole time. So requests wait here, which is an election's time,
// and are then sent elsewhere; those that were inside end.
type following struct {
	patience time.Duration

	mu      sync.Mutex
	state   followState
	changed chan struct{}   // closed and replaced when state changes
	calls   context.Context // ends when the member is alone
	end     context.CancelFunc
}

type followState int

const (
	followed followState = iota
	waiting
	alone
)

// refusalPause delays a refusal. etcd's client makes 100 attempts in all: while no
// member has a leader, they last for the 5 s that a request has by default.
const refusalPause = 50 * time.Millisecond

// newFollowing begins with a leader: a member that starts is admitted by one. A new
// leader is there within two election time-outs of the last word of the old one, and
// the first of them is over when its loss is noticed.
func newFollowing(election time.Duration) *following {
	f := &following{patience: election * 3 / 2, changed: make(chan struct{})}
	f.calls, f.end = context.WithCancel(context.Background())
	return f
}

// run looks whether there is a leader until ctx ends. etcd tells of new leaders only.
func (f *following) run(ctx context.Context, every time.Duration, led func() bool) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for last := time.Now(); ; {
		switch {
		case led():
			last = time.Now()
			f.become(followed)
		case time.Since(last) < f.patience:
			f.become(waiting)
		default:
			f.become(alone)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (f *following) become(state followState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == state {
		return
	}
	switch {
	case state == alone:
		f.end()
	case f.state == alone:
		f.calls, f.end = context.WithCancel(context.Background())
	}
	f.state = state
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *following) look() (followState, context.Context, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.calls, f.changed
}

// admit waits for a leader as long as that is worth it. The context that it returns
// ends when the member is alone.
func (f *following) admit(ctx context.Context) (context.Context, error) {
	for {
		state, calls, changed := f.look()
		switch state {
		case followed:
			return calls, nil
		case alone:
			timer := time.NewTimer(refusalPause)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
			return nil, errNotAdmitted
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, errNotAdmitted
		}
	}
}

// needsLeader reports whether nothing can come of a request without a leader. Others,
// such as those for a member's status, are answered by the member itself.
func needsLeader(req any) bool {
	switch r := req.(type) {
	case *pb.RangeRequest:
		return !r.Serializable
	case *pb.TxnRequest, *pb.PutRequest, *pb.DeleteRangeRequest, *pb.LeaseGrantRequest, *pb.LeaseRevokeRequest:
		return true
	}
	return false
}
