package client_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
)

func goCampaign(s *client.Session, value []byte) <-chan got[*client.Lock] {
	return start(func() (*client.Lock, error) { return s.Campaign(context.Background(), "leader", value) })
}

// observed follows an election until ctx ends: what it saw, and how it ended.
func observe(ctx context.Context, c *client.Client) (<-chan client.Claim, <-chan error) {
	seen, ended := make(chan client.Claim, 1000), make(chan error, 1)
	go func() {
		var last error
		for claim, err := range c.Observe(ctx, "leader") {
			if err != nil {
				last = err
				continue
			}
			seen <- claim
		}
		ended <- last
	}()
	return seen, ended
}

func TestCampaignLeadsOneAtATime(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	reader := member(t, cluster, "reader")
	_, err := reader.Leader(t.Context(), "leader")
	mustBe(t, "Leader of nobody", err, client.ErrNoLeader)
	a, b := session(t, member(t, cluster, "a"), time.Minute), session(t, member(t, cluster, "b"), time.Minute)
	first := obtain(t, goCampaign(a, []byte("at a")), "the first candidate")
	next := goCampaign(b, []byte("at b"))
	awaitQueue(t, etcd, "leader", 2)
	checkLeader(t, reader, first, "a", "at a")
	notYet(t, next, "the second candidate")
	unlock(t, first) // resigns
	second := obtain(t, next, "the second candidate")
	checkLeader(t, reader, second, "b", "at b")
	if second.Token() <= first.Token() {
		t.Errorf("token %v after %v, want it higher", second.Token(), first.Token())
	}
	if _, err := second.KV().Put(t.Context(), "k", nil); err != nil {
		t.Errorf("put as the leader: %v", err)
	}
	third := goCampaign(a, nil)
	awaitQueue(t, etcd, "leader", 2)
	revoke(t, etcd, b) // the leader dies
	last := obtain(t, third, "the third candidate")
	checkLeader(t, reader, last, "a", "")
	receive(t, second.Done(), "Done of the dead leader")
	mustBe(t, "the dead leader", second.Err(), client.ErrLost)
	unlock(t, last)
	_, err = reader.Leader(t.Context(), "leader")
	mustBe(t, "Leader at last", err, client.ErrNoLeader)
	_, err = reader.Leader(t.Context(), "a//b")
	mustBe(t, "Leader of a bad name", err, client.ErrInvalidName)
}

func checkLeader(t *testing.T, c *client.Client, l *client.Lock, owner, value string) {
	t.Helper()
	claim, err := c.Leader(t.Context(), "leader")
	if err != nil || claim.Token != l.Token() || claim.Owner != owner || string(claim.Value) != value {
		t.Errorf("leader %+v, %v, want %s with token %v and value %q", claim, err, owner, l.Token(), value)
	}
}

// Two candidates of one session do not stand in a local line: each has a claim that
// bears its own value, an empty one too.
func TestCandidatesOfOneSession(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	s := session(t, member(t, cluster, "a"), time.Minute)
	first := obtain(t, goCampaign(s, []byte("one")), "the first candidate")
	second, third := goCampaign(s, nil), goCampaign(s, []byte{})
	awaitQueue(t, etcd, "leader", 3)
	unlock(t, first)
	for range 2 {
		select {
		case g := <-second:
			unlock(t, g.handle)
		case g := <-third:
			unlock(t, g.handle)
		case <-time.After(limit):
			t.Fatal("no other candidate leads")
		}
	}
	awaitQueue(t, etcd, "leader", 0)
}

// The present leader first, then each change; the last one is not skipped.
func TestObserve(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := session(t, member(t, cluster, "a"), time.Minute), session(t, member(t, cluster, "b"), time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	leader := obtain(t, goCampaign(a, []byte("0")), "the first leader")
	seen, ended := observe(ctx, member(t, cluster, "observer"))
	expect := func(l *client.Lock, value string) {
		t.Helper()
		got := receive(t, seen, "the leader observed")
		if got.Token != l.Token() || string(got.Value) != value {
			t.Errorf("observed token %v with %q, want %v with %q", got.Token, got.Value, l.Token(), value)
		}
	}
	expect(leader, "0")
	for i := range 10 { // handed over to a waiting candidate
		next := goCampaign([]*client.Session{b, a}[i%2], []byte(fmt.Sprint(i+1)))
		awaitQueue(t, etcd, "leader", 2)
		unlock(t, leader)
		leader = obtain(t, next, "the next leader")
		expect(leader, fmt.Sprint(i+1))
	}
	for i := range 5 { // nobody leads for a while, and candidates that do not lead come and go
		unlock(t, leader)
		leader = obtain(t, goCampaign(a, []byte(fmt.Sprint("again ", i))), "the next leader")
		expect(leader, fmt.Sprint("again ", i))
		left, leave := context.WithCancel(t.Context())
		loser := start(func() (*client.Lock, error) { return b.Campaign(left, "leader", nil) })
		awaitQueue(t, etcd, "leader", 2)
		leave()
		mustBe(t, "Campaign", receive(t, loser, "a candidate that leaves").err, context.Canceled)
	}
	if len(seen) != 0 {
		t.Errorf("observed %v more, want nothing", <-seen)
	}
	cancel()
	mustBe(t, "the end of Observe", receive(t, ended, "the end of Observe"), context.Canceled)
	unlock(t, leader)
}

// Under a storm of changes some may be skipped, but not the last, and never an
// older one after a newer one.
func TestObserveSeesTheLastLeader(t *testing.T) {
	cluster := oneMember(t)
	a, b := session(t, member(t, cluster, "a"), time.Minute), session(t, member(t, cluster, "b"), time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen, ended := observe(ctx, member(t, cluster, "observer"))
	var campaigning sync.WaitGroup
	for i := range 4 {
		campaigning.Go(func() {
			for range 25 {
				unlock(t, obtain(t, goCampaign([]*client.Session{a, b}[i%2], nil), "a candidate"))
			}
		})
	}
	campaigning.Wait()
	last := obtain(t, goCampaign(a, []byte("last")), "the last leader")
	var tokens []int64
	for tokens == nil || tokens[len(tokens)-1] != int64(last.Token()) {
		tokens = append(tokens, int64(receive(t, seen, "the last leader").Token))
	}
	t.Logf("observed %d leaders of 101", len(tokens))
	if !slices.IsSorted(tokens) {
		t.Errorf("observed %v, want tokens that rise", tokens)
	}
	cancel()
	receive(t, ended, "the end of Observe")
}

// A compaction and a cut connection do not end it.
func TestObserveSurvivesCompactionAndLeavesNothing(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "observer")
	s := session(t, member(t, cluster, "a"), time.Minute)
	first := obtain(t, goCampaign(s, []byte("first")), "the first leader")
	for claim, err := range c.Observe(t.Context(), "leader") {
		if err != nil {
			t.Fatal(err)
		}
		if string(claim.Value) == "second" {
			break
		}
		if _, err := etcd.Compact(t.Context(), revision(t, etcd), clientv3.WithCompactPhysical()); err != nil {
			t.Fatal(err)
		}
		unlock(t, first)
		first = obtain(t, goCampaign(s, []byte("second")), "the second leader")
	}
	unlock(t, first) // it is watched too
	noWatchIsLeft(t)
}

// noWatchIsLeft waits until no watch of any etcd client in this process is open.
func noWatchIsLeft(t *testing.T) {
	t.Helper()
	eventually(t, limit, "no watch is left", func() bool {
		stacks := make([]byte, 1<<22)
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "serveSubstream")
	})
}

func TestElectionEndsWithItsClient(t *testing.T) {
	cluster := oneMember(t)
	c := connect(t, client.Config{Endpoints: cluster.Endpoints()})
	leader := obtain(t, goCampaign(session(t, member(t, cluster, "a"), time.Minute), nil), "the leader")
	seen, ended := observe(t.Context(), c)
	if got := receive(t, seen, "the leader"); got.Token != leader.Token() {
		t.Errorf("observed %v, want %v", got.Token, leader.Token())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	mustBe(t, "Observe", receiveWithin(t, 5*time.Second, ended, "the end of Observe"), client.ErrClosed)
	_, err := c.Leader(t.Context(), "leader")
	mustBe(t, "Leader", err, client.ErrClosed)
	_, ended = observe(t.Context(), c)
	mustBe(t, "Observe after Close", receiveWithin(t, 5*time.Second, ended, "the end of Observe"), client.ErrClosed)
}

func TestObserveOfABadName(t *testing.T) {
	c := connect(t, client.Config{Endpoints: []string{"127.0.0.1:1"}})
	n := 0
	for _, err := range c.Observe(t.Context(), "a//b") {
		n++
		if !errors.Is(err, client.ErrInvalidName) {
			t.Errorf("got %v, want ErrInvalidName", err)
		}
	}
	if n != 1 {
		t.Errorf("%d answers, want one error", n)
	}
}
