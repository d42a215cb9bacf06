package kv_test

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

const guard = "accounts/42"

// store is a real cluster with claims put by hand, so that tests choose who
// stands where in the queue.
type store struct {
	t       *testing.T
	cluster *clustertest.Cluster
	etcd    *clientv3.Client
	space   keys.Space
	claims  int
}

func newStore(t *testing.T, members int) *store {
	t.Helper()
	space, err := keys.NewSpace("")
	if err != nil {
		t.Fatal(err)
	}
	cluster := clustertest.Start(t, members)
	return &store{t: t, cluster: cluster, etcd: cluster.Client(t), space: space}
}

// claim is one that stands in the guard's queue.
type claim struct {
	store *store
	key   string
	token fencing.Token
}

// enqueue puts a claim at the tail of the queue.
func (s *store) enqueue(mode string) claim {
	s.t.Helper()
	s.claims++
	key := s.space.Claim(guard, 0xbeef, s.claims)
	value, err := keys.ClaimValue{Owner: s.t.Name(), Mode: mode}.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.etcd.Put(s.ctx(), key, value)
	if err != nil {
		s.t.Fatal(err)
	}
	return claim{store: s, key: key, token: fencing.Token(resp.Header.Revision)}
}

// hold enqueues an exclusive claim.
func (s *store) hold() claim {
	s.t.Helper()
	return s.enqueue(keys.Exclusive)
}

// end removes the claim, as an unlock or the end of its lease does.
func (c claim) end() {
	c.store.t.Helper()
	if _, err := c.store.etcd.Delete(c.store.ctx(), c.key); err != nil {
		c.store.t.Fatal(err)
	}
}

func (c claim) sequencer() fencing.Sequencer { return fencing.Sequencer{Lock: guard, Token: c.token} }

// live returns the handle that the claim's own client would have.
func (c claim) live(etcd *clientv3.Client) *kv.KV {
	c.store.t.Helper()
	fence, err := etcd.Get(c.store.ctx(), c.store.space.Fence(guard))
	if err != nil {
		c.store.t.Fatal(err)
	}
	grant := kv.Grant{Sequencer: c.sequencer(), Claim: c.key, Held: func() error { return nil }}
	if len(fence.Kvs) > 0 {
		grant.Fence = fence.Kvs[0]
	}
	handle, err := kv.Live(etcd, grant, kv.Config{Timeout: time.Second})
	if err != nil {
		c.store.t.Fatal(err)
	}
	return handle
}

// bare returns the handle of somebody to whom the sequencer was handed.
func (c claim) bare() *kv.KV {
	c.store.t.Helper()
	return c.store.bare(c.token)
}

func (s *store) bare(token fencing.Token) *kv.KV {
	s.t.Helper()
	handle, err := kv.New(s.etcd, fencing.Sequencer{Lock: guard, Token: token}, kv.Config{})
	if err != nil {
		s.t.Fatal(err)
	}
	return handle
}

func (s *store) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	s.t.Cleanup(cancel)
	return ctx
}

// fence is the value under the guard's fence, "" if there is none.
func (s *store) fence() keys.FenceValue {
	s.t.Helper()
	return keys.FenceValue(s.raw(s.space.Fence(guard)))
}

// value is what lies under a record's key, read past the fence.
func (s *store) value(key string) string {
	s.t.Helper()
	return s.raw(s.space.Record(guard, key))
}

func (s *store) raw(key string) string {
	s.t.Helper()
	resp, err := s.etcd.Get(s.ctx(), key)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(resp.Kvs) == 0 {
		return ""
	}
	return string(resp.Kvs[0].Value)
}

// revision is the store's current one.
func (s *store) revision() int64 {
	s.t.Helper()
	resp, err := s.etcd.Get(s.ctx(), "any")
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.Header.Revision
}

func mustPut(t *testing.T, handle *kv.KV, key, value string) {
	t.Helper()
	if _, err := handle.Put(context.Background(), key, []byte(value)); err != nil {
		t.Fatalf("put %s=%s: %v", key, value, err)
	}
}

func mustGet(t *testing.T, handle *kv.KV, key string) kv.Record {
	t.Helper()
	record, err := handle.Get(context.Background(), key)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	return record
}
