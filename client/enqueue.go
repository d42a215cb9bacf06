package client

import (
	"context"
	"fmt"
	"strconv"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// How the put of a claim answers: part(resp, i) is what the operations of put
// have found for the i-th place.
const (
	partPut    = iota // the put itself
	partLatest        // the two youngest claims; for a permit, the oldest ones up to the limit
	partFence         // the guard's fence
)

// put is what puts one claim and learns where it stands.
func (s *Session) put(p place, value string) []clientv3.Op {
	return []clientv3.Op{
		clientv3.OpPut(p.key, value, clientv3.WithLease(s.lease)),
		p.latest(),
		clientv3.OpGet(s.space.Fence(p.lock)),
	}
}

// latest reads enough of the queue to say whether a claim just put holds.
func (p place) latest() clientv3.Op {
	if p.kind == permit {
		return p.youngest(int64(p.limit) + 1)
	}
	return p.youngest(2)
}

// enqueue puts a claim into each queue, all at one revision, and reads who stands
// before them. Where nobody does, the claim holds. With since > 0 it puts nothing
// if a claim has come after that revision, and returns errOvertaken.
func (s *Session) enqueue(ctx context.Context, places []place, value string, since int64) ([]standing, error) {
	resp, err := s.commitEnqueue(ctx, places, value, since)
	switch {
	case err != nil && outcome.Certain(err):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errUncertain, err)
	case !resp.Succeeded:
		return nil, s.whyNotPut(places, resp, since)
	}
	now := make([]standing, len(places))
	for i := range places {
		places[i].token = fencing.Token(resp.Header.Revision)
		now[i] = places[i].arrived(parts(resp, len(places), i))
	}
	return now, nil
}

func (s *Session) commitEnqueue(ctx context.Context, places []place, value string, since int64) (*clientv3.TxnResponse, error) {
	var ifs []clientv3.Cmp
	var then, otherwise []clientv3.Op
	for _, p := range places {
		ifs = append(ifs, p.free(since)...)
		if len(places) == 1 {
			then = s.put(p, value)
		} else { // each name has a transaction of its own in it: a flat one ends at 128 operations
			then = append(then, clientv3.OpTxn(nil, s.put(p, value), nil))
		}
		otherwise = append(otherwise, clientv3.OpGet(p.key))
	}
	if p := places[0]; p.kind == permit {
		ifs = append(ifs, clientv3.Compare(clientv3.Value(s.space.Limit(p.lock)), "=", strconv.Itoa(p.limit)))
		otherwise = append(otherwise, clientv3.OpGet(s.space.Limit(p.lock)))
	}
	return s.etcd.Txn(ctx).If(ifs...).Then(then...).Else(otherwise...).Commit()
}

// free holds while the claim's key does not exist and, with since > 0, no claim has
// come after that revision. At since an exclusive try has seen an empty queue, so
// that one compare says both: etcd takes 128 of them, and a try can have 100 names.
func (p place) free(since int64) []clientv3.Cmp {
	switch {
	case since == 0:
		return []clientv3.Cmp{p.absent()}
	case p.kind == exclusive:
		return []clientv3.Cmp{p.nobodyAfter(since)}
	}
	return []clientv3.Cmp{p.absent(), p.nobodyAfter(since)}
}

// arrived says where a claim stands that has just been put.
func (p place) arrived(found []*pb.ResponseOp) standing {
	now := standing{mine: true, at: int64(p.token), fence: one(rangeOf(found[partFence])), oldest: p.token}
	latest := rangeOf(found[partLatest])
	switch {
	case p.kind == permit && len(latest) <= p.limit, len(latest) < 2:
		return now
	}
	now.ahead = p.claimOf(latest[1:])
	now.next = p.kind == exclusive && found[partLatest].GetResponseRange().Count == 2
	// A shared claim behind a shared one cannot tell from these two.
	now.unsure = p.kind == shared && !now.ahead.Exclusive()
	return now
}

// whyNotPut explains a put whose compares did not hold.
func (s *Session) whyNotPut(places []place, resp *clientv3.TxnResponse, since int64) error {
	for i := range places {
		if one(kvs(resp, i)) != nil {
			return fmt.Errorf("%w: key %s of this session exists already, put by someone else", errUncertain, places[i].key)
		}
	}
	if p := places[0]; p.kind == permit {
		if err := mustBeLimit(one(kvs(resp, len(places))), p.limit); err != nil {
			return err
		}
	}
	return errOvertaken
}

// mustBeLimit compares a semaphore's limit, as found, with the one that a caller
// has given.
func mustBeLimit(found *mvccpb.KeyValue, want int) error {
	switch {
	case found == nil:
		return errNoLimit
	case string(found.Value) != strconv.Itoa(want):
		return fmt.Errorf("its limit is %s, not %d: all its users must give the same", found.Value, want)
	}
	return nil
}

// parts returns what the operations of put have found for the i-th of n places.
func parts(resp *clientv3.TxnResponse, n, i int) []*pb.ResponseOp {
	if n == 1 {
		return resp.Responses
	}
	return resp.Responses[i].GetResponseTxn().Responses
}

func rangeOf(op *pb.ResponseOp) []*mvccpb.KeyValue { return op.GetResponseRange().GetKvs() }

// kvs returns the keys that the i-th operation of a transaction read.
func kvs(resp *clientv3.TxnResponse, i int) []*mvccpb.KeyValue { return rangeOf(resp.Responses[i]) }

func one(found []*mvccpb.KeyValue) *mvccpb.KeyValue {
	if len(found) == 0 {
		return nil
	}
	return found[0]
}
