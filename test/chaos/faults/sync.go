//go:build linux

package faults

import (
	"context"
	"errors"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/test/chaos/world"
)

// What strace does to the calls by which a member has its data stored.
const (
	failing = "inject=fsync,fdatasync:error=EIO"
	lying   = "inject=fsync,fdatasync:retval=0"          // it is not done, and said to be
	slow    = "inject=fsync,fdatasync:delay_exit=100000" // microseconds
)

// syncKinds are disks that do not store what they should. A member whose disk has
// lied, and then lost power, has forgotten what it told the others, which no member
// survives as such: it is replaced, and where it was the majority, a snapshot is
// restored. That such members come up again by themselves is not tried.
func syncKinds() []Kind {
	traced := grouped("disk", []string{members}, []string{strace},
		Kind{Name: "sync fails on the leader", Cost: sessions(aRequest), Do: failSync},
		Kind{Name: "sync is slow on the leader", Cost: sessions(silence), Do: mistreat(leader, slow)},
		Kind{Name: "sync is slow on all members", Cost: sessions(silence), Do: mistreat(everyMember, slow)},
		Kind{Name: "sync lies to a follower", Cost: nothing(noticed), Do: mistreat(follower, lying)},
		Kind{Name: "sync lies to all members", Cost: nothing(aRequest), Do: mistreat(everyMember, lying)},
	)
	takes := []string{network, links, locks, clocks} // as replacements and restores do
	return append(traced, grouped("disk", append(takes, members), []string{strace, images},
		Kind{Name: "sync lies to a follower, which loses power and is replaced", Cost: nothing(noticed), Do: lieToFollower},
		Kind{Name: "sync lies to a majority, which loses power; a snapshot is restored", Cost: rollback("kv", "the kv writes after the snapshot", aRestore), Do: lieToMajority},
	)...)
}

// trace does it to members until undone.
func trace(victims []*world.Member, how string) (undo func() error, err error) {
	return undoable(victims, func(m *world.Member) (func() error, error) {
		return m.Trace("-e", "trace=fsync,fdatasync", "-e", how)
	})
}

func mistreat(choose pickMembers, how string) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		victims, err := r.pick(ctx, choose)
		if err != nil {
			return err
		}
		undo, err := trace(victims, how)
		if err == nil {
			err = r.hold(ctx)
		}
		return errors.Join(err, undo(), r.revive(ctx, victims))
	}
}

// revive starts members that have ended with their tracer: it leaves behind a call
// that it was about to answer itself, and which the kernel does not know then (ENOSYS).
func (r *Run) revive(ctx context.Context, victims []*world.Member) error {
	return until(ctx, "revive", func() error {
		for _, m := range victims {
			if !ended(m) {
				continue
			}
			r.Note("%s ended with its tracer, code %d", m.Name, m.Code())
			if err := m.Start(ctx); err != nil {
				return err
			}
		}
		return r.World.Settle(ctx)
	})
}

// failSync is a disk that reports an error. The member may end; if not, it is ended,
// since nobody knows what such a disk has stored.
func failSync(ctx context.Context, r *Run) error {
	victims, err := r.pick(ctx, leader)
	if err != nil {
		return err
	}
	m := victims[0]
	undo, err := trace(victims, failing)
	if err == nil {
		err = r.hold(ctx)
	}
	if ended(m) {
		r.Note("it ended with code %d", m.Code())
	} else {
		r.Note("it went on")
	}
	return errors.Join(err, m.Kill(), undo(), m.Start(ctx))
}

func lieToFollower(ctx context.Context, r *Run) error {
	victims, err := r.pick(ctx, follower)
	if err != nil {
		return err
	}
	if _, err := r.forget(ctx, victims); err != nil {
		return err
	}
	return r.replace(ctx, victims[0])
}

func lieToMajority(ctx context.Context, r *Run) error {
	return r.withSnapshot(ctx, func(file string) error {
		victims, err := r.pick(ctx, two)
		if err != nil {
			return err
		}
		old, err := r.forget(ctx, victims)
		if err != nil {
			return err
		}
		return errors.Join(r.restore(ctx, file), r.outdated(ctx, old))
	})
}

// forget has disks lie for a while and then lose power. It returns the sequencers of those
// who held or waited just before that. Members that it could not be done to are started
// again.
func (r *Run) forget(ctx context.Context, victims []*world.Member) (last []fencing.Sequencer, err error) {
	undo, err := trace(victims, lying)
	if err == nil {
		err = r.hold(ctx)
	}
	if err == nil {
		last, err = r.sequencers(ctx)
	}
	if err = errors.Join(err, powerOff(victims), undo()); err != nil {
		return nil, errors.Join(err, start(ctx, victims))
	}
	return last, nil
}
