package client

import (
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client/queue"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// Claim is one entry in a lock's queue, see package queue.
type Claim = queue.Claim

// kind says by which rule a queue's claims come to hold.
type kind int

const (
	exclusive kind = iota // the oldest claim holds
	shared                // every shared claim with no exclusive one before it
	permit                // the oldest claims, as many as the semaphore's limit
)

// mode is how a claim of this kind calls itself.
func (k kind) mode() string {
	if k == shared {
		return keys.SharedMode
	}
	return keys.Exclusive
}

// what words one name of this kind for messages.
func (k kind) what(name string) string {
	if k == permit {
		return fmt.Sprintf("semaphore %q", name)
	}
	return fmt.Sprintf("lock %q", name)
}

// place is where a session's claim lies, or is about to.
type place struct {
	lock  string
	kind  kind
	limit int    // of a semaphore
	queue string // the prefix of the queue's keys
	slot  int    // the n of the claim's key
	key   string
	token fencing.Token // 0 until the claim has been put
}

// standing is what a look at the queue says about a claim.
type standing struct {
	mine   bool             // the claim is there
	at     int64            // the revision at which all this was so
	ahead  *Claim           // whose end the claim has to await; nil: nobody's
	next   bool             // of an exclusive claim: nobody else stands before it
	fence  *mvccpb.KeyValue // the guard's fence, where nobody is ahead
	unread bool             // the fence has not been read, and is not nil for want of one
	oldest fencing.Token    // the smallest token in the queue, where nobody is ahead
	unsure bool             // ahead may be nobody to wait for: look
}

// Why the put of a claim did not succeed.
var (
	errUncertain = errors.New("claim write unanswered")             // it may land later
	errOvertaken = errors.New("another claim came first")           // nothing was put: look again
	errNoLimit   = errors.New("the semaphore has no limit set yet") // nothing was put: set it
)

// newPlace picks a key for a claim.
func (s *Session) newPlace(lock string, k kind, limit int) place {
	prefix := s.space.Queue(lock)
	if k == permit {
		prefix = s.space.Permits(lock)
	}
	slot := s.slots.take(prefix)
	return place{lock: lock, kind: k, limit: limit, queue: prefix, slot: slot, key: keys.ClaimIn(prefix, int64(s.lease), slot)}
}

// absent holds while the claim's key does not exist.
func (p place) absent() clientv3.Cmp { return clientv3.Compare(clientv3.CreateRevision(p.key), "=", 0) }

// present holds while the claim is the one of p's token.
func (p place) present() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(p.key), "=", int64(p.token))
}

// nobodyAfter holds while no claim in the queue is younger than a revision.
func (p place) nobodyAfter(revision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(p.queue), "<", revision+1).WithPrefix()
}

// oldest reads the claim that has stood in the queue for longest, with its value:
// keys-only reads do not carry the lease.
func (p place) oldest() clientv3.Op { return clientv3.OpGet(p.queue, clientv3.WithFirstCreate()...) }

// youngest reads the last n claims, the latest first.
func (p place) youngest(n int64) clientv3.Op {
	return clientv3.OpGet(p.queue, clientv3.WithPrefix(), clientv3.WithLimit(n),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortDescend))
}

// older reads the last n claims before a revision, the latest first.
func (p place) older(before fencing.Token, n int64, opts ...clientv3.OpOption) clientv3.Op {
	opts = append(opts, clientv3.WithPrefix(), clientv3.WithLimit(n), clientv3.WithMaxCreateRev(int64(before)-1),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortDescend))
	return clientv3.OpGet(p.queue, opts...)
}

// claimOf makes a Claim from the first key found, nil if there is none.
func (p place) claimOf(found []*mvccpb.KeyValue) *Claim {
	if len(found) == 0 {
		return nil
	}
	c := claimFrom(p.lock, found[0])
	return &c
}

func claimFrom(lock string, found *mvccpb.KeyValue) Claim {
	return Claim{
		ClaimValue: keys.DecodeClaim(found.Value),
		Lock:       lock,
		Key:        string(found.Key),
		Token:      fencing.Token(found.CreateRevision),
		Lease:      found.Lease,
	}
}

// mustHaveLease refuses to wait for a claim that will never end by itself.
func (p place) mustHaveLease(ahead Claim) error {
	if ahead.Lease != 0 {
		return nil
	}
	return &LockedError{Holder: ahead, what: p.kind.what(ahead.Lock)}
}
