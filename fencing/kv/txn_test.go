package kv_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv"
)

func TestTxnAppliesAllOrNothing(t *testing.T) {
	s := newStore(t, 1)
	handle := s.hold().live(s.etcd)
	mustPut(t, handle, "a", "1")
	done, err := handle.Txn(t.Context(), kv.Txn{
		If:   []kv.Compare{kv.ValueIs("a", []byte("1")), kv.Missing("b"), kv.Exists("a")},
		Then: []kv.Op{kv.Get("a"), kv.Put("b", []byte("2")), kv.Delete("a"), kv.List("")},
	})
	if err != nil || !done.Succeeded {
		t.Fatalf("got %+v, %v", done, err)
	}
	if got, want := describe(done), "[a=1] [] [] [b=2]"; got != want {
		t.Errorf("records %s, want %s", got, want)
	}
	if b := mustGet(t, handle, "b"); b.Revision != done.Revision {
		t.Errorf("b was written at revision %d, the txn says %d", b.Revision, done.Revision)
	}

	unmet, err := handle.Txn(t.Context(), kv.Txn{
		If:   []kv.Compare{kv.RevisionIs("b", 1), kv.Exists("a")},
		Then: []kv.Op{kv.Put("b", []byte("3"))},
	})
	if err != nil || unmet.Succeeded {
		t.Fatalf("got %+v, %v, want it not to succeed", unmet, err)
	}
	if got, want := describe(unmet), "[b=2] [a absent]"; got != want {
		t.Errorf("what the compares found: %s, want %s", got, want)
	}
	if got, want := s.value("b"), "2"; got != want {
		t.Errorf("b is %s, want %s", got, want)
	}
}

func describe(r kv.TxnResult) string {
	var parts []string
	for _, records := range r.Records {
		var list []string
		for _, record := range records {
			if record.Found {
				list = append(list, fmt.Sprintf("%s=%s", record.Key, record.Value))
			} else {
				list = append(list, record.Key+" absent")
			}
		}
		parts = append(parts, "["+strings.Join(list, " ")+"]")
	}
	return strings.Join(parts, " ")
}

// What an unmet compare tells is a read: it claims the fence like any other.
func TestUnmetFirstTxnClaimsTheFence(t *testing.T) {
	s := newStore(t, 1)
	a := s.hold()
	result, err := a.live(s.etcd).Txn(t.Context(), kv.Txn{If: []kv.Compare{kv.Exists("k")}, Then: []kv.Op{kv.Put("k", nil)}})
	if err != nil || result.Succeeded {
		t.Fatalf("got %+v, %v", result, err)
	}
	if got, want := s.fence(), keys.Claimed(a.token); got != want {
		t.Errorf("fence is %q, want %q", got, want)
	}
}

func TestTxnLimits(t *testing.T) {
	s := newStore(t, 1)
	handle := s.hold().live(s.etcd)
	var full, tooMany kv.Txn
	for i := range kv.MaxTxnOps {
		key := fmt.Sprint(i)
		full.If = append(full.If, kv.Missing(key))
		full.Then = append(full.Then, kv.Put(key, []byte(key)))
	}
	tooMany.Then = append(full.Then[:kv.MaxTxnOps:kv.MaxTxnOps], kv.Get("one more"))
	if result, err := handle.Txn(t.Context(), full); err != nil || !result.Succeeded {
		t.Errorf("%d compares and operations: %v, %v", kv.MaxTxnOps, result.Succeeded, err)
	}
	before := s.revision()
	for name, txn := range map[string]kv.Txn{
		"one operation more":  tooMany,
		"the same key twice":  {Then: []kv.Op{kv.Put("k", nil), kv.Delete("k")}},
		"an empty key":        {Then: []kv.Op{kv.Put("", nil)}},
		"a compare of no key": {If: []kv.Compare{kv.Exists("")}},
	} {
		if _, err := handle.Txn(t.Context(), txn); err == nil || errors.Is(err, fencing.ErrUncertain) {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
	if after := s.revision(); after != before {
		t.Errorf("refused transactions moved the revision from %d to %d", before, after)
	}
}

func TestListIsOrderedAndStaysInItsGuard(t *testing.T) {
	s := newStore(t, 1)
	handle := s.hold().live(s.etcd)
	for _, key := range []string{"b/2", "a", "b/1", "c/@/x"} {
		mustPut(t, handle, key, key)
	}
	if _, err := s.etcd.Put(t.Context(), s.space.Record(guard+"/deeper", "b/3"), "not ours"); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]string{"": "a b/1 b/2 c/@/x", "b/": "b/1 b/2", "none": ""} {
		records, err := handle.List(t.Context(), prefix)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range records {
			if r.Key != string(r.Value) {
				t.Errorf("%s has value %s", r.Key, r.Value)
			}
			got = append(got, r.Key)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("list %q: got %s, want %s", prefix, got, want)
		}
	}
}

func TestPeekMovesNoFence(t *testing.T) {
	s := newStore(t, 1)
	handle := s.hold().live(s.etcd)
	if record, err := kv.Peek(t.Context(), s.etcd, guard, "k", kv.Config{}); err != nil || record.Found {
		t.Fatalf("got %+v, %v", record, err)
	}
	if got := s.fence(); got != "" {
		t.Errorf("peeking moved the fence to %s", got)
	}
	mustPut(t, handle, "k", "1")
	records, err := kv.PeekList(t.Context(), s.etcd, guard, "", kv.Config{})
	if err != nil || len(records) != 1 || string(records[0].Value) != "1" {
		t.Errorf("got %+v, %v", records, err)
	}
}

// A value that no request can carry is refused for certain, with the reason.
func TestTooLargeAValue(t *testing.T) {
	s := newStore(t, 1)
	handle := s.hold().live(s.etcd)
	mustPut(t, handle, "k", "1")
	for _, size := range []int{1600 << 10, 3 << 20} { // over the member's limit, over gRPC's
		_, err := handle.Put(t.Context(), "k", make([]byte, size))
		if err == nil || errors.Is(err, fencing.ErrUncertain) || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%d bytes: got %v, want it too large", size, err)
		}
	}
	mustPut(t, handle, "k", "2")
}

// A full store refuses writes, though not for certain: etcd applies the one that
// takes it over its quota, and answers the same. Reads and deletes go on.
func TestFullStore(t *testing.T) {
	c := clustertest.StartConfig(t, clustertest.Config{Members: 1, Edit: func(_ int, cfg *cluster.Config) { cfg.Quota = 4 << 20 }})
	space, err := keys.NewSpace("")
	if err != nil {
		t.Fatal(err)
	}
	s := &store{t: t, cluster: c, etcd: c.Client(t), space: space}
	handle := s.hold().live(s.etcd)
	big := make([]byte, 512<<10)
	for i := range 100 {
		if _, err = handle.Put(t.Context(), fmt.Sprint(i), big); err != nil {
			break
		}
	}
	if !errors.Is(err, rpctypes.ErrNoSpace) || !errors.Is(err, fencing.ErrUncertain) {
		t.Fatalf("got %v, want ErrNoSpace, and that its outcome is unknown", err)
	}
	if deleted, err := handle.Delete(t.Context(), "0"); err != nil || !deleted {
		t.Errorf("delete: %v, %v", deleted, err)
	}
	if _, err := handle.List(t.Context(), ""); err != nil {
		t.Errorf("list: %v", err)
	}
}
