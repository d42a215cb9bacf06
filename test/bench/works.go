package main

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/client"
)

// works are what is measured, and what is to be reached on three members and two
// cores.
func works() []work {
	list := []work{
		{name: "uncontended lock and unlock", against: "concurrency.Mutex", atLeast: 1 / 1.1, workers: 1, ours: locking("one"), other: mutexes("one")},
		{name: "one lock, 64 goroutines of one client", against: "sequential puts", atLeast: 0.6, workers: 64, ours: localLocking, other: sequentialPuts},
		{name: "fenced put", against: "put", atLeast: 1 / 1.25, workers: 1, ours: fencedPuts, other: puts},
		{name: "steady fenced get", against: "linearizable get", atLeast: 1 / 1.25, workers: 1, ours: fencedGets, other: gets},
	}
	for _, h := range []struct {
		clients int
		atLeast float64
	}{{2, 20}, {8, 5}, {32, 1.5}} {
		name := fmt.Sprintf("handover among %d clients", h.clients)
		list = append(list, work{name: name, against: "concurrency.Mutex", atLeast: h.atLeast, workers: h.clients, ours: locking(name), other: mutexes(name)},
			work{name: name, against: "sequential puts", workers: h.clients, ours: locking(name), other: sequentialPuts})
	}
	return list
}

// locking has each worker, with a client of its own, lock and unlock one lock.
func locking(lock string) func(context.Context, *members, int) (crew, error) {
	return func(_ context.Context, m *members, n int) (crew, error) {
		clients := make([]*client.Client, n)
		for i := range clients {
			c, err := client.New(client.Config{Endpoints: m.endpoints})
			if err != nil {
				return crew{}, err
			}
			clients[i] = c
		}
		return crew{
			step: func(ctx context.Context, i int) error { return lockOnce(ctx, clients[i], lock) },
			close: func() {
				for _, c := range clients {
					c.Close()
				}
			},
		}, nil
	}
}

func lockOnce(ctx context.Context, c *client.Client, lock string) error {
	l, err := c.Lock(ctx, lock)
	if err != nil {
		return err
	}
	return l.Unlock(ctx)
}

// localLocking has the goroutines of one client lock and unlock one lock.
func localLocking(_ context.Context, m *members, _ int) (crew, error) {
	c, err := client.New(client.Config{Endpoints: m.endpoints})
	if err != nil {
		return crew{}, err
	}
	return crew{
		step:  func(ctx context.Context, _ int) error { return lockOnce(ctx, c, "local") },
		close: func() { c.Close() },
	}, nil
}

// mutexes has each worker, with a client of its own, lock and unlock etcd's mutex.
func mutexes(lock string) func(context.Context, *members, int) (crew, error) {
	return func(ctx context.Context, m *members, n int) (crew, error) {
		clients := make([]*clientv3.Client, n)
		locks := make([]*concurrency.Mutex, n)
		for i := range n {
			c, err := plain(m)
			if err != nil {
				return crew{}, err
			}
			session, err := concurrency.NewSession(c)
			if err != nil {
				return crew{}, err
			}
			clients[i], locks[i] = c, concurrency.NewMutex(session, "mutex/"+lock)
		}
		step := func(ctx context.Context, i int) error {
			if err := locks[i].Lock(ctx); err != nil {
				return err
			}
			return locks[i].Unlock(ctx)
		}
		return crew{step: step, close: func() {
			for _, c := range clients {
				c.Close()
			}
		}}, nil
	}
}

func plain(m *members) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: m.endpoints, Logger: zap.NewNop()})
}

// value is what is put and read: 100 bytes.
func value() []byte { return make([]byte, 100) }

// fencedPuts writes one record behind a lock's fence.
func fencedPuts(ctx context.Context, m *members, _ int) (crew, error) {
	return fenced(ctx, m, "puts", func(ctx context.Context, l *client.Lock) error {
		_, err := l.KV().Put(ctx, "k", value())
		return err
	})
}

// fencedGets reads one record behind a lock's fence, after the fence was claimed.
func fencedGets(ctx context.Context, m *members, _ int) (crew, error) {
	return fenced(ctx, m, "gets", func(ctx context.Context, l *client.Lock) error {
		_, err := l.KV().Get(ctx, "k")
		return err
	})
}

func fenced(ctx context.Context, m *members, lock string, step func(context.Context, *client.Lock) error) (crew, error) {
	c, err := client.New(client.Config{Endpoints: m.endpoints})
	if err != nil {
		return crew{}, err
	}
	l, err := c.Lock(ctx, lock)
	if err != nil {
		return crew{}, err
	}
	if _, err := l.KV().Put(ctx, "k", value()); err != nil {
		return crew{}, err
	}
	return crew{
		step:  func(ctx context.Context, _ int) error { return step(ctx, l) },
		close: func() { c.Close() },
	}, nil
}

// puts writes one key of etcd, without a fence.
func puts(_ context.Context, m *members, _ int) (crew, error) {
	c, err := plain(m)
	if err != nil {
		return crew{}, err
	}
	step := func(ctx context.Context, _ int) error {
		_, err := c.Put(ctx, "plain", string(value()))
		return err
	}
	return crew{step: step, close: func() { c.Close() }}, nil
}

// sequentialPuts does what puts does, one after the other whatever the number of
// workers.
func sequentialPuts(ctx context.Context, m *members, n int) (crew, error) {
	one, err := puts(ctx, m, n)
	if err != nil {
		return crew{}, err
	}
	turn := make(chan struct{}, 1)
	step := func(ctx context.Context, i int) error {
		turn <- struct{}{}
		defer func() { <-turn }()
		return one.step(ctx, i)
	}
	return crew{step: step, close: one.close}, nil
}

// gets reads one key of etcd, linearizably.
func gets(ctx context.Context, m *members, _ int) (crew, error) {
	c, err := plain(m)
	if err != nil {
		return crew{}, err
	}
	if _, err := c.Put(ctx, "plain", string(value())); err != nil {
		return crew{}, err
	}
	step := func(ctx context.Context, _ int) error {
		_, err := c.Get(ctx, "plain")
		return err
	}
	return crew{step: step, close: func() { c.Close() }}, nil
}
