package client_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/fencelock/fencelock/client"
)

func goPermit(ctx context.Context, s *client.Semaphore) <-chan got[*client.Permit] {
	return start(func() (*client.Permit, error) { return s.Acquire(ctx) })
}

func permit(t testing.TB, s *client.Semaphore) *client.Permit {
	t.Helper()
	return obtain(t, goPermit(context.Background(), s), "Acquire")
}

func releasePermit(t testing.TB, p *client.Permit) {
	t.Helper()
	if err := p.Release(context.Background()); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// Never more than the limit hold, and everybody gets a permit.
func TestSemaphoreNeverExceedsItsLimit(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	rng := random(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b"), member(t, cluster, "c")}
	const limit = 3
	var inside, most atomic.Int64
	var working sync.WaitGroup
	for i := range 15 {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
		working.Go(func() {
			jobs := clients[i%3].Semaphore("jobs", limit)
			for range 12 {
				ctx, cancel := context.WithCancel(context.Background())
				if rng.IntN(3) == 0 { // some leave
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(20000))*time.Microsecond)
				}
				p, err := jobs.Acquire(ctx)
				if err == nil {
					n := inside.Add(1)
					for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
					}
					revision(t, etcd) // takes a moment, so that one too many is seen
					inside.Add(-1)
					releasePermit(t, p)
				} else if ctx.Err() == nil {
					t.Errorf("acquire: %v", err)
				}
				cancel()
			}
		})
	}
	working.Wait()
	t.Logf("at most %d held at once", most.Load())
	if got := most.Load(); got > limit {
		t.Errorf("%d held at once, want at most %d", got, limit)
	}
	awaitClaims(t, etcd, permitPrefix("jobs"), 0)
}

func TestSemaphoreServesFirstComeFirst(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a := member(t, cluster, "a").Semaphore("jobs", 2)
	first, second := permit(t, a), permit(t, a)
	var waiting []<-chan got[*client.Permit]
	for i := range 4 {
		waiting = append(waiting, goPermit(t.Context(), member(t, cluster, "waiter").Semaphore("jobs", 2)))
		awaitClaims(t, etcd, permitPrefix("jobs"), 3+i)
	}
	free := []*client.Permit{second, first} // the order in which permits come back does not matter
	for i, w := range waiting {
		releasePermit(t, free[0])
		p := obtain(t, w, "the next in line")
		for _, later := range waiting[i+1:] {
			notYet(t, later, "one that came later")
		}
		free = append(free[1:], p)
	}
	for _, p := range free {
		releasePermit(t, p)
	}
	awaitClaims(t, etcd, permitPrefix("jobs"), 0)
}

// The permit that becomes free need not be that of the claim right before: a waiter
// that watched that one alone would look again only after seconds.
func TestAnyFreePermitWakesTheNext(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	holder, waiter := member(t, cluster, "holder").Semaphore("jobs", 2), member(t, cluster, "waiter").Semaphore("jobs", 2)
	var took []time.Duration
	for range 3 {
		first, second := permit(t, holder), permit(t, holder)
		waiting := goPermit(t.Context(), waiter)
		awaitClaims(t, etcd, permitPrefix("jobs"), 3)
		<-time.After(400 * time.Millisecond) // its watch is there, and the look that comes 250 ms later is over
		notYet(t, waiting, "a waiter behind two permits")
		began := time.Now()
		releasePermit(t, first)
		third := obtain(t, waiting, "the waiter")
		took = append(took, time.Since(began))
		releasePermit(t, second)
		releasePermit(t, third)
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > 100*time.Millisecond {
		t.Errorf("it took %v in the median until the waiter had the permit, want milliseconds; all: %v", median, took)
	}
}

// The first users set the limit, and it stays.
func TestSemaphoreLimitIsSetOnce(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b")}
	var mu sync.Mutex
	won := map[int]int{}
	var racing sync.WaitGroup
	for i := range 16 {
		racing.Go(func() {
			limit := 2 + i%2
			p, err := clients[i/2%2].Semaphore("jobs", limit).Acquire(context.Background())
			if err != nil {
				if text := err.Error(); !strings.Contains(text, "2") || !strings.Contains(text, "3") || !strings.Contains(text, `"jobs"`) {
					t.Errorf("got %v, want an error that names the semaphore and both limits", err)
				}
				return
			}
			releasePermit(t, p)
			mu.Lock()
			defer mu.Unlock()
			won[limit]++
		})
	}
	racing.Wait()
	if len(won) != 1 {
		t.Errorf("acquired with limits %v, want one limit", won)
	}
	resp, err := etcd.Get(t.Context(), "fencelock/semaphore/jobs/limit")
	if err != nil || len(resp.Kvs) != 1 || resp.Kvs[0].Version != 1 || resp.Kvs[0].Lease != 0 {
		t.Errorf("the limit's key: %v, %v, want it written once, without a lease", resp.Kvs, err)
	}
	awaitClaims(t, etcd, permitPrefix("jobs"), 0)
}

// Another limit is an error, whether or not permits are free.
func TestSemaphoreWithAnotherLimit(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "a")
	held := permit(t, c.Semaphore("jobs", 2))
	for _, limit := range []int{1, 3, 20} {
		for how, call := range map[string]func(context.Context) (*client.Permit, error){
			"Acquire": c.Semaphore("jobs", limit).Acquire, "TryAcquire": c.Semaphore("jobs", limit).TryAcquire,
		} {
			_, err := call(t.Context())
			if err == nil || !strings.Contains(err.Error(), "2") {
				t.Errorf("%s with limit %d: got %v, want an error that names the limit of 2", how, limit, err)
			}
			mustNotBe(t, how, err, client.ErrLocked, client.ErrUnavailable)
		}
	}
	if got := claimsUnder(t, etcd, permitPrefix("jobs")); got != 1 {
		t.Errorf("%d claims, want the holder's", got)
	}
	releasePermit(t, held)
}

func TestSemaphoreRefusesBadLimits(t *testing.T) {
	c := connect(t, client.Config{Endpoints: []string{"127.0.0.1:1"}})
	for _, limit := range []int{0, -1, client.MaxLimit + 1} {
		if _, err := c.Semaphore("jobs", limit).Acquire(t.Context()); err == nil || !strings.Contains(err.Error(), "limit") {
			t.Errorf("limit %d: got %v, want an error", limit, err)
		}
		if _, err := c.Semaphore("jobs", limit).TryAcquire(t.Context()); err == nil || !strings.Contains(err.Error(), "limit") {
			t.Errorf("limit %d, try: got %v, want an error", limit, err)
		}
	}
	_, err := c.Semaphore("a//b", 1).Acquire(t.Context())
	mustBe(t, "a bad name", err, client.ErrInvalidName)
}

func TestTryAcquire(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	a, b := member(t, cluster, "a").Semaphore("jobs", 2), member(t, cluster, "b").Semaphore("jobs", 2)
	first := must(a.TryAcquire(t.Context()))(t)
	second := must(b.TryAcquire(t.Context()))(t)
	before := revision(t, etcd)
	for range 5 {
		_, err := b.TryAcquire(t.Context())
		mustBe(t, "TryAcquire of a full semaphore", err, client.ErrLocked)
		if err != nil && !strings.Contains(err.Error(), "held by") {
			t.Errorf("got %q, want it to say who holds", err)
		}
	}
	if got := revision(t, etcd); got != before {
		t.Errorf("refused tries made %d commits, want none", got-before)
	}
	releasePermit(t, first)
	third := must(a.TryAcquire(t.Context()))(t)
	releasePermit(t, second)
	releasePermit(t, third)
	mustBe(t, "second Release", third.Release(t.Context()), client.ErrNotHeld)
	awaitClaims(t, etcd, permitPrefix("jobs"), 0)
}

// Tries that race never take more than there is.
func TestTryAcquireRaces(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	clients := []*client.Client{member(t, cluster, "a"), member(t, cluster, "b")}
	for range 5 {
		var mu sync.Mutex
		var won []*client.Permit
		var racing sync.WaitGroup
		for i := range 20 {
			racing.Go(func() {
				p, err := clients[i%2].Semaphore("jobs", 4).TryAcquire(context.Background())
				if err != nil {
					mustBe(t, "TryAcquire", err, client.ErrLocked)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				won = append(won, p)
			})
		}
		racing.Wait()
		if len(won) != 4 {
			t.Errorf("%d of 20 tries won, want 4", len(won))
		}
		for _, p := range won {
			releasePermit(t, p)
		}
	}
	awaitClaims(t, etcd, permitPrefix("jobs"), 0)
}

// A holder dies: its permit goes to whoever waits, and it learns of its loss.
func TestPermitOfADeadHolderIsFree(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	dying := session(t, member(t, cluster, "dying"), time.Minute)
	lost := permit(t, dying.Semaphore("jobs", 2))
	b := member(t, cluster, "b").Semaphore("jobs", 2)
	held := permit(t, b)
	next := goPermit(t.Context(), b)
	awaitClaims(t, etcd, permitPrefix("jobs"), 3)
	revoke(t, etcd, dying)
	releasePermit(t, obtain(t, next, "the waiter"))
	receiveWithin(t, 2*time.Second, lost.Done(), "Done of the lost permit")
	mustBe(t, "Err", lost.Err(), client.ErrLost)
	mustBe(t, "Release", lost.Release(t.Context()), client.ErrLost)
	if err := held.Err(); err != nil {
		t.Errorf("the other permit: %v", err)
	}
	releasePermit(t, held)
}

// A waiter's claim is gone: it must never hold.
func TestPermitWaiterWithoutAClaimIsLost(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := permit(t, member(t, cluster, "a").Semaphore("jobs", 1))
	s := session(t, member(t, cluster, "b"), time.Minute)
	waiting := goPermit(t.Context(), s.Semaphore("jobs", 1))
	awaitClaims(t, etcd, permitPrefix("jobs"), 2)
	revoke(t, etcd, s)
	mustBe(t, "Acquire", receiveWithin(t, 5*time.Second, waiting, "the waiter").err, client.ErrLost)
	releasePermit(t, held)
}

// At its deadline a waiter is told who holds; a cancelled one leaves nothing.
func TestPermitWaiterThatLeaves(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	held := permit(t, member(t, cluster, "holder").Semaphore("jobs", 1))
	waiter := member(t, cluster, "waiter").Semaphore("jobs", 1)
	between := goPermit(t.Context(), waiter)
	awaitClaims(t, etcd, permitPrefix("jobs"), 2)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := waiter.Acquire(ctx)
	mustBe(t, "Acquire", err, context.DeadlineExceeded, client.ErrLocked)
	if err != nil && !strings.Contains(err.Error(), `semaphore "jobs" is held by holder`) {
		t.Errorf("got %q, want it to name the holder", err)
	}
	if got := claimsUnder(t, etcd, permitPrefix("jobs")); got != 2 {
		t.Errorf("%d claims, want the holder's and the waiter's", got)
	}
	releasePermit(t, held)
	releasePermit(t, obtain(t, between, "the waiter"))
}

// A permit and a lock of one name have nothing to do with each other, nor has a
// context that is bound to the lock.
func TestSemaphoreAndLockOfOneName(t *testing.T) {
	cluster := oneMember(t)
	c := member(t, cluster, "a")
	l := hold(t, c, "jobs")
	bound, cancel := l.Bind(t.Context())
	defer cancel()
	p, err := c.Semaphore("jobs", 1).Acquire(bound)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Context().Err(); got != nil {
		t.Errorf("its context: %v", got)
	}
	releasePermit(t, p)
	unlock(t, l)
}

// The answer to the first user's limit is lost, or it lands late: it is set once.
func TestSemaphoreLimitWithoutAnAnswer(t *testing.T) {
	for how, treat := range map[string]func(func() error, context.Context) error{"its reply is lost": loseReply, "it comes late": swallow} {
		t.Run(how, func(t *testing.T) {
			f := newFaulty(t, time.Second)
			limit := "fencelock/semaphore/jobs/limit"
			lost := f.faults.set(1, func(txn *pb.TxnRequest) bool { return writes(txn.Success, limit, true) }, treat)
			held := permit(t, f.Semaphore("jobs", 2))
			if land(t, f.etcd, receive(t, lost.Taken, "the limit")) {
				t.Error("the late limit was put over the one that is there")
			}
			releasePermit(t, held)
		})
	}
}

func TestInspectSemaphore(t *testing.T) {
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	c := member(t, cluster, "watcher")
	info, err := c.InspectSemaphore(t.Context(), "jobs")
	if err != nil || info.Name != "jobs" || info.Limit != 0 || len(info.Holders)+len(info.Waiters) != 0 {
		t.Errorf("before anybody used it: %+v, %v; want a name and nothing else", info, err)
	}
	first, second := permit(t, member(t, cluster, "a").Semaphore("jobs", 2)), permit(t, member(t, cluster, "b").Semaphore("jobs", 2))
	waiting := goPermit(t.Context(), member(t, cluster, "c").Semaphore("jobs", 2))
	awaitClaims(t, etcd, permitPrefix("jobs"), 3)
	if info, err = c.InspectSemaphore(t.Context(), "jobs"); err != nil {
		t.Fatal(err)
	}
	var owners []string
	for _, claim := range append(info.Holders, info.Waiters...) {
		owners = append(owners, claim.Owner)
	}
	if got := strings.Join(owners, " "); got != "a b c" || info.Limit != 2 || len(info.Waiters) != 1 || info.Revision == 0 {
		t.Errorf("got %+v, want limit 2, the holders a and b, and c waiting", info)
	}
	releasePermit(t, first)
	releasePermit(t, obtain(t, waiting, "the waiter"))
	releasePermit(t, second)
	if _, err := c.InspectSemaphore(t.Context(), "a//b"); err == nil {
		t.Error("a name that cannot be: no error")
	}
}
