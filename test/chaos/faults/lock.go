//go:build linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// lockKinds are what people and other programs do to somebody's locks.
func lockKinds() []Kind {
	return grouped("lock", []string{locks}, nil,
		Kind{Name: "a holder's lease is revoked", Cost: sessions(0), Do: revokeOne},
		Kind{Name: "every lease is revoked", Cost: sessions(0), Do: revokeAll},
		Kind{Name: "a lock is broken", Cost: sessions(0), Do: breakOne},
		Kind{Name: "locks are broken one after the other", Cost: sessions(0), Do: breakMany},
		Kind{Name: "a holder's claim is deleted by hand", Cost: sessions(0), Do: deleteClaim},
		Kind{Name: "a waiter's claim is deleted by hand", Cost: sessions(0), Do: deleteWaiter},
	)
}

// claim is one place in a lock's queue.
type claim struct {
	lock  string
	token int64
	*mvccpb.KeyValue
}

// claims reads all queues: who stands first in each, and who waits.
func (r *Run) claims(ctx context.Context) (holders, waiters []claim, err error) {
	space, err := keys.NewSpace(keys.DefaultNamespace)
	if err != nil {
		return nil, nil, err
	}
	all, err := r.World.Etcd().Get(ctx, space.Locks(""), clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return nil, nil, err
	}
	first := map[string]bool{}
	for _, kv := range all.Kvs {
		name, ok := space.LockOf(string(kv.Key))
		if !ok {
			continue
		}
		if c := (claim{name, kv.CreateRevision, kv}); first[name] {
			waiters = append(waiters, c)
		} else {
			holders, first[name] = append(holders, c), true
		}
	}
	return holders, waiters, nil
}

// strike does something to somebody's claim, and tries until it has hit one: they
// come and go.
func (r *Run) strike(ctx context.Context, at func(holders, waiters []claim) []claim, what func(context.Context, claim) error) error {
	return until(ctx, "strike a claim", func() error {
		within, cancel := context.WithTimeout(ctx, aRequest)
		defer cancel()
		holders, waiters, err := r.claims(within)
		if err != nil {
			return err
		}
		there := some(r, at(holders, waiters), 1)
		if len(there) == 0 {
			return errors.New("nobody is there")
		}
		if err := what(within, there[0]); err != nil {
			return fmt.Errorf("%s, token %d: %w", there[0].lock, there[0].token, err)
		}
		r.victims(there[0].lock)
		return nil
	})
}

func first(holders, _ []claim) []claim { return holders }
func next(_, waiters []claim) []claim  { return waiters }

// contended is the holders that another waits for.
func contended(holders, waiters []claim) []claim {
	return slices.DeleteFunc(holders, func(h claim) bool {
		return !slices.ContainsFunc(waiters, func(w claim) bool { return w.lock == h.lock })
	})
}

// revokeOne ends the session of somebody who holds.
func revokeOne(ctx context.Context, r *Run) error {
	err := r.strike(ctx, first, func(ctx context.Context, c claim) error {
		_, err := r.World.Etcd().Revoke(ctx, clientv3.LeaseID(c.Lease))
		return err
	})
	return errors.Join(err, r.hold(ctx))
}

func revokeAll(ctx context.Context, r *Run) error {
	n := 0
	err := until(ctx, "revoke all leases", func() error {
		within, cancel := context.WithTimeout(ctx, aRequest)
		defer cancel()
		all, err := r.World.Etcd().Leases(within)
		if err != nil {
			return err
		}
		return each(all.Leases, func(lease clientv3.LeaseStatus) error {
			n++
			_, err := r.World.Etcd().Revoke(within, lease.ID)
			if errors.Is(err, rpctypes.ErrLeaseNotFound) { // ended meanwhile
				return nil
			}
			return err
		})
	})
	r.Note("leases revoked: %d", n)
	return errors.Join(err, r.hold(ctx))
}

// breakLock does what "fencelock break" does, which is too slow to hit those that
// hold for milliseconds.
func (r *Run) breakLock(ctx context.Context) error {
	breaker, err := client.New(client.Config{Endpoints: r.World.Etcd().Endpoints()})
	if err != nil {
		return err
	}
	err = r.strike(ctx, first, func(ctx context.Context, c claim) error {
		return breaker.Break(ctx, c.lock, fencing.Token(c.token))
	})
	return errors.Join(err, breaker.Close())
}

func breakOne(ctx context.Context, r *Run) error {
	return errors.Join(r.breakLock(ctx), r.hold(ctx))
}

func breakMany(ctx context.Context, r *Run) error {
	n := 0
	err := r.repeat(ctx, 200*time.Millisecond, func() error {
		n++
		return r.breakLock(ctx)
	})
	r.Note("locks broken: %d", n)
	return err
}

// deleteKey is another program's delete, which moves no fence.
func (r *Run) deleteKey(ctx context.Context, c claim) error {
	reply, err := r.World.Etcd().Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(string(c.Key)), "=", c.token)).
		Then(clientv3.OpDelete(string(c.Key))).Commit()
	if err == nil && !reply.Succeeded {
		return errors.New("it is gone")
	}
	return err
}

func deleteClaim(ctx context.Context, r *Run) error {
	return errors.Join(r.strike(ctx, first, r.deleteKey), r.hold(ctx))
}

func deleteWaiter(ctx context.Context, r *Run) error {
	return errors.Join(r.strike(ctx, next, r.deleteKey), r.hold(ctx))
}
