package client_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/test/netfault"
)

// last is the name of a lock that comes last: also where the events of a gap are
// told in the order of the locks' names.
const last = "~"

// spectator watches locks in a goroutine.
type spectator struct {
	events chan client.Event
	ended  chan error // what Watch yielded last
	cancel context.CancelFunc
}

// watchLocks begins to watch, and returns when it has begun: it has told of a lock
// whose name is the prefix and last.
func watchLocks(t *testing.T, c, other *client.Client, prefix string) *spectator {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s := &spectator{events: make(chan client.Event, 10_000), ended: make(chan error, 1), cancel: cancel}
	go func() {
		var end error
		for e, err := range c.Watch(ctx, prefix) {
			if end = err; err == nil {
				s.events <- e
			}
		}
		s.ended <- end
	}()
	for begun := false; !begun; {
		unlock(t, hold(t, other, prefix+last))
		begun = len(s.events) > 0
	}
	s.until(t, other, prefix+last)
	return s
}

// until returns what was told up to now, in short: "kind lock owner". It makes a
// last event of its own, of the lock named, and leaves all events of that lock out.
func (s *spectator) until(t *testing.T, other *client.Client, lock string) []string {
	t.Helper()
	l := hold(t, other, lock)
	var told []string
	for {
		e := receive(t, s.events, "the event of the last lock")
		switch {
		case e.Claim.Lock != lock:
			told = append(told, fmt.Sprint(e.Kind, " ", e.Claim.Lock, " ", e.Claim.Owner))
		case e.Claim.Token == l.Token() && e.Kind == client.Acquired:
			unlock(t, l)
		case e.Claim.Token == l.Token():
			return told
		}
	}
}

func checkTold(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("told\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// What becomes of claims, one after the other.
func TestWatchTellsWhatHappens(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	dying := session(t, member(t, cluster, "dying"), time.Minute)
	w := watchLocks(t, member(t, cluster, "watcher"), b, "")
	for _, c := range []struct {
		name string
		do   func()
		want []string
	}{
		{"lock, wait, unlock", func() {
			held := hold(t, a, "x")
			next := waitFor(t, etcd, b, "x", 2)
			unlock(t, held)
			unlock(t, granted(t, next))
		}, []string{"acquired x a", "waiting x b", "released x a", "acquired x b", "released x b"}},
		{"cancel", func() {
			held := hold(t, a, "x")
			ctx, cancel := context.WithCancel(t.Context())
			waiting := goLock(ctx, b, "x")
			awaitQueue(t, etcd, "x", 2)
			cancel()
			receive(t, waiting, "the cancelled Lock")
			unlock(t, held)
		}, []string{"acquired x a", "waiting x b", "withdrawn x b", "released x a"}},
		{"break", func() {
			held := hold(t, a, "x")
			next := waitFor(t, etcd, b, "x", 2)
			breakLock(t, b, "x", held.Token())
			unlock(t, granted(t, next))
		}, []string{"acquired x a", "waiting x b", "broken x a", "acquired x b", "released x b"}},
		{"shared", func() {
			first, second := share(t, a, "x"), share(t, b, "x")
			writer := waitFor(t, etcd, a, "x", 3)
			late := share2On(t, etcd, b, "x", 4)
			unshare(t, first)
			unshare(t, second)
			unlock(t, granted(t, writer))
			unshare(t, obtain(t, late, "the late reader"))
		}, []string{"acquired x a", "acquired x b", "waiting x a", "waiting x b", "released x a", "released x b", "acquired x a", "released x a", "acquired x b", "released x b"}},
		{"several", func() { unlockAll(t, holdAll(t, a, "x", "y")) },
			[]string{"acquired x a", "acquired y a", "released x a", "released y a"}},
		{"within one process", func() {
			s := session(t, a, time.Minute)
			held := hold(t, s, "x")
			next := goLock(t.Context(), s, "x")
			eventually(t, limit, "the next goroutine stands in line", func() bool { return s.InLine("x") == 1 })
			unlock(t, held)
			unlock(t, granted(t, next))
		}, []string{"acquired x a", "released x a", "acquired x a", "released x a"}},
		{"revoked", func() {
			held := hold(t, dying, "x")
			next := waitFor(t, etcd, b, "x", 2)
			other := hold(t, a, "y")
			waiting := waitFor(t, etcd, dying, "y", 2)
			revoke(t, etcd, dying)
			receive(t, held.Done(), "Done")
			receive(t, waiting, "the dying waiter")
			unlock(t, granted(t, next))
			unlock(t, other)
		}, []string{"acquired x dying", "waiting x b", "acquired y a", "waiting y dying", "lost x dying", "acquired x b", "lost y dying", "released x b", "released y a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.do()
			checkTold(t, w.until(t, b, last), c.want...)
		})
	}
	w.cancel()
	mustBe(t, "the end of Watch", receive(t, w.ended, "the end of Watch"), context.Canceled)
}

func share2On(t testing.TB, etcd *clientv3.Client, c sharer, name string, n int) <-chan got[*client.SharedLock] {
	t.Helper()
	waiting := goShared(c, name)
	awaitQueue(t, etcd, name, n)
	return waiting
}

// A session that is closed gives back what it holds and waits for, and its lease at
// once after that: nobody who watches may take it for a loss, however fast.
func TestWatchTellsOfAClosedSession(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	w := watchLocks(t, member(t, cluster, "watcher"), b, "")
	closed := func(s *client.Session) {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		for _, c := range []struct {
			name string
			do   func(*client.Session)
			want []string
		}{
			{"held", func(s *client.Session) { hold(t, s, "x"); closed(s) }, []string{"acquired x a", "released x a"}},
			{"given back just now", func(s *client.Session) { unlock(t, hold(t, s, "x")); closed(s) }, []string{"acquired x a", "released x a"}},
			{"shared", func(s *client.Session) { share(t, s, "x"); closed(s) }, []string{"acquired x a", "released x a"}},
			{"several", func(s *client.Session) { holdAll(t, s, "x", "y"); closed(s) },
				[]string{"acquired x a", "acquired y a", "released x a", "released y a"}},
			{"waiting", func(s *client.Session) {
				held := hold(t, b, "x")
				waiting := waitFor(t, etcd, s, "x", 2)
				closed(s)
				receive(t, waiting, "the end of the wait")
				unlock(t, held)
			}, []string{"acquired x b", "waiting x a", "withdrawn x a", "released x b"}},
			{"lost", func(s *client.Session) {
				held := hold(t, s, "x")
				revoke(t, etcd, s)
				receive(t, held.Done(), "Done")
				closed(s)
			}, []string{"acquired x a", "lost x a"}},
		} {
			c.do(session(t, a, time.Minute))
			if got := w.until(t, b, last); !slices.Equal(got, c.want) {
				t.Errorf("%s: told %v, want %v", c.name, got, c.want)
			}
		}
	}
	left, err := etcd.Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil || len(left.Kvs) > 0 {
		t.Errorf("keys left: %v, %v, want none", left, err)
	}
}

// Only the locks that begin with the prefix, each with claim and revision.
func TestWatchOfAPrefix(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	held := hold(t, a, "jobs/old") // before it begins
	hold(t, a, "jobs")
	w := watchLocks(t, member(t, cluster, "watcher"), b, "jobs/")
	next := waitFor(t, etcd, b, "jobs", 2) // of lock "jobs", whose keys begin with "jobs/" too
	l := hold(t, a, "jobs/1")
	unlock(t, hold(t, a, "job"))
	unlock(t, hold(t, a, "jobs2"))
	unlock(t, held)
	if e := receive(t, w.events, "the first event"); e.Kind != client.Acquired || e.Claim.Token != l.Token() || e.Revision != int64(l.Token()) ||
		e.Claim.Lock != "jobs/1" || e.Claim.Owner != "a" || e.Claim.Lease == 0 || e.Claim.Key == "" {
		t.Errorf("told %+v, want that jobs/1 was acquired, with its claim", e)
	}
	if e := receive(t, w.events, "the second event"); e.Kind != client.Released || e.Claim.Token != held.Token() || e.Revision <= int64(l.Token()) {
		t.Errorf("told %+v, want that jobs/old was released: it was held when the watch began", e)
	}
	checkTold(t, w.until(t, b, "jobs/"+last))
	_ = next
}

// The first events after the watch has begun are not missed, whatever was there.
func TestWatchMissesNothingAtTheBeginning(t *testing.T) {
	cluster := oneMember(t)
	c, other := member(t, cluster, "watcher"), member(t, cluster, "a")
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		prefix := fmt.Sprint("round/", i, "/")
		stop, stopped := make(chan struct{}), make(chan map[fencing.Token]bool)
		go func() { // locks all the time, also while the watch begins
			all := map[fencing.Token]bool{}
			for n := 0; ; n++ {
				select {
				case <-stop:
					stopped <- all
					return
				default:
					l := hold(t, other, fmt.Sprint(prefix, n%3))
					all[l.Token()] = true
					unlock(t, l)
				}
			}
		}()
		var tokens []fencing.Token
		for e, err := range c.Watch(ctx, prefix) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == client.Acquired {
				tokens = append(tokens, e.Claim.Token)
			}
			if len(tokens) == 5 {
				break
			}
		}
		cancel()
		close(stop)
		all := receive(t, stopped, "the end of the locking")
		for token := range all {
			if token > tokens[0] && token < tokens[len(tokens)-1] && !slices.Contains(tokens, token) {
				t.Errorf("round %d: token %v was not told of, between %v", i, token, tokens)
			}
		}
	}
}

// Cut off during many changes and a compaction: it goes on with the differences.
func TestWatchResumesAfterACompaction(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	proxy := netfault.New(t, cluster.Endpoint(0))
	watcher := connect(t, client.Config{Endpoints: []string{proxy.Addr()}})
	gone, stays, passed := hold(t, a, "gone"), hold(t, a, "stays"), hold(t, a, "passed")
	next := waitFor(t, etcd, b, "passed", 2)
	w := watchLocks(t, watcher, b, "")
	for round := range 3 {
		proxy.Refuse()
		proxy.Reset()
		for i := range 300 {
			unlock(t, hold(t, a, fmt.Sprint("busy/", i%7)))
		}
		var want []string
		switch round {
		case 0:
			unlock(t, gone)
			unlock(t, passed)
			passed = granted(t, next)
			hold(t, a, "new")
			want = []string{"released gone a", "acquired new a", "released passed a", "acquired passed b"}
		case 1:
			next = waitFor(t, etcd, a, "stays/2", 1)
			granted(t, next)
			unlock(t, passed)
			want = []string{"released passed b", "acquired stays/2 a"}
		}
		if _, err := etcd.Compact(t.Context(), revision(t, etcd), clientv3.WithCompactPhysical()); err != nil {
			t.Fatal(err)
		}
		proxy.Pass()
		checkTold(t, w.until(t, b, last), want...)
	}
	if err := stays.Err(); err != nil {
		t.Error(err)
	}
}

// Many thousand changes while it is cut off, and no compaction: all of them are
// told, though the connection breaks again while it catches up.
func TestWatchCatchesUpAmidResets(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	b := member(t, cluster, "b")
	proxy := netfault.New(t, cluster.Endpoint(0))
	w := watchLocks(t, connect(t, client.Config{Endpoints: []string{proxy.Addr()}}), b, "")
	lease := newLease(t, etcd)
	proxy.Refuse()
	proxy.Reset()
	const changes = 6000 // etcd sends 1000 revisions at once
	for i := range changes / 2 {
		putClaim(t, etcd, lease, "busy", i, keys.ClaimValue{Owner: "x"})
		if _, err := etcd.Delete(t.Context(), fmt.Sprintf("%s%x-%d", queuePrefix("busy"), lease, i)); err != nil {
			t.Fatal(err)
		}
	}
	proxy.Pass()
	var told int
	var at int64
	for told < changes {
		e := receive(t, w.events, "the changes")
		if e.Claim.Lock != "busy" {
			continue
		}
		if e.Revision <= at {
			t.Fatalf("revision %d after %d, want it to rise", e.Revision, at)
		}
		at = e.Revision
		if told++; told%1500 == 700 {
			proxy.Reset()
		}
	}
	checkTold(t, w.until(t, b, last))
}

func TestWatchEnds(t *testing.T) {
	cluster := oneMember(t)
	b := member(t, cluster, "b")
	t.Run("when it is left", func(t *testing.T) {
		c := member(t, cluster, "watcher")
		done := make(chan client.Event, 1)
		l := hold(t, b, "held")
		go func() {
			for e, err := range c.Watch(context.Background(), "") {
				if err == nil {
					done <- e // of a change with two events
					break
				}
			}
		}()
		for len(done) == 0 {
			unlock(t, hold(t, b, "more"))
		}
		unlock(t, l)
		noWatchIsLeft(t)
	})
	t.Run("with its client", func(t *testing.T) {
		c := connect(t, client.Config{Endpoints: cluster.Endpoints()})
		w := watchLocks(t, c, b, "")
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		mustBe(t, "Watch", receiveWithin(t, 5*time.Second, w.ended, "the end of Watch"), client.ErrClosed)
		for _, err := range c.Watch(t.Context(), "") {
			mustBe(t, "Watch after Close", err, client.ErrClosed)
		}
	})
	t.Run("with a bad prefix", func(t *testing.T) {
		for _, err := range b.Watch(t.Context(), "a//") {
			mustBe(t, "Watch", err, client.ErrInvalidName)
		}
	})
}

// The loop is left at the first of two events that one change has made.
func TestWatchIsLeftAmidAChange(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := member(t, cluster, "a"), member(t, cluster, "b")
	held := hold(t, a, "orders")
	next := waitFor(t, etcd, b, "orders", 2)
	ready, left := make(chan struct{}, 1000), make(chan client.Event, 1)
	go func() {
		for e, err := range member(t, cluster, "watcher").Watch(context.Background(), "") {
			if err != nil {
				t.Error(err)
			}
			if e.Claim.Lock == "orders" {
				left <- e
				break
			}
			ready <- struct{}{}
		}
	}()
	for len(ready) == 0 {
		unlock(t, hold(t, a, "ready"))
	}
	unlock(t, held) // released, and acquired by the next
	if e := receive(t, left, "the release"); e.Kind != client.Released {
		t.Errorf("told %v, want that it was released", e.Kind)
	}
	unlock(t, granted(t, next))
	noWatchIsLeft(t)
}
