package snapshot

import (
	"context"
	"fmt"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"google.golang.org/protobuf/proto"
)

// revisionLen is that of a key in etcd's key bucket, without the mark of a
// deletion.
const revisionLen = 17

// entry is where the last version of a key is, and what to make of it.
type entry struct {
	at    mvcc.Revision
	lease int64
	fence bool
}

// content is what lives in a store, by key.
type content struct {
	spaces   *spaces
	live     map[string]entry
	revision int64 // the store's
}

// emptyRevision is that of a store without history.
const emptyRevision = 1

// scan reads the whole history.
func scan(ctx context.Context, tx *bbolt.Tx, s *spaces) (*content, error) {
	c := &content{spaces: s, live: map[string]entry{}, revision: emptyRevision}
	err := eachVersion(ctx, tx, func(v version) error {
		c.revision = max(c.revision, v.at.Main)
		if v.deleted {
			delete(c.live, string(v.kv.Key))
			return nil
		}
		key := string(v.kv.Key)
		c.live[key] = entry{at: v.at.Revision, lease: v.kv.Lease, fence: s.isFence(key, v.kv.Value)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range [][]byte{schema.FinishedCompactKeyName, schema.ScheduledCompactKeyName} {
		if at := tx.Bucket(schema.Meta.Name()).Get(name); len(at) == revisionLen {
			c.revision = max(c.revision, mvcc.BytesToRev(at).Main)
		}
	}
	return c, nil
}

// version is one change of one key.
type version struct {
	at       mvcc.BucketKey
	deleted  bool
	kv       *mvccpb.KeyValue
	key, raw []byte // as they lie in the database
}

// eachVersion calls f for every change in the history, oldest first.
func eachVersion(ctx context.Context, tx *bbolt.Tx, f func(version) error) error {
	n := 0
	return tx.Bucket(schema.Key.Name()).ForEach(func(key, raw []byte) error {
		if n++; n%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		kv := &mvccpb.KeyValue{}
		if err := proto.Unmarshal(raw, kv); err != nil || len(key) < revisionLen {
			return fmt.Errorf("%w: the key-value pair at revision %x cannot be read", ErrDamaged, key)
		}
		return f(version{at: mvcc.BytesToBucketKey(key), deleted: mvcc.IsTombstone(key), kv: kv, key: key, raw: raw})
	})
}

// is reports whether v is the version of entry e.
func (v version) is(e entry) bool { return v.at.Revision == e.at }

// locks counts the locks and semaphores that somebody holds or waits for.
func (c *content) locks() int {
	names := map[string]bool{}
	for key := range c.live {
		if name, ok := c.spaces.lockOf(key); ok {
			names[name] = true
		}
	}
	return len(names)
}

func (c *content) count(which func(entry) bool) (n int) {
	for _, e := range c.live {
		if which(e) {
			n++
		}
	}
	return n
}

// leases counts those that are stored, with keys or without.
func leases(tx *bbolt.Tx) int {
	bucket := tx.Bucket(schema.Lease.Name())
	if bucket == nil {
		return 0
	}
	return bucket.Stats().KeyN
}
