package kv

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/fencing/keys"
)

// MaxTxnOps is how many compares, and how many operations, one Txn may have.
// etcd takes 128 of each unless set otherwise; the fence needs a few.
const MaxTxnOps = 100

// Txn is a set of operations that are applied together, at one revision, or not
// at all: if every compare holds and the fence admits the handle.
type Txn struct {
	If   []Compare
	Then []Op
}

// TxnResult is what a Txn found or did.
type TxnResult struct {
	// Succeeded says whether every compare held, and the operations were applied.
	Succeeded bool

	// Revision of the store at which the answer holds; for a Txn that wrote, the
	// revision of its writes.
	Revision int64

	// Records has one entry for each operation of Then, in their order: what a
	// Get or List read, and nothing for the others. If the Txn did not succeed,
	// it has one entry for each compare instead: the record as it is.
	Records [][]Record
}

// Compare is a condition on one record.
type Compare struct {
	key   string
	build func(fullKey string) clientv3.Cmp
}

// RevisionIs holds while the record's last change has this revision, as found in
// Record.Revision; 0 means that there is no such record.
func RevisionIs(key string, revision int64) Compare {
	return Compare{key, func(k string) clientv3.Cmp { return clientv3.Compare(clientv3.ModRevision(k), "=", revision) }}
}

// ValueIs holds while the record exists and has this value.
func ValueIs(key string, value []byte) Compare {
	return Compare{key, func(k string) clientv3.Cmp { return clientv3.Compare(clientv3.Value(k), "=", string(value)) }}
}

// Exists holds while there is such a record.
func Exists(key string) Compare {
	return Compare{key, func(k string) clientv3.Cmp { return clientv3.Compare(clientv3.CreateRevision(k), ">", 0) }}
}

// Missing holds while there is no such record.
func Missing(key string) Compare { return RevisionIs(key, 0) }

// Op is one operation of a Txn.
type Op struct {
	key   string
	kind  opKind
	value []byte
}

type opKind int

const (
	opGet opKind = iota
	opList
	opPut
	opDelete
)

// Get reads one record. Operations run in their order: it sees what earlier ones
// of the same Txn have done.
func Get(key string) Op { return Op{key: key, kind: opGet} }

// List reads the records whose keys begin with prefix.
func List(prefix string) Op { return Op{key: prefix, kind: opList} }

// Put writes one record.
func Put(key string, value []byte) Op { return Op{key: key, kind: opPut, value: value} }

// Delete removes one record.
func Delete(key string) Op { return Op{key: key, kind: opDelete} }

// Txn applies t under the fence. A compare that does not hold is no error: see
// TxnResult.Succeeded. At most MaxTxnOps compares and operations, and at most
// one Put or Delete of the same key.
func (kv *KV) Txn(ctx context.Context, t Txn) (TxnResult, error) {
	if err := t.validate(); err != nil {
		return TxnResult{}, err
	}
	if len(t.If) > 0 {
		// What an unmet compare tells is a read, and must not come before the
		// fence is claimed. Once it is claimed this sends nothing.
		if err := kv.claimFirst(ctx); err != nil {
			return TxnResult{}, err
		}
	}
	req := request{doing: "txn", write: t.writes()}
	for _, c := range t.If {
		req.ifs = append(req.ifs, c.build(kv.records.prefix+c.key))
		req.unmet = append(req.unmet, kv.records.get(c.key))
	}
	for _, op := range t.Then {
		req.ops = append(req.ops, op.build(kv.records))
	}
	resp, err := kv.run(ctx, req)
	if err != nil {
		return TxnResult{}, err
	}
	return t.result(kv.records, resp), nil
}

// claimFirst claims the fence unless this handle knows that it has it.
func (kv *KV) claimFirst(ctx context.Context) error {
	kv.mu.Lock()
	claimed := !kv.claims(kv.fence)
	kv.mu.Unlock()
	if claimed {
		return nil
	}
	return kv.Advance(ctx)
}

func (t Txn) writes() bool {
	for _, op := range t.Then {
		if op.kind == opPut || op.kind == opDelete {
			return true
		}
	}
	return false
}

func (t Txn) validate() error {
	if len(t.If) > MaxTxnOps || len(t.Then) > MaxTxnOps {
		return fmt.Errorf("txn has %d compares and %d operations, at most %d of each are allowed", len(t.If), len(t.Then), MaxTxnOps)
	}
	for _, c := range t.If {
		if err := keys.CheckKey(c.key); err != nil {
			return err
		}
	}
	written := map[string]bool{}
	for _, op := range t.Then {
		if err := op.validate(written); err != nil {
			return err
		}
	}
	return nil
}

func (op Op) validate(written map[string]bool) error {
	switch op.kind {
	case opList:
		return keys.CheckKeyPrefix(op.key)
	case opPut, opDelete:
		if written[op.key] {
			return fmt.Errorf("txn writes key %q twice", op.key)
		}
		written[op.key] = true
	}
	return keys.CheckKey(op.key)
}

func (op Op) build(r records) clientv3.Op {
	switch op.kind {
	case opPut:
		return r.put(op.key, op.value)
	case opDelete:
		return r.delete(op.key)
	case opList:
		return r.list(op.key)
	}
	return r.get(op.key)
}

// result sorts the answer to t by what was asked. After an unmet compare the
// responses answer the compares, else the operations.
func (t Txn) result(r records, resp *clientv3.TxnResponse) TxnResult {
	result := TxnResult{Succeeded: resp.Succeeded, Revision: resp.Header.Revision}
	for i, part := range resp.Responses {
		var op Op
		if resp.Succeeded {
			op = t.Then[i]
		} else {
			op = Get(t.If[i].key)
		}
		result.Records = append(result.Records, op.records(r, part))
	}
	return result
}

func (op Op) records(r records, part *pb.ResponseOp) []Record {
	found := part.GetResponseRange().GetKvs()
	switch op.kind {
	case opGet:
		return []Record{r.one(op.key, found)}
	case opList:
		return r.all(found)
	}
	return nil
}
