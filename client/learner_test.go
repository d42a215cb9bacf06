package client_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// A learner among the endpoints refuses nearly everything; whoever uses the client
// sees nothing of it: requests go to another member, streams are opened anew.
func TestLearnerAmongEndpoints(t *testing.T) {
	t.Parallel()
	members := clustertest.Start(t, 1)
	learner := members.AddLearner()
	c := connect(t, client.Config{Endpoints: []string{members.Endpoint(learner), members.Endpoint(0)}, TTL: 3 * time.Second})
	ctx := bounded(t)
	held := hold(t, c, "kept") // its session is renewed all the while
	for range 40 {
		if err := useOnce(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	first := hold(t, c, "queue")
	other := session(t, c, 3*time.Second)
	waiting := waitFor(t, members.Client(t), other, "queue", 2) // by watches, which are streams
	unlock(t, first)
	unlock(t, granted(t, waiting))
	if err := held.Err(); err != nil {
		t.Errorf("the lock that was held all the while: %v", err)
	}
	unlock(t, held)
}

func useOnce(ctx context.Context, c *client.Client) error {
	return c.Do(ctx, "often", func(ctx context.Context, l *client.Lock) error {
		if _, err := l.KV().Put(ctx, "k", []byte("v")); err != nil {
			return err
		}
		if _, err := l.KV().Get(ctx, "k"); err != nil {
			return err
		}
		if err := c.Check(ctx, l.Sequencer()); err != nil {
			return err
		}
		_, err := c.Inspect(ctx, "often")
		return err
	})
}

// With nobody but a learner to ask, the error says so, and soon.
func TestOnlyALearner(t *testing.T) {
	t.Parallel()
	members := clustertest.Start(t, 1)
	learner := members.AddLearner()
	c := connect(t, client.Config{Endpoints: []string{members.Endpoint(learner)}})
	began := time.Now()
	_, err := c.TryLock(bounded(t), "a")
	mustBe(t, "try to lock", err, client.ErrUnavailable)
	if took := time.Since(began); took > 6*time.Second || !strings.Contains(err.Error(), "only a learner answered") {
		t.Errorf("after %v: %v; want to read soon that only a learner answered", took, err)
	}
}
