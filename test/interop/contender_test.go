package interop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
)

// way is one way to take a lock. begin prepares a contender of its own, with its own
// lease; the function that it returns waits for the lock, and returns another
// one, that gives it back.
type way struct {
	name  string
	begin func(*testing.T, server) acquire
}

type (
	acquire func(ctx context.Context, name string) (release, error)
	release func(context.Context) error
)

// ours is the way of package client, exclusively.
var ours = way{"ours", func(t *testing.T, s server) acquire {
	c := s.client(t)
	return func(ctx context.Context, name string) (release, error) {
		l, err := c.Lock(ctx, name)
		if err != nil {
			return nil, err
		}
		return l.Unlock, nil
	}
}}

// ourShared is that of package client together with other shared holders.
var ourShared = way{"ours, shared", func(t *testing.T, s server) acquire {
	c := s.client(t)
	return func(ctx context.Context, name string) (release, error) {
		l, err := c.LockShared(ctx, name)
		if err != nil {
			return nil, err
		}
		return l.Unlock, nil
	}
}}

// ourPair is that of package client with two locks together, a and b below the name.
var ourPair = way{"ours, two together", func(t *testing.T, s server) acquire {
	c := s.client(t)
	return func(ctx context.Context, name string) (release, error) {
		l, err := c.LockAll(ctx, name+"/a", name+"/b")
		if err != nil {
			return nil, err
		}
		return l.Unlock, nil
	}
}}

// foreign are the ways of etcd itself.
var foreign = []way{
	{"concurrency.Mutex", beginMutex},
	{"v3lock", beginV3Lock},
	{"etcdctl lock", beginEtcdctl},
}

// leaseTTL of foreign contenders, in seconds: longer than any test.
const leaseTTL = 600

func beginMutex(t *testing.T, s server) acquire {
	session, err := concurrency.NewSession(s.etcd(t), concurrency.WithTTL(leaseTTL))
	must(t, "etcd's session", err)
	t.Cleanup(func() { _ = session.Close() })
	return func(ctx context.Context, name string) (release, error) {
		m := concurrency.NewMutex(session, queueOf(name))
		return m.Unlock, m.Lock(ctx)
	}
}

func beginV3Lock(t *testing.T, s server) acquire {
	etcd := s.etcd(t)
	lease, err := etcd.Grant(soon(t), leaseTTL)
	must(t, "grant", err)
	service := v3lockpb.NewLockClient(etcd.ActiveConnection())
	return func(ctx context.Context, name string) (release, error) {
		held, err := service.Lock(ctx, &v3lockpb.LockRequest{Name: []byte(queueOf(name)), Lease: int64(lease.ID)})
		return func(ctx context.Context) error {
			_, err := service.Unlock(ctx, &v3lockpb.UnlockRequest{Key: held.GetKey()})
			return err
		}, err
	}
}

func beginEtcdctl(t *testing.T, s server) acquire {
	return func(ctx context.Context, name string) (release, error) {
		p, err := lockWithEtcdctl(ctx, s, name, leaseTTL*time.Second)
		if err != nil {
			return nil, err
		}
		return func(context.Context) error { return p.signal(syscall.SIGTERM) }, nil
	}
}

// lockWithEtcdctl returns the process when it holds the lock. If it does not come
// to that, the process is dead.
func lockWithEtcdctl(ctx context.Context, s server, name string, ttl time.Duration) (*process, error) {
	p, err := startEtcdctl(s, "lock", fmt.Sprintf("--ttl=%.0f", ttl.Seconds()), queueOf(name))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, p.kill)
	err = p.await(ctx, func(text string) bool { return strings.HasPrefix(text, queueOf(name)+"/") })
	if err != nil {
		p.kill()
	}
	return p, err
}

// contender waits for a lock, or holds it. It ends with its test.
type contender struct {
	way    string
	held   atomic.Bool
	cancel context.CancelFunc
	ended  chan struct{} // closed when it holds the lock, or never will
	free   release
	err    error
}

// contend sends a contender for a lock.
func contend(t *testing.T, s server, w way, name string) *contender {
	t.Helper()
	lock := w.begin(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	c := &contender{way: w.name, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		c.free, c.err = lock(ctx, name)
		c.held.Store(c.err == nil)
	}()
	t.Cleanup(func() {
		cancel()
		<-c.ended
	})
	return c
}

// mustHold waits until the contender holds the lock.
func (c *contender) mustHold(t *testing.T) {
	t.Helper()
	select {
	case <-c.ended:
	case <-soon(t).Done():
		c.err = errors.New("it still waits")
	}
	if c.err != nil {
		t.Fatalf("%s: got %v, want the lock", c.way, c.err)
	}
}

// mustWait checks that the contender does not get the lock.
func (c *contender) mustWait(t *testing.T) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c.ended:
		t.Fatalf("%s: got error %v or the lock, want it to wait", c.way, c.err)
	case <-timer.C:
	}
}

// release gives the lock back.
func (c *contender) release(t *testing.T) {
	t.Helper()
	must(t, c.way+": unlock", c.free(soon(t)))
	c.held.Store(false)
}
