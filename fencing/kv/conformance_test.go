package kv_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/fencingtest"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv"
)

// resource is a namespace of a cluster, with the claims that its tokens are from.
type resource struct {
	cluster *clustertest.Cluster
	etcd    *clientv3.Client
	space   keys.Space
	name    string
	live    bool // operations use the handles of the claims' own clients

	mu      sync.Mutex
	granted int
	claims  map[string]string // by lock: the key of its holder's claim
	handles map[fencing.Sequencer]*kv.KV
}

func (r *resource) Do(ctx context.Context, op fencingtest.Op) (string, error) {
	handle, err := r.handle(op.Sequencer)
	if err != nil {
		return "", err
	}
	switch op.Kind {
	case fencingtest.Read:
		record, err := handle.Get(ctx, op.Key)
		return string(record.Value), err
	case fencingtest.Write:
		_, err = handle.Put(ctx, op.Key, []byte(op.Value))
	case fencingtest.Delete:
		_, err = handle.Delete(ctx, op.Key)
	case fencingtest.Advance:
		err = handle.Advance(ctx)
	}
	return "", err
}

func (r *resource) handle(seq fencing.Sequencer) (*kv.KV, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if handle := r.handles[seq]; handle != nil {
		return handle, nil
	}
	return kv.New(r.etcd, seq, kv.Config{Namespace: r.name})
}

// nextToken ends the holder's claim, as the end of its lease does, and puts one for
// the next holder.
func (r *resource) nextToken(t testing.TB, lock string) fencing.Token {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.claims[lock]; old != "" {
		if _, err := r.etcd.Delete(t.Context(), old); err != nil {
			t.Fatal(err)
		}
	}
	value, err := keys.ClaimValue{Owner: t.Name(), Mode: keys.Exclusive}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r.granted++
	key := r.space.Claim(lock, 0xbeef, r.granted)
	resp, err := r.etcd.Txn(t.Context()).Then(clientv3.OpPut(key, value), clientv3.OpGet(r.space.Fence(lock))).Commit()
	if err != nil {
		t.Fatal(err)
	}
	r.claims[lock] = key
	grant := kv.Grant{Sequencer: fencing.Sequencer{Lock: lock, Token: fencing.Token(resp.Header.Revision)}, Claim: key,
		Held: func() error { return nil }}
	if fence := resp.Responses[1].GetResponseRange().Kvs; len(fence) > 0 {
		grant.Fence = fence[0]
	}
	handle, err := kv.Live(r.etcd, grant, kv.Config{Namespace: r.name})
	if err != nil {
		t.Fatal(err)
	}
	if r.live {
		r.handles[grant.Sequencer] = handle
	}
	return grant.Sequencer.Token
}

func TestConformance(t *testing.T) {
	cluster := clustertest.Start(t, 1)
	var spaces atomic.Int64
	for name, live := range map[string]bool{"bare sequencers": false, "live handles": true} {
		t.Run(name, func(t *testing.T) {
			fencingtest.Run(t, fencingtest.Harness{
				Open: func(t testing.TB, _ fencingtest.Verify) fencingtest.Resource {
					name := fmt.Sprintf("space%d", spaces.Add(1))
					space, err := keys.NewSpace(name)
					if err != nil {
						t.Fatal(err)
					}
					return &resource{cluster: cluster, etcd: cluster.Client(t), space: space, name: name, live: live,
						claims: map[string]string{}, handles: map[fencing.Sequencer]*kv.KV{}}
				},
				Reopen: func(_ testing.TB, r fencingtest.Resource) fencingtest.Resource {
					cluster.Kill(0)
					cluster.Restart(0)
					return r
				},
				NextToken: func(t testing.TB, r fencingtest.Resource, lock string) fencing.Token {
					return r.(*resource).nextToken(t, lock)
				},
				Without: map[fencingtest.Capability]string{
					fencingtest.AnyToken: "a token is the revision of a claim",
					fencingtest.Verifies: "a handle finds the claim by itself",
					fencingtest.AnyGuard: "a sequencer of another lock leads to the records of that lock",
					fencingtest.Texts:    "it takes a fencing.Sequencer",
				},
			})
		})
	}
}
