package kv

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// Peek reads one record without a token and without moving the fence. It is for
// people and dashboards: what it returns may be overwritten by whoever holds the
// lock, so nothing must be written back on the strength of it.
func Peek(ctx context.Context, etcd *clientv3.Client, guard, key string, cfg Config) (Record, error) {
	if err := keys.CheckKey(key); err != nil {
		return Record{}, err
	}
	place, err := placeOf(guard, cfg)
	if err != nil {
		return Record{}, err
	}
	resp, err := peek(ctx, etcd, cfg, place.get(key), fmt.Sprintf("peek at %q of %q", key, guard))
	if err != nil {
		return Record{}, err
	}
	return place.one(key, resp.Kvs), nil
}

// PeekList reads the records whose keys begin with prefix, as [Peek] does.
func PeekList(ctx context.Context, etcd *clientv3.Client, guard, prefix string, cfg Config) ([]Record, error) {
	if err := keys.CheckKeyPrefix(prefix); err != nil {
		return nil, err
	}
	place, err := placeOf(guard, cfg)
	if err != nil {
		return nil, err
	}
	resp, err := peek(ctx, etcd, cfg, place.list(prefix), fmt.Sprintf("peek at %q", guard))
	if err != nil {
		return nil, err
	}
	return place.all(resp.Kvs), nil
}

func placeOf(guard string, cfg Config) (records, error) {
	if err := keys.CheckName(guard); err != nil {
		return records{}, err
	}
	space, err := keys.NewSpace(cfg.Namespace)
	return records{prefix: space.Records(guard)}, err
}

func peek(ctx context.Context, etcd *clientv3.Client, cfg Config, op clientv3.Op, doing string) (*clientv3.GetResponse, error) {
	ctx, cancel := outcome.Bound(ctx, cfg.withDefaults(etcd).Timeout)
	defer cancel()
	var resp clientv3.OpResponse
	err := outcome.Retry(ctx, func(ctx context.Context) (err error) {
		resp, err = etcd.Do(ctx, op)
		return err
	})
	if err != nil {
		return nil, outcome.OfRead(ctx, doing, err, etcd.Endpoints())
	}
	return resp.Get(), nil
}
