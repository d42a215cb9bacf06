//go:build linux

package world

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// lockPrefix is where claims are: the default namespace, as PROTOCOL has it.
const lockPrefix = "fencelock/lock/"

// Facts reads the state of the cluster; the members have settled.
func (w *World) Facts(ctx context.Context) (history.Facts, error) {
	facts, err := w.hashes(ctx)
	if err != nil {
		return facts, err
	}
	for i, m := range w.Members {
		if err := m.count(ctx, &facts.Members[i]); err != nil {
			return facts, fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	claims, err := w.etcd.Get(ctx, lockPrefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return facts, fmt.Errorf("claims: %w", err)
	}
	for _, kv := range claims.Kvs {
		facts.Claims = append(facts.Claims, string(kv.Key))
	}
	leases, err := w.etcd.Leases(ctx)
	if err != nil {
		return facts, fmt.Errorf("leases: %w", err)
	}
	facts.Leases = len(leases.Leases)
	return facts, nil
}

// hashes asks all members for the hash at one revision, which all have reached, over
// what is left since one compaction.
func (w *World) hashes(ctx context.Context) (history.Facts, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		facts, err := w.tryHashes(ctx)
		if err == nil {
			return facts, nil
		}
		select {
		case <-ctx.Done():
			return facts, fmt.Errorf("hashes: %w: %w", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

func (w *World) tryHashes(ctx context.Context) (history.Facts, error) {
	var facts history.Facts
	now, err := w.etcd.Get(ctx, lockPrefix)
	if err != nil {
		return facts, err
	}
	compacted := int64(-1)
	for _, m := range w.Members {
		h, err := w.hash(ctx, m, now.Header.Revision)
		if err != nil {
			return facts, fmt.Errorf("%s: %w", m.Name, err)
		}
		if compacted >= 0 && h.CompactRevision != compacted {
			return facts, fmt.Errorf("%s is compacted to %d, another to %d", m.Name, h.CompactRevision, compacted)
		}
		compacted = h.CompactRevision
		facts.Members = append(facts.Members, history.MemberFacts{Name: m.Name, Hash: h.Hash, Revision: now.Header.Revision})
	}
	return facts, nil
}

func (w *World) hash(ctx context.Context, m *Member, revision int64) (*clientv3.HashKVResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*askTime)
	defer cancel()
	return w.etcd.HashKV(ctx, m.Endpoint, revision)
}

// count adds what the process has open.
func (m *Member) count(ctx context.Context, facts *history.MemberFacts) error {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", m.Pid()))
	if err != nil {
		return err
	}
	facts.Files = len(files)
	text, _, err := m.get(ctx, "/metrics")
	if err != nil {
		return err
	}
	found := regexp.MustCompile(`(?m)^go_goroutines (\d+)$`).FindStringSubmatch(text)
	if found == nil {
		return fmt.Errorf("no go_goroutines among its metrics")
	}
	facts.Goroutines, err = strconv.Atoi(found[1])
	return err
}
