package client_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

func TestQuickBench(t *testing.T) {
	cl := clustertest.Start(t, 3)
	ctx := context.Background()
	for _, n := range []int{1, 2, 8, 32} {
		var cs []*client.Client
		var es []*clientv3.Client
		for range n {
			c, err := client.New(client.Config{Endpoints: cl.Endpoints()})
			if err != nil {
				t.Fatal(err)
			}
			cs = append(cs, c)
			e, _ := clientv3.New(clientv3.Config{Endpoints: cl.Endpoints(), Logger: zap.NewNop()})
			es = append(es, e)
		}
		for round := range 2 {
			count := func(f func(i int, stop <-chan struct{}) int) float64 {
				stop := make(chan struct{})
				var wg sync.WaitGroup
				var mu sync.Mutex
				total := 0
				start := time.Now()
				for i := range n {
					wg.Go(func() { k := f(i, stop); mu.Lock(); total += k; mu.Unlock() })
				}
				time.AfterFunc(2*time.Second, func() { close(stop) })
				wg.Wait()
				return float64(total) / time.Since(start).Seconds()
			}
			ours := count(func(i int, stop <-chan struct{}) (k int) {
				for {
					select {
					case <-stop:
						return
					default:
					}
					l, err := cs[i].Lock(ctx, fmt.Sprint("h", n))
					if err != nil {
						t.Error(err)
						return
					}
					if err := l.Unlock(ctx); err != nil {
						t.Error(err)
					}
					k++
				}
			})
			theirs := count(func(i int, stop <-chan struct{}) (k int) {
				s, _ := concurrency.NewSession(es[i])
				m := concurrency.NewMutex(s, fmt.Sprint("mutex", n))
				for {
					select {
					case <-stop:
						return
					default:
					}
					m.Lock(ctx)
					m.Unlock(ctx)
					k++
				}
			})
			t.Logf("n=%d round %d: ours %.0f/s mutex %.0f/s ratio %.2f", n, round, ours, theirs, ours/theirs)
		}
		for i := range n {
			cs[i].Close()
			es[i].Close()
		}
	}
	// local
	c, _ := client.New(client.Config{Endpoints: cl.Endpoints()})
	defer c.Close()
	e := c.Etcd()
	var wg sync.WaitGroup
	var mu sync.Mutex
	k := 0
	end := time.Now().Add(2 * time.Second)
	for range 64 {
		wg.Go(func() {
			for time.Now().Before(end) {
				l, err := c.Lock(ctx, "local")
				if err != nil {
					t.Error(err)
					return
				}
				l.Unlock(ctx)
				mu.Lock()
				k++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	p := 0
	end = time.Now().Add(2 * time.Second)
	for time.Now().Before(end) {
		e.Put(ctx, "x", "y")
		p++
	}
	t.Logf("64 goroutines %d/s, sequential puts %d/s", k/2, p/2)
}
