package client_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/client/queue"
	"github.com/fencelock/fencelock/fencing/keys"
)

func TestInspectShowsHolderAndWaitersInOrder(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a := connect(t, client.Config{Endpoints: cluster.Endpoints(), Owner: "a", Labels: map[string]string{"zone": "x"}})
	if free, err := a.Inspect(t.Context(), "orders"); err != nil || free.Name != "orders" || len(free.Holders)+len(free.Waiters) != 0 || free.Revision == 0 {
		t.Errorf("a free lock: %+v, %v, want neither holders nor waiters, at some revision", free, err)
	}
	held := hold(t, a, "orders")
	waitFor(t, etcd, member(t, cluster, "b"), "orders", 2)
	waitFor(t, etcd, member(t, cluster, "c"), "orders", 3)
	info, err := a.Inspect(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Holders) != 1 || info.Holders[0].Token != held.Token() || info.Holders[0].Owner != "a" || info.Holders[0].Labels["zone"] != "x" {
		t.Errorf("holders %+v, want A's claim, with its labels", info.Holders)
	}
	if got, want := ownersOf(info.Waiters), []string{"b", "c"}; !slices.Equal(got, want) {
		t.Errorf("waiters %v, want %v", got, want)
	}
	if want := revision(t, etcd); info.Revision != want {
		t.Errorf("at revision %d, want %d", info.Revision, want)
	}
	claims := queueOf(t, etcd, "orders")
	for i, c := range append(info.Holders, info.Waiters...) {
		if c.Lock != "orders" || c.Key != string(claims[i].Key) || c.Lease != claims[i].Lease || int64(c.Token) != claims[i].CreateRevision {
			t.Errorf("claim %d: %+v, want what lies in etcd: %v", i, c, claims[i])
		}
	}
}

func ownersOf(claims []client.Claim) []string {
	var owners []string
	for _, c := range claims {
		owners = append(owners, c.Owner)
	}
	return owners
}

// putClaim puts a claim on behalf of nobody.
func putClaim(t *testing.T, etcd *clientv3.Client, lease clientv3.LeaseID, lock string, n int, value keys.ClaimValue) {
	t.Helper()
	text, err := value.Encode()
	if err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("%s%x-%d", queuePrefix(lock), lease, n)
	if _, err := etcd.Put(t.Context(), key, text, clientv3.WithLease(lease)); err != nil {
		t.Fatal(err)
	}
}

func newLease(t *testing.T, etcd *clientv3.Client) clientv3.LeaseID {
	t.Helper()
	lease, err := etcd.Grant(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	return lease.ID
}

func TestInspectShowsSharedHoldersTogether(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	lease := newLease(t, etcd)
	for i, mode := range []string{keys.SharedMode, keys.SharedMode, keys.Exclusive, keys.SharedMode} {
		putClaim(t, etcd, lease, "orders", i, keys.ClaimValue{Owner: fmt.Sprint(i), Mode: mode})
	}
	info, err := member(t, cluster, "a").Inspect(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ownersOf(info.Holders), []string{"0", "1"}; !slices.Equal(got, want) {
		t.Errorf("holders %v, want %v", got, want)
	}
	if got, want := ownersOf(info.Waiters), []string{"2", "3"}; !slices.Equal(got, want) {
		t.Errorf("waiters %v, want %v", got, want)
	}
}

func TestInspectShowsForeignClaims(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	mutex := foreignMutex(t, etcd, "orders")
	if err := mutex.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, value := range []string{"", "not JSON", `{"mode":"other","owner":7}`, `[]`} {
		if _, err := etcd.Put(t.Context(), fmt.Sprintf("%sforeign-%d", queuePrefix("orders"), i), value); err != nil {
			t.Fatal(err)
		}
	}
	info, err := member(t, cluster, "a").Inspect(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Holders) != 1 || info.Holders[0].Key != mutex.Key() || !info.Holders[0].Exclusive() || info.Holders[0].Lease == 0 {
		t.Errorf("holders %+v, want the foreign mutex alone, exclusive, with its lease", info.Holders)
	}
	if len(info.Waiters) != 4 || slices.ContainsFunc(info.Waiters, func(c client.Claim) bool { return !c.Exclusive() || c.Lease != 0 || c.Owner != "" }) {
		t.Errorf("waiters %+v, want the four foreign keys, exclusive, without lease and owner", info.Waiters)
	}
}

// More claims than one request reads, in a few queues.
func TestLocksListsEveryClaim(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	lease := newLease(t, etcd)
	sizes := map[string]int{"a": 1, "big/one": 700, "big/two": 499, "big/two/three": 1, "end": 2, "many": 600}
	for lock, size := range sizes {
		for from := 0; from < size; from += 100 {
			var puts []clientv3.Op
			for i := from; i < min(from+100, size); i++ {
				puts = append(puts, clientv3.OpPut(fmt.Sprintf("%s%x-%d", queuePrefix(lock), lease, i), "", clientv3.WithLease(lease)))
			}
			if _, err := etcd.Txn(t.Context()).Then(puts...).Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := member(t, cluster, "a")
	checkSizes := func(prefix string, want map[string]int) {
		t.Helper()
		infos, err := all(c.Locks(t.Context(), prefix))
		if err != nil {
			t.Errorf("Locks(%q): %v", prefix, err)
		}
		got := map[string]int{}
		for _, info := range infos {
			if got[info.Name] != 0 {
				t.Errorf("Locks(%q): %s came twice", prefix, info.Name)
			}
			got[info.Name] = len(info.Holders) + len(info.Waiters)
			if len(info.Holders) != 1 || info.Revision != infos[0].Revision {
				t.Errorf("Locks(%q): %s with %d holders at revision %d, want one, at %d", prefix, info.Name, len(info.Holders), info.Revision, infos[0].Revision)
			}
			if claims := append(info.Holders, info.Waiters...); !slices.IsSortedFunc(claims, func(a, b queue.Claim) int { return int(a.Token - b.Token) }) {
				t.Errorf("Locks(%q): the claims of %s are not in the order of their tokens", prefix, info.Name)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("Locks(%q): %v, want %v", prefix, got, want)
		}
	}
	checkSizes("", sizes)
	checkSizes("big", map[string]int{"big/one": 700, "big/two": 499, "big/two/three": 1})
	checkSizes("big/", map[string]int{"big/one": 700, "big/two": 499, "big/two/three": 1})
	checkSizes("big/two", map[string]int{"big/two": 499, "big/two/three": 1})
	checkSizes("big/two/", map[string]int{"big/two/three": 1})
	checkSizes("m", map[string]int{"many": 600})
	checkSizes("none", map[string]int{})
	if info, err := c.Inspect(t.Context(), "big/one"); err != nil || len(info.Waiters) != 699 {
		t.Errorf("Inspect: %d waiters, %v, want 699", len(info.Waiters), err)
	}
}

func TestLocksStopsWhenTold(t *testing.T) {
	cluster := oneMember(t)
	c := member(t, cluster, "a")
	for _, name := range []string{"a", "b", "c"} {
		hold(t, c, name)
	}
	var seen []string
	for info, err := range c.Locks(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, info.Name)
		if len(seen) == 2 {
			break
		}
	}
	if want := []string{"a", "b"}; !slices.Equal(seen, want) {
		t.Errorf("saw %v, want %v", seen, want)
	}
	seen = nil
	for info := range c.Locks(t.Context(), "") { // Close in the middle must not wait for the loop
		seen = append(seen, info.Name)
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if len(seen) == 0 {
		t.Error("saw no lock")
	}
}

func TestLocksYieldsOneError(t *testing.T) {
	c := connect(t, client.Config{Endpoints: []string{"127.0.0.1:1"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for prefix, want := range map[string]error{"a//b": client.ErrInvalidName, "/": client.ErrInvalidName, "a": context.Canceled} {
		var errs []error
		for info, err := range c.Locks(ctx, prefix) {
			errs = append(errs, err)
			if info.Name != "" {
				t.Errorf("Locks(%q) yields %v beside an error", prefix, info)
			}
		}
		if len(errs) != 1 {
			t.Fatalf("Locks(%q) yields %v, want one error", prefix, errs)
		}
		mustBe(t, "Locks", errs[0], want)
	}
}
