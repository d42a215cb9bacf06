package snapshot

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"google.golang.org/protobuf/proto"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// edit writes to s what is in tx, as etcd would leave it after these requests at
// revision floor, and a compaction up to there: revoke every lease, delete every
// claim, and put every fence. It returns how many keys went.
func edit(ctx context.Context, tx *bbolt.Tx, c *content, floor int64, s *store) (dropped int, err error) {
	if err := s.into(schema.Key.Name()); err != nil {
		return 0, err
	}
	if dropped, err = c.copyKept(ctx, tx, s); err != nil {
		return 0, err
	}
	if err := c.closeFences(tx, floor, s); err != nil {
		return 0, err
	}
	if err := s.into(schema.Meta.Name()); err != nil {
		return 0, err
	}
	if version := tx.Bucket(schema.Meta.Name()).Get(schema.MetaStorageVersionName); version != nil {
		if err := s.put(schema.MetaStorageVersionName, version); err != nil {
			return 0, err
		}
	}
	if err := s.putCompacted(floor); err != nil {
		return 0, err
	}
	return dropped, copyUsers(tx, s)
}

// copyKept copies the last version of every key that is neither a fence, nor bound
// to a lease, nor a claim.
func (c *content) copyKept(ctx context.Context, tx *bbolt.Tx, s *store) (dropped int, err error) {
	err = eachVersion(ctx, tx, func(v version) error {
		key := string(v.kv.Key)
		e, live := c.live[key]
		switch {
		case !live || !v.is(e) || e.fence:
			return nil
		case c.drops(key, e):
			dropped++
			return nil
		}
		return s.put(v.key, v.raw)
	})
	return dropped, err
}

// drops reports whether a key goes. A claim without a lease is one that a foreign
// client has put: nobody who put it is there any more, and it would never end.
func (c *content) drops(key string, e entry) bool {
	_, claim := c.spaces.lockOf(key)
	return claim || e.lease != 0
}

// closeFences puts every fence at revision floor, in the order of their keys.
func (c *content) closeFences(tx *bbolt.Tx, floor int64, s *store) error {
	var sub int64
	for _, key := range slices.Sorted(maps.Keys(c.live)) {
		e := c.live[key]
		if !e.fence {
			continue
		}
		at := mvcc.RevToBytes(mvcc.Revision{Main: floor, Sub: sub}, mvcc.NewRevBytes())
		old := &mvccpb.KeyValue{}
		if err := proto.Unmarshal(tx.Bucket(schema.Key.Name()).Get(mvcc.RevToBytes(e.at, mvcc.NewRevBytes())), old); err != nil {
			return fmt.Errorf("read fence %s: %w", key, err)
		}
		value, err := proto.MarshalOptions{Deterministic: true}.Marshal(&mvccpb.KeyValue{
			Key: []byte(key), Value: []byte(keys.Closed(fencing.Token(floor))),
			CreateRevision: old.CreateRevision, ModRevision: floor, Version: old.Version + 1,
		})
		if err != nil {
			return fmt.Errorf("encode fence %s: %w", key, err)
		}
		if err := s.put(at, value); err != nil {
			return err
		}
		sub++
	}
	return nil
}

// copyUsers copies users, roles, and whether they count.
func copyUsers(tx *bbolt.Tx, s *store) error {
	for _, name := range [][]byte{schema.Auth.Name(), schema.AuthRoles.Name(), schema.AuthUsers.Name()} {
		bucket := tx.Bucket(name)
		if bucket == nil {
			continue
		}
		if err := s.into(name); err != nil {
			return err
		}
		if err := bucket.ForEach(s.put); err != nil {
			return err
		}
	}
	return nil
}
