//go:build linux

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/chaos/world"
)

// begun is before any run: what an empty cluster goes back to.
const begun history.Time = 1

// snapshotKinds are the ways in which a whole cluster begins anew. They take all that
// its first start needs; and the clocks, by which it chooses its floor.
func snapshotKinds() []Kind {
	return grouped("cluster", []string{members, network, links, locks, clocks}, nil,
		Kind{Name: "all disks are lost, a snapshot is restored", Cost: rollback("kv", "the kv writes after the snapshot", aRestore), Do: restoreSnapshot},
		Kind{Name: "all disks are lost, and again; one snapshot is restored twice", Cost: rollback("kv", "the kv writes after the snapshot", 2*aRestore), Do: restoreTwice},
		Kind{Name: "all disks are lost, an empty cluster has a token floor", Cost: rollback("kv", "all kv writes", aRestore), Do: startEmpty},
	)
}

// restoreSnapshot saves one, lets traffic go on, and loses everything.
func restoreSnapshot(ctx context.Context, r *Run) error {
	r.everybody()
	before, err := r.sequencers(ctx)
	if err != nil {
		return err
	}
	return r.withSnapshot(ctx, func(file string) error {
		if err := r.hold(ctx); err != nil {
			return err
		}
		after, err := r.sequencers(ctx)
		if err != nil {
			return err
		}
		return errors.Join(r.restore(ctx, file), r.outdated(ctx, append(before, after...)))
	})
}

// restoreTwice restores one snapshot, lets the cluster work for a while, and goes
// back to the same snapshot. Nothing in it tells of the tokens issued since.
func restoreTwice(ctx context.Context, r *Run) error {
	r.everybody()
	return r.withSnapshot(ctx, func(file string) error {
		if err := r.restore(ctx, file); err != nil {
			return err
		}
		if err := r.hold(ctx); err != nil {
			return err
		}
		between, err := r.sequencers(ctx)
		return errors.Join(err, r.restore(ctx, file), r.outdated(ctx, between))
	})
}

// startEmpty loses everything, without a snapshot, and nobody knows what was issued.
func startEmpty(ctx context.Context, r *Run) error {
	r.everybody()
	r.Fault.Cost.Since, r.Fault.Cost.SinceEnd = begun, begun
	if err := r.hold(ctx); err != nil {
		return err
	}
	old, err := r.sequencers(ctx)
	if err = errors.Join(err, r.loseAll()); err != nil {
		return err
	}
	return errors.Join(r.startAnew(ctx, "--token-floor", "now"), r.outdated(ctx, old))
}

// everybody is a victim.
func (r *Run) everybody() {
	for _, m := range r.World.Members {
		r.victims(m.Name)
	}
}

// withSnapshot saves a snapshot, writes down from which time it may be, and removes
// it in the end.
func (r *Run) withSnapshot(ctx context.Context, then func(file string) error) error {
	dir, err := os.MkdirTemp(r.World.Scratch(), "snapshot")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "backup.db")
	err = until(ctx, "save a snapshot", func() error {
		since := history.Now()
		if _, err := r.World.CLI(ctx, "snapshot", "save", file, "--force", "--endpoints", endpoints(r.World.Members)); err != nil {
			return err
		}
		r.Fault.Cost.Since, r.Fault.Cost.SinceEnd = since, history.Now()
		return nil
	})
	if err != nil {
		return err
	}
	return then(file)
}

// restore is docs/operations.md, "Backup and restore", step by step.
func (r *Run) restore(ctx context.Context, file string) error {
	if err := r.loseAll(); err != nil {
		return err
	}
	var staged struct {
		Floor int64 `json:"floor,string"`
	}
	for _, m := range r.World.Members {
		args := []string{"snapshot", "restore", file, "--data-dir", m.Disk.Dir(), "--output", "json"}
		if staged.Floor > 0 {
			args = append(args, "--floor", strconv.FormatInt(staged.Floor, 10))
		}
		out, err := r.World.CLI(ctx, args...)
		if err != nil {
			return fmt.Errorf("restore on %s: %w", m.Name, err)
		}
		if err := json.Unmarshal([]byte(out), &staged); err != nil {
			return fmt.Errorf("restore on %s: %q: %w", m.Name, out, err)
		}
	}
	r.Note("floor %d", staged.Floor)
	return r.startAnew(ctx)
}

// loseAll takes away every member and its disk.
func (r *Run) loseAll() error {
	return errors.Join(
		each(r.World.Members, (*world.Member).Kill),
		each(r.World.Members, func(m *world.Member) error { return m.Disk.Wipe() }))
}

// startAnew starts a new cluster with the command that first made one, since a
// member may have been replaced meanwhile.
func (r *Run) startAnew(ctx context.Context, extra ...string) error {
	var peers []string
	for _, m := range r.World.Members {
		peers = append(peers, address(m))
	}
	err := each(r.World.Members, func(m *world.Member) error {
		m.SetCommand([]string{"server", "--peers", strings.Join(peers, ","), "--name", address(m), "--listen-client", m.Endpoint})
		return m.Launch(extra...)
	})
	if err != nil {
		return err
	}
	return errors.Join(each(r.World.Members, func(m *world.Member) error { return m.Ready(ctx) }), r.settle(ctx))
}
