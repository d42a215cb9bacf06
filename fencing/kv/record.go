package kv

import (
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Record is one key behind a fence.
type Record struct {
	Key      string
	Value    []byte
	Revision int64 // of its last change; 0 if there is no such key
	Found    bool
}

// records is the place of one guard's records in etcd.
type records struct{ prefix string }

func (r records) get(key string) clientv3.Op { return clientv3.OpGet(r.prefix + key) }

func (r records) list(prefix string) clientv3.Op {
	return clientv3.OpGet(r.prefix+prefix, clientv3.WithPrefix())
}

func (r records) put(key string, value []byte) clientv3.Op {
	return clientv3.OpPut(r.prefix+key, string(value))
}

func (r records) delete(key string) clientv3.Op { return clientv3.OpDelete(r.prefix + key) }

// one makes the record of key from what a get of it found.
func (r records) one(key string, found []*mvccpb.KeyValue) Record {
	if len(found) == 0 {
		return Record{Key: key}
	}
	return Record{Key: key, Value: found[0].Value, Revision: found[0].ModRevision, Found: true}
}

// all makes records from what a list found.
func (r records) all(found []*mvccpb.KeyValue) []Record {
	list := make([]Record, 0, len(found))
	for _, kv := range found {
		key := strings.TrimPrefix(string(kv.Key), r.prefix)
		list = append(list, r.one(key, []*mvccpb.KeyValue{kv}))
	}
	return list
}
