package kv

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// DefaultTimeout bounds one operation. A healthy cluster answers in
// milliseconds, and one that elects a leader within about two election
// time-outs, which are one second each unless set otherwise.
const DefaultTimeout = 5 * time.Second

// Config of a handle. The zero Config is ready to use.
type Config struct {
	// Namespace of all keys; empty means keys.DefaultNamespace.
	Namespace string

	// Timeout bounds each operation, beside its context; 0 means DefaultTimeout.
	Timeout time.Duration

	// Background runs a barrier that has outlived the call which needed it, and
	// ends its context when the owner closes. Nil: a goroutine that ends with
	// the barrier or with the etcd client, whichever comes first.
	Background func(func(context.Context))

	// Closed says why the handle cannot be used any more, since its owner has
	// closed; nil while it can. Default: it always can.
	Closed func() error

	// Refused is told of every operation that was refused, for metrics; nil: nobody.
	Refused func(guard string, token fencing.Token, err error)
}

// Grant is what a client knows of a lock that it holds.
type Grant struct {
	Sequencer fencing.Sequencer
	Claim     string           // the claim's key
	Fence     *mvccpb.KeyValue // the guard's fence as read with the grant; nil: there was none
	Unread    bool             // Fence has not been read: the first operation does that
	Held      func() error     // nil while the lock is held, by the local clock
	Oldest    fencing.Token    // for a shared lock: the smallest token in the queue when it was granted
}

// KV reads and writes the records of one guard as the holder of one token. Its
// methods may be called from several goroutines.
//
// Besides what each method names, they return *fencing.StaleError when a newer
// holder has claimed the fence, fencing.ErrNotHeld when the claim is gone,
// fencing.ErrNotIssued for a token that never was, fencing.ErrUnavailable when
// nothing was changed for want of an answer and, from writes only,
// fencing.ErrUncertain. A handle of a lock that its client has lost returns
// what Lock.Err says, without asking.
type KV struct {
	etcd    *clientv3.Client
	seq     fencing.Sequencer
	space   keys.Space
	records records
	config  Config
	held    func() error // nil for a bare sequencer

	mine keys.FenceValue // what this handle puts to claim the fence, if its value is lower
	over keys.FenceValue // the lowest value of a fence that refuses this handle

	mu      sync.Mutex
	claim   string   // the claim's key; empty until a bare handle has found it
	fence   view     // the fence as last seen
	unread  bool     // it has never been
	barrier *barrier // the one that operations must wait for, or nil
}

// New returns a handle for a bare sequencer, one that was handed over by the
// lock's holder. It sends no request; the first operation finds the claim.
func New(etcd *clientv3.Client, seq fencing.Sequencer, cfg Config) (*KV, error) {
	space, err := check(seq, cfg)
	if err != nil {
		return nil, err
	}
	place := records{prefix: space.Records(seq.Lock)}
	handle := &KV{etcd: etcd, seq: seq, space: space, records: place, config: cfg.withDefaults(etcd)}
	handle.mine = keys.Claimed(seq.Token)
	handle.over = keys.Above(seq.Token)
	return handle, nil
}

// Live returns a handle for a lock that this process holds. It sends no request.
func Live(etcd *clientv3.Client, grant Grant, cfg Config) (*KV, error) {
	handle, err := New(etcd, grant.Sequencer, cfg)
	if err != nil {
		return nil, err
	}
	// A fence that cannot be read is reported by the first operation, which
	// finds another mod revision than that of the zero view.
	handle.fence, _ = viewOf(grant.Fence)
	handle.claim, handle.held, handle.unread = grant.Claim, grant.Held, grant.Unread
	return handle, nil
}

// Reader reads the records of one guard as a shared holder, who must not write.
// Its methods behave as those of [KV].
type Reader struct{ kv *KV }

// Shared returns a handle for a shared lock that this process holds. Shared
// holders do not fence each other: they are admitted until an exclusive holder
// that came after them claims the fence.
func Shared(etcd *clientv3.Client, grant Grant, cfg Config) (*Reader, error) {
	handle, err := Live(etcd, grant, cfg)
	if err != nil {
		return nil, err
	}
	handle.mine, handle.over = keys.Shared(grant.Oldest), keys.Claimed(grant.Sequencer.Token+1)
	return &Reader{kv: handle}, nil
}

// Get reads one record, see [KV.Get].
func (r *Reader) Get(ctx context.Context, key string) (Record, error) { return r.kv.Get(ctx, key) }

// List reads records by the beginning of their keys, see [KV.List].
func (r *Reader) List(ctx context.Context, prefix string) ([]Record, error) {
	return r.kv.List(ctx, prefix)
}

// Advance claims the fence, see [KV.Advance].
func (r *Reader) Advance(ctx context.Context) error { return r.kv.Advance(ctx) }

func check(seq fencing.Sequencer, cfg Config) (keys.Space, error) {
	if cfg.Timeout < 0 {
		return keys.Space{}, fmt.Errorf("timeout %v: want more than zero, or zero for %v", cfg.Timeout, DefaultTimeout)
	}
	if seq == (fencing.Sequencer{}) {
		return keys.Space{}, fmt.Errorf("sequencer: %w", fencing.ErrMissing)
	}
	if err := keys.CheckName(seq.Lock); err != nil {
		return keys.Space{}, err
	}
	if !seq.Token.Valid() {
		return keys.Space{}, fmt.Errorf("token %v of %q: %w: tokens are greater than zero", seq.Token, seq.Lock, fencing.ErrMalformed)
	}
	return keys.NewSpace(cfg.Namespace)
}

func (c Config) withDefaults(etcd *clientv3.Client) Config {
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Background == nil {
		c.Background = func(run func(context.Context)) { go run(etcd.Ctx()) }
	}
	if c.Closed == nil {
		c.Closed = func() error { return nil }
	}
	if c.Refused == nil {
		c.Refused = func(string, fencing.Token, error) {}
	}
	return c
}

// Sequencer returns the sequencer under which the handle works.
func (kv *KV) Sequencer() fencing.Sequencer { return kv.seq }

// Get reads one record. A key that does not exist is no error: see Record.Found.
func (kv *KV) Get(ctx context.Context, key string) (Record, error) {
	if err := keys.CheckKey(key); err != nil {
		return Record{}, err
	}
	answer, err := kv.run(ctx, request{doing: name("get", key), ops: []clientv3.Op{kv.records.get(key)}})
	if err != nil {
		return Record{}, err
	}
	return kv.records.one(key, answer.Responses[0].GetResponseRange().Kvs), nil
}

// List reads the records whose keys begin with prefix, in the order of their
// keys, all at one revision.
func (kv *KV) List(ctx context.Context, prefix string) ([]Record, error) {
	if err := keys.CheckKeyPrefix(prefix); err != nil {
		return nil, err
	}
	answer, err := kv.run(ctx, request{doing: name("list", prefix), ops: []clientv3.Op{kv.records.list(prefix)}})
	if err != nil {
		return nil, err
	}
	return kv.records.all(answer.Responses[0].GetResponseRange().Kvs), nil
}

// Put writes one record and returns the revision of the write.
func (kv *KV) Put(ctx context.Context, key string, value []byte) (revision int64, err error) {
	if err := keys.CheckKey(key); err != nil {
		return 0, err
	}
	answer, err := kv.run(ctx, request{doing: name("put", key), write: true, ops: []clientv3.Op{kv.records.put(key, value)}})
	if err != nil {
		return 0, err
	}
	return answer.Header.Revision, nil
}

// Delete removes one record and reports whether there was one. The fence stays.
func (kv *KV) Delete(ctx context.Context, key string) (deleted bool, err error) {
	if err := keys.CheckKey(key); err != nil {
		return false, err
	}
	answer, err := kv.run(ctx, request{doing: name("delete", key), write: true, ops: []clientv3.Op{kv.records.delete(key)}})
	if err != nil {
		return false, err
	}
	return answer.Responses[0].GetResponseDeleteRange().Deleted > 0, nil
}

// Advance claims the fence without touching a record: from its return on, no
// older holder can read or write behind this guard. Any other operation does so
// too.
func (kv *KV) Advance(ctx context.Context) error {
	_, err := kv.run(ctx, request{doing: "advance"})
	return err
}

// name words an operation on one key for error messages.
func name(op, key string) string { return fmt.Sprintf("%s %q", op, key) }
