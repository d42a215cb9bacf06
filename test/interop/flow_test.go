package interop

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/kv"
)

// flows are what a lock client does, each below a prefix of names. They need the
// rights on that prefix's locks, fences and records, and no more.
var flows = []struct {
	name string
	run  func(t *testing.T, etcd *clientv3.Client, a, b *client.Client, prefix string)
}{
	{"lock, try, wait", flowLock},
	{"shared", flowShared},
	{"several locks", flowLocks},
	{"records", flowRecords},
	{"sequencer", flowSequencer},
	{"refusal", flowRefusal},
	{"loss", flowLoss},
	{"break", flowBreak},
	{"election", flowElection},
	{"look", flowLook},
	{"watch", flowWatch},
}

// Given endpoints and no more, the client does everything on an etcd 3.5.
func TestEtcd35ByEndpointsAlone(t *testing.T) {
	s := startEtcd(t, etcd35)
	etcd, a, b := s.etcd(t), s.client(t), s.client(t)
	for _, f := range flows {
		t.Run(f.name, func(t *testing.T) { f.run(t, etcd, a, b, "orders/") })
	}
	t.Run("semaphore", func(t *testing.T) { flowSemaphore(t, etcd, a, b) })
	t.Run("hand-over", func(t *testing.T) { handOver(t, s, etcd, a, b) })
}

func flowLock(t *testing.T, etcd *clientv3.Client, a, b *client.Client, prefix string) {
	name := prefix + "lock"
	held := hold(t, a, name)
	_, err := b.TryLock(soon(t), name)
	locked := (*client.LockedError)(nil)
	if !errors.As(err, &locked) || locked.Holder.Token != held.Token() {
		t.Errorf("TryLock of a lock that is held: got %v, want the holder with token %v", err, held.Token())
	}
	short, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err = b.Lock(short, name)
	mustBe(t, "Lock that runs out of time", err, client.ErrLocked)
	mustBe(t, "Lock that runs out of time", err, context.DeadlineExceeded)
	awaitQueue(t, etcd, name, 1)

	waiting := goLock(b, name)
	awaitQueue(t, etcd, name, 2)
	unlock(t, held)
	mustBe(t, "unlock twice", held.Unlock(soon(t)), client.ErrNotHeld)
	next := receive(t, waiting)
	if next.Token() <= held.Token() {
		t.Errorf("the next holder's token is %v, want more than %v", next.Token(), held.Token())
	}
	unlock(t, next)
	must(t, "do", a.Do(soon(t), name, func(ctx context.Context, l *client.Lock) error {
		mustBe(t, "lock again", second(a.Lock(ctx, name)), client.ErrReentrant)
		return l.Err()
	}))
	awaitQueue(t, etcd, name, 0)
}

// goLock waits for a lock in a goroutine. Nothing comes if there is an error.
func goLock(c *client.Client, name string) <-chan *client.Lock {
	got := make(chan *client.Lock, 1)
	go func() {
		defer close(got)
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if l, err := c.Lock(ctx, name); err == nil {
			got <- l
		}
	}()
	return got
}

// receive waits for something that is on its way.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v, ok := <-from:
		if !ok {
			t.Fatal("nothing came")
		}
		return v
	case <-soon(t).Done():
		t.Fatalf("nothing came within %v", limit)
		panic("unreachable")
	}
}

func flowShared(t *testing.T, etcd *clientv3.Client, a, b *client.Client, prefix string) {
	name := prefix + "shared"
	writer := hold(t, a, name)
	must(t, "put", second(writer.KV().Put(soon(t), "k", []byte("v"))))
	unlock(t, writer)
	first, err := a.LockShared(soon(t), name)
	must(t, "lock shared", err)
	also, err := b.TryLockShared(soon(t), name)
	must(t, "lock shared, together with another", err)
	for _, l := range []*client.SharedLock{first, also} {
		if got, err := l.KV().Get(soon(t), "k"); err != nil || string(got.Value) != "v" {
			t.Errorf("a shared holder reads %q, %v, want v", got.Value, err)
		}
	}
	waiting := goLock(b, name)
	awaitQueue(t, etcd, name, 3)
	mustBe(t, "TryLockShared behind an exclusive waiter", second(a.TryLockShared(soon(t), name)), client.ErrLocked)
	unlock(t, first)
	unlock(t, also)
	unlock(t, receive(t, waiting))
}

func flowLocks(t *testing.T, etcd *clientv3.Client, a, b *client.Client, prefix string) {
	names := []string{prefix + "a", prefix + "b", prefix + "c"}
	all, err := a.LockAll(soon(t), names...)
	must(t, "lock all", err)
	must(t, "put", second(all.KV(names[1]).Put(soon(t), "k", []byte("v"))))
	mustBe(t, "TryLockAll", second(b.TryLockAll(soon(t), names[2], prefix+"d")), client.ErrLocked)
	waiting := goLock(b, names[2])
	awaitQueue(t, etcd, names[2], 2)
	unlock(t, all)
	unlock(t, receive(t, waiting))
	for _, name := range append(names, prefix+"d") {
		awaitQueue(t, etcd, name, 0)
	}
}

func flowRecords(t *testing.T, _ *clientv3.Client, a, _ *client.Client, prefix string) {
	held := hold(t, a, prefix+"records")
	store := held.KV()
	must(t, "advance", store.Advance(soon(t)))
	revision, err := store.Put(soon(t), "a", []byte("1"))
	must(t, "put", err)
	must(t, "put", second(store.Put(soon(t), "b", []byte("2"))))
	if got, err := store.Get(soon(t), "a"); err != nil || string(got.Value) != "1" || got.Revision != revision {
		t.Errorf("get: got %+v, %v, want 1 at revision %d", got, err, revision)
	}
	if got, err := store.List(soon(t), ""); err != nil || len(got) != 2 {
		t.Errorf("list: got %+v, %v, want two records", got, err)
	}
	for _, want := range []bool{true, false} { // a has the revision compared the first time only
		got, err := store.Txn(soon(t), kv.Txn{If: []kv.Compare{kv.RevisionIs("a", revision)}, Then: []kv.Op{kv.Put("a", []byte("3"))}})
		if err != nil || got.Succeeded != want {
			t.Errorf("txn: got %+v, %v, want succeeded: %v", got, err, want)
		}
	}
	if deleted, err := store.Delete(soon(t), "b"); err != nil || !deleted {
		t.Errorf("delete: got %v, %v, want that there was a record", deleted, err)
	}
	unlock(t, held)
	mustBe(t, "put after the unlock", second(store.Put(soon(t), "a", nil)), client.ErrNotHeld)
}

// A sequencer that was handed over does what the holder may do, while it holds.
func flowSequencer(t *testing.T, _ *clientv3.Client, a, b *client.Client, prefix string) {
	held := hold(t, a, prefix+"sequencer")
	seq := held.Sequencer()
	must(t, "check", b.Check(soon(t), seq))
	bare, err := b.KV(seq)
	must(t, "handle of a sequencer", err)
	must(t, "put", second(bare.Put(soon(t), "k", []byte("v"))))
	never := fencing.Sequencer{Lock: seq.Lock, Token: seq.Token + 1_000_000}
	mustBe(t, "check of a token that never was", b.Check(soon(t), never), client.ErrNotIssued)
	unlock(t, held)
	mustBe(t, "check after the unlock", b.Check(soon(t), seq), client.ErrNotHeld)
	mustBe(t, "put after the unlock", second(bare.Put(soon(t), "k", nil)), client.ErrNotHeld)
}

// The store refuses an overtaken holder, whatever its client believes; reads count.
func flowRefusal(t *testing.T, etcd *clientv3.Client, a, b *client.Client, prefix string) {
	session, err := a.NewSession(soon(t), time.Minute)
	must(t, "new session", err)
	old, err := session.Lock(soon(t), prefix+"refusal")
	must(t, "lock", err)
	believes, err := b.KV(old.Sequencer())
	must(t, "handle of a sequencer", err)
	must(t, "put", second(believes.Put(soon(t), "k", []byte("old"))))
	must(t, "revoke", second(etcd.Revoke(soon(t), clientv3.LeaseID(session.Lease()))))
	held := hold(t, b, prefix+"refusal")
	must(t, "get", second(held.KV().Get(soon(t), "k")))
	stale := (*fencing.StaleError)(nil)
	_, err = believes.Put(soon(t), "k", []byte("late"))
	if !errors.As(err, &stale) || stale.Token != old.Token() || stale.Highest != held.Token() {
		t.Errorf("put of an overtaken holder: got %v, want that token %v is below %v", err, old.Token(), held.Token())
	}
	mustBe(t, "get of an overtaken holder", second(believes.Get(soon(t), "k")), client.ErrStale)
	mustBe(t, "check of an overtaken holder", b.Check(soon(t), old.Sequencer()), client.ErrStale)
	if got, err := held.KV().Get(soon(t), "k"); err != nil || string(got.Value) != "old" {
		t.Errorf("the record: got %q, %v, want what was put in time", got.Value, err)
	}
	unlock(t, held)
}

// noticed is how soon a loss by somebody else's hand is noticed: "within about a
// second", on a busy machine.
const noticed = 3 * time.Second

func flowLoss(t *testing.T, etcd *clientv3.Client, a, _ *client.Client, prefix string) {
	session, err := a.NewSession(soon(t), time.Minute)
	must(t, "new session", err)
	held, err := session.Lock(soon(t), prefix+"loss")
	must(t, "lock", err)
	bound, cancel := held.Bind(context.Background())
	defer cancel()
	must(t, "revoke", second(etcd.Revoke(soon(t), clientv3.LeaseID(session.Lease()))))
	mustEndSoon(t, held, bound)
	mustBe(t, "put after the loss", second(held.KV().Put(soon(t), "k", nil)), client.ErrLost)
	mustBe(t, "unlock after the loss", held.Unlock(soon(t)), client.ErrLost)
	<-session.Done()
	mustBe(t, "lock after the session's loss", second(session.Lock(soon(t), prefix+"loss")), client.ErrLost)
	unlock(t, hold(t, a, prefix+"loss"))
}

// mustEndSoon checks that the holder learns that it has lost its lock.
func mustEndSoon(t *testing.T, held *client.Lock, bound context.Context) {
	t.Helper()
	since := time.Now()
	select {
	case <-held.Done():
	case <-soon(t).Done():
		t.Fatalf("the loss was not noticed within %v", limit)
	}
	if after := time.Since(since); after > noticed {
		t.Errorf("the loss was noticed after %v, want at most %v", after, noticed)
	}
	mustBe(t, "the lost lock", held.Err(), client.ErrLost)
	if bound != nil {
		<-bound.Done()
		mustBe(t, "the context bound to it", context.Cause(bound), client.ErrLost)
	}
}

func flowBreak(t *testing.T, etcd *clientv3.Client, a, b *client.Client, prefix string) {
	name := prefix + "break"
	victim := hold(t, a, name)
	store, err := b.KV(victim.Sequencer())
	must(t, "handle of a sequencer", err)
	waiting := goLock(b, name)
	awaitQueue(t, etcd, name, 2)
	must(t, "break", b.Break(soon(t), name, victim.Token()))
	mustBe(t, "put of the victim", second(store.Put(soon(t), "k", nil)), client.ErrStale)
	mustEndSoon(t, victim, nil)
	next := receive(t, waiting)
	must(t, "put of the next holder", second(next.KV().Put(soon(t), "k", nil)))
	unlock(t, next)
	mustBe(t, "break again", b.Break(soon(t), name, victim.Token()), client.ErrNotHeld)
}

func flowElection(t *testing.T, _ *clientv3.Client, a, b *client.Client, prefix string) {
	name := prefix + "election"
	mustBe(t, "leader before the election", second(b.Leader(soon(t), name)), client.ErrNoLeader)
	led, err := a.Campaign(soon(t), name, []byte("a"))
	must(t, "campaign", err)
	if leader, err := b.Leader(soon(t), name); err != nil || string(leader.Value) != "a" {
		t.Errorf("leader: got %q, %v, want a", leader.Value, err)
	}
	var seen []string
	for leader, err := range b.Observe(soon(t), name) {
		must(t, "observe", err)
		seen = append(seen, string(leader.Value))
		if len(seen) == 2 {
			must(t, "end the election", b.Break(soon(t), name, leader.Token))
			break
		}
		unlock(t, led)
		must(t, "campaign", second(b.Campaign(soon(t), name, []byte("b"))))
	}
	if want := []string{"a", "b"}; !slices.Equal(seen, want) {
		t.Errorf("leaders seen: %q, want %q", seen, want)
	}
}

func flowLook(t *testing.T, etcd *clientv3.Client, a, b *client.Client, prefix string) {
	name := prefix + "look"
	held := hold(t, a, name)
	waiting := goLock(b, name)
	awaitQueue(t, etcd, name, 2)
	info, err := b.Inspect(soon(t), name)
	must(t, "inspect", err)
	if len(info.Holders) != 1 || info.Holders[0].Token != held.Token() || len(info.Waiters) != 1 {
		t.Errorf("inspect: got %+v, want token %v to hold and one to wait", info, held.Token())
	}
	var names []string
	for info, err := range b.Locks(soon(t), prefix) {
		must(t, "list locks", err)
		names = append(names, info.Name)
	}
	if !slices.Contains(names, name) {
		t.Errorf("locks below %q: got %q, want %q among them", prefix, names, name)
	}
	unlock(t, held)
	unlock(t, receive(t, waiting))
}

func flowWatch(t *testing.T, etcd *clientv3.Client, a, b *client.Client, prefix string) {
	name := prefix + "watch"
	ctx := soon(t)
	events := make(chan client.EventKind, 100)
	begun := hold(t, a, name) // the watch tells of it only once it has ended
	go func() {
		defer close(events)
		for e, err := range b.Watch(ctx, name) {
			if err != nil {
				return
			}
			events <- e.Kind
		}
	}()
	// Whether the watch has begun shows by its first event only.
	for seen := false; !seen; {
		unlock(t, begun)
		select {
		case <-events:
			seen = true
		case <-time.After(patience / 10):
		}
		begun = hold(t, a, name)
	}
	session, err := a.NewSession(soon(t), time.Minute)
	must(t, "new session", err)
	goSession := make(chan error, 1)
	go func() { goSession <- second(session.Lock(ctx, name)) }()
	awaitQueue(t, etcd, name, 2)
	unlock(t, begun)
	must(t, "lock", receive(t, goSession))
	must(t, "revoke", second(etcd.Revoke(soon(t), clientv3.LeaseID(session.Lease()))))
	want := []client.EventKind{client.Waiting, client.Released, client.Acquired, client.Lost}
	var got []client.EventKind
	for len(want) > 0 {
		got = append(got, receive(t, events))
		if got[len(got)-1] == want[0] {
			want = want[1:]
		}
	}
	t.Logf("events: %v", got)
}

func flowSemaphore(t *testing.T, etcd *clientv3.Client, a, b *client.Client) {
	sem := func(c *client.Client) *client.Semaphore { return c.Semaphore("orders/semaphore", 2) }
	var permits []*client.Permit
	for _, c := range []*client.Client{a, b} {
		p, err := sem(c).Acquire(soon(t))
		must(t, "acquire", err)
		permits = append(permits, p)
	}
	mustBe(t, "TryAcquire of a third permit", second(sem(a).TryAcquire(soon(t))), client.ErrLocked)
	third := make(chan *client.Permit, 1)
	go func() {
		p, err := sem(b).Acquire(context.Background())
		if err != nil {
			t.Errorf("acquire: %v", err)
		}
		third <- p
	}()
	eventually(t, "the third claim stands in the queue", func() bool {
		resp, err := etcd.Get(soon(t), "fencelock/semaphore/orders/semaphore/@/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		return err == nil && resp.Count == 3
	})
	must(t, "release", permits[0].Release(soon(t)))
	permits[0] = receive(t, third)
	for _, p := range permits {
		must(t, "release", p.Release(soon(t)))
	}
}
