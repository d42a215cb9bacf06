package client_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/test/netfault"
)

// occupants counts who is inside, of one name.
type occupants struct{ writers, readers, permits atomic.Int64 }

// write, read and use check, while the caller holds, that nobody is inside who must
// not be.
func (o *occupants) write(t *testing.T) {
	if w, r := o.writers.Add(1), o.readers.Load(); w != 1 || r != 0 {
		t.Errorf("%d writers beside %d readers", w, r)
	}
	o.writers.Add(-1)
}

func (o *occupants) read(t *testing.T) {
	o.readers.Add(1)
	if w := o.writers.Load(); w != 0 {
		t.Errorf("a reader beside %d writers", w)
	}
	o.readers.Add(-1)
}

func (o *occupants) use(t *testing.T, limit int64) {
	if n := o.permits.Add(1); n > limit {
		t.Errorf("%d permits, want at most %d", n, limit)
	}
	o.permits.Add(-1)
}

// chaos is a crowd that acquires everything there is, over links that break.
type chaos struct {
	inside map[string]*occupants
	got    atomic.Int64
	left   atomic.Int64
}

// once makes one attempt of a random kind.
func (c *chaos) once(t *testing.T, rng *rand.Rand, by *client.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+rng.IntN(400))*time.Millisecond)
	defer cancel()
	name := []string{"x", "y"}[rng.IntN(2)]
	var release func(context.Context) error
	var err error
	switch rng.IntN(7) {
	case 0, 1, 2:
		var l *client.Lock
		if l, err = by.Acquire(ctx, client.Request{Name: name, Try: rng.IntN(4) == 0}); err == nil {
			c.inside[name].write(t)
			release = l.Unlock
		}
	case 3, 4:
		var l *client.SharedLock
		if l, err = by.LockShared(ctx, name); err == nil {
			c.inside[name].read(t)
			release = l.Unlock
		}
	case 5:
		var l *client.Locks
		if l, err = by.LockAll(ctx, "y", "x"); err == nil {
			c.inside["x"].write(t)
			c.inside["y"].write(t)
			release = l.Unlock
		}
	case 6:
		var p *client.Permit
		if p, err = by.Semaphore("jobs", 2).Acquire(ctx); err == nil {
			c.inside["jobs"].use(t, 2)
			release = p.Release
		}
	}
	if err != nil {
		c.left.Add(1)
		if ctx.Err() == nil && !errors.Is(err, client.ErrLocked) && !errors.Is(err, client.ErrUnavailable) {
			t.Errorf("acquire: %v", err)
		}
		return
	}
	c.got.Add(1)
	if err := release(context.Background()); err != nil && !errors.Is(err, client.ErrUncertain) {
		t.Errorf("release: %v", err)
	}
}

// Links break, and requests and replies hang, while everything is acquired and left
// at random: nobody holds beside whom he must not, nobody hangs, nothing stays.
func TestEveryKindOverBadLinks(t *testing.T) {
	t.Parallel()
	cluster := oneMember(t)
	etcd := cluster.Client(t)
	rng := random(t)
	var proxies []*netfault.Proxy
	var clients []*client.Client
	for range 3 {
		proxy := netfault.New(t, cluster.Endpoint(0))
		proxies = append(proxies, proxy)
		clients = append(clients, connect(t, client.Config{Endpoints: []string{proxy.Addr()}, TTL: time.Minute, DialTimeout: 900 * time.Millisecond}))
	}
	all := chaos{inside: map[string]*occupants{"x": {}, "y": {}, "jobs": {}}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var working sync.WaitGroup
	for i := range 12 {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
		working.Go(func() {
			for ctx.Err() == nil {
				all.once(t, rng, clients[i%3])
			}
		})
	}
	ticker := time.NewTicker(60 * time.Millisecond)
	defer ticker.Stop()
	for range 120 {
		proxy := proxies[rng.IntN(3)]
		[]func(){proxy.Reset, proxy.StallReplies, proxy.StallRequests, proxy.Stall, proxy.Pass, proxy.Pass, proxy.Pass}[rng.IntN(7)]()
		<-ticker.C
	}
	for _, proxy := range proxies {
		proxy.Pass()
	}
	stop()
	working.Wait()
	t.Logf("%d acquired, %d left", all.got.Load(), all.left.Load())
	if all.got.Load() < 20 {
		t.Errorf("%d acquired, want more", all.got.Load())
	}
	awaitClaims(t, etcd, "fencelock/lock/", 0)
	awaitClaims(t, etcd, permitPrefix("jobs"), 0)
	for _, c := range clients {
		unlockAll(t, holdAll(t, c, "x", "y"))
	}
}
