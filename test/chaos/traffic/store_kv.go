package traffic

import (
	"context"
	"errors"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv"
)

// kvStore is behind the fence of the key-value layer.
type kvStore struct {
	reader kvReader
	writer *kv.KV // nil: a shared holder's
}

// kvReader is a *kv.KV, or the *kv.Reader of a shared holder.
type kvReader interface {
	Get(ctx context.Context, key string) (kv.Record, error)
	List(ctx context.Context, prefix string) ([]kv.Record, error)
}

func newKVStore(handle *kv.KV) kvStore { return kvStore{reader: handle, writer: handle} }

// bareStore is that of a service which was handed the sequencer.
func bareStore(c *client.Client, seq fencing.Sequencer) (store, error) {
	handle, err := c.KV(seq)
	if err != nil {
		return nil, err
	}
	return newKVStore(handle), nil
}

func (s kvStore) Get(ctx context.Context, key string) (string, bool, error) {
	r, err := s.reader.Get(ctx, key)
	return string(r.Value), r.Found, err
}

func (s kvStore) List(ctx context.Context, prefix string) (map[string]string, error) {
	records, err := s.reader.List(ctx, prefix)
	found := map[string]string{}
	for _, r := range records {
		found[r.Key] = string(r.Value)
	}
	return found, err
}

var errReadOnly = errors.New("a shared holder must not write")

func (s kvStore) Put(ctx context.Context, key, value string) error {
	if s.writer == nil {
		return errReadOnly
	}
	_, err := s.writer.Put(ctx, key, []byte(value))
	return err
}

func (s kvStore) Delete(ctx context.Context, key string) error {
	if s.writer == nil {
		return errReadOnly
	}
	_, err := s.writer.Delete(ctx, key)
	return err
}

func (s kvStore) Apply(ctx context.Context, values map[string]string) error {
	if s.writer == nil {
		return errReadOnly
	}
	var ops []kv.Op
	for key, value := range values {
		ops = append(ops, kv.Put(key, []byte(value)))
	}
	_, err := s.writer.Txn(ctx, kv.Txn{Then: ops})
	return err
}
