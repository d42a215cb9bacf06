//go:build linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fencelock/fencelock/test/chaos/world"
)

func powerKinds() []Kind {
	return grouped("disk", []string{members}, []string{images},
		Kind{Name: "power cut of the leader", Cost: sessions(aRequest), Do: cutPower(leader)},
		Kind{Name: "power cut of a follower", Cost: nothing(noticed), Do: cutPower(follower)},
		Kind{Name: "power cut of all members", Cost: sessions(aStart + aRequest), Do: cutPower(everyMember)},
		Kind{Name: "the leader's disk is full", Cost: sessions(aRequest), Do: fillDisk},
	)
}

// cutPower takes from members what they have not synced, and starts them again.
func cutPower(choose pickMembers) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		victims, err := r.pick(ctx, choose)
		if err != nil {
			return err
		}
		err = powerOff(victims)
		if len(victims) < len(r.World.Members) {
			err = errors.Join(err, r.hold(ctx))
		}
		return errors.Join(err, start(ctx, victims))
	}
}

// powerOff leaves of members what lay on their disks at the same moment: none has
// said anything after another one's disk was copied.
func powerOff(victims []*world.Member) error {
	err := each(victims, (*world.Member).Pause)
	if err == nil {
		err = each(victims, func(m *world.Member) error { return m.Disk.Copy() })
	}
	killed := each(victims, (*world.Member).Kill)
	if err = errors.Join(err, killed); err != nil {
		return err
	}
	return each(victims, func(m *world.Member) error { return m.Disk.Restore() })
}

// fillDisk leaves the leader's disk no room, and writes until the member ends. With
// room again, it goes on.
func fillDisk(ctx context.Context, r *Run) error {
	victims, err := r.pick(ctx, leader)
	if err != nil {
		return err
	}
	m := victims[0]
	free, err := m.Disk.Fill()
	if err != nil {
		return err
	}
	r.fatten(ctx, m)
	err = errors.Join(r.hold(ctx), free())
	if ended(m) {
		r.Note("it ended with code %d", m.Code())
		return errors.Join(err, m.Start(ctx))
	}
	r.Note("it went on")
	return errors.Join(err, r.settle(ctx))
}

// fatten writes what is deleted again, under few keys, until the member has ended, at
// most 100 MiB and for at most a request's time without an answer.
func (r *Run) fatten(ctx context.Context, m *world.Member) {
	ctx, cancel := context.WithTimeout(ctx, 3*aRequest)
	defer cancel()
	etcd := r.World.Etcd()
	for n := 0; n < 200 && !ended(m) && ctx.Err() == nil; n++ {
		within, cancel := context.WithTimeout(ctx, time.Second)
		_, _ = etcd.Put(within, fmt.Sprintf("ballast/%d", n%8), strings.Repeat("x", 1<<19)) // the member may end under it
		cancel()
	}
	for n := range 8 {
		key := fmt.Sprintf("ballast/%d", n)
		_ = until(ctx, "delete the ballast", func() error { // what is left harms nobody
			_, err := etcd.Delete(ctx, key)
			return err
		})
	}
}

func ended(m *world.Member) bool { return !m.Running() }
