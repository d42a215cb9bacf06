package members

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// ErrGone: the member to be changed is not, or no longer, in the cluster.
var ErrGone = errors.New("no such member in the cluster")

const (
	// requestTime bounds one request: etcd gives a change of members 5 s plus two
	// election time-outs.
	requestTime = 8 * time.Second

	// silence is how long nobody may answer until a change is given up.
	silence = 15 * time.Second

	// lookAgain is how often a change that was refused for now is tried again.
	lookAgain = 250 * time.Millisecond
)

// Config is the way to a running cluster.
type Config struct {
	Etcd    *clientv3.Client
	Waiting func(reason string) // is told what a change waits for, once per reason; nil: nobody
}

// Change makes changes to a cluster's members.
type Change struct {
	etcd    *clientv3.Client
	waiting func(string)
}

// NewChange returns a Change through cfg.
func NewChange(cfg Config) *Change {
	c := &Change{etcd: cfg.Etcd, waiting: cfg.Waiting}
	if c.waiting == nil {
		c.waiting = func(string) {}
	}
	return c
}

// List reads the members, and tries for as long as anybody may answer.
func (c *Change) List(ctx context.Context) (List, error) {
	return c.insist(ctx, step{name: "list the members", done: func(List) (bool, error) { return true, nil }})
}

// AddLearner adds a learner with these peer URLs, unless it is there already.
func (c *Change) AddLearner(ctx context.Context, peers []string) (Member, List, error) {
	list, err := c.insist(ctx, step{
		name: "add a learner at " + strings.Join(peers, ","),
		done: func(l List) (bool, error) { _, there := l.At(peers); return there, nil },
		make: func(ctx context.Context) error { _, err := c.etcd.MemberAddAsLearner(ctx, peers); return err },
	})
	m, _ := list.At(peers)
	return m, list, err
}

// Promote makes a voter of a learner, unless it is one.
func (c *Change) Promote(ctx context.Context, id uint64) (List, error) {
	return c.insist(ctx, step{
		name: fmt.Sprintf("promote member %x", id),
		done: func(l List) (bool, error) {
			m, there := l.ByID(id)
			if !there {
				return false, ErrGone
			}
			return !m.Learner, nil
		},
		make: func(ctx context.Context) error { _, err := c.etcd.MemberPromote(ctx, id); return err },
	})
}

// Remove removes a member, unless it is gone.
func (c *Change) Remove(ctx context.Context, id uint64) (List, error) {
	return c.insist(ctx, step{
		name: fmt.Sprintf("remove member %x", id),
		done: func(l List) (bool, error) { _, there := l.ByID(id); return !there, nil },
		make: func(ctx context.Context) error { _, err := c.etcd.MemberRemove(ctx, id); return err },
	})
}

// step is one change: what it comes to, and the request.
type step struct {
	name string
	done func(List) (bool, error)
	make func(context.Context) error
}

// insist looks, asks and looks again, until the step is done, is refused for good,
// nobody answers, or ctx ends.
func (c *Change) insist(ctx context.Context, s step) (List, error) {
	var list List
	reason, told, answered := "", "", time.Now()
	for {
		now, err := c.read(ctx)
		if err == nil {
			list, answered = now, time.Now()
			if done, err := s.done(list); done || err != nil {
				return list, wrap(s.name, err)
			}
			err = c.ask(ctx, s)
		}
		if err == nil {
			continue
		}
		why, passing := c.reason(list, err)
		switch {
		case !passing:
			return list, wrap(s.name, Refusal(err))
		case ctx.Err() != nil:
			return list, c.gaveUp(ctx, s, reason)
		case time.Since(answered) > silence:
			return list, fmt.Errorf("%s: no answer from %s for %v (%w); do these members run, and are a majority of them up?", s.name, c.endpoints(), silence, err)
		}
		if reason = why; reason != told {
			told = reason
			c.waiting(reason)
		}
		outcome.Pause(ctx, lookAgain)
	}
}

func (c *Change) gaveUp(ctx context.Context, s step, reason string) error {
	if reason == "" {
		reason = "an answer from " + c.endpoints()
	}
	return fmt.Errorf("%s: gave up waiting for %s: %w", s.name, reason, ctx.Err())
}

func (c *Change) read(ctx context.Context) (List, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	var list List
	err := outcome.Retry(ctx, func(ctx context.Context) (err error) {
		list, err = Read(ctx, c.etcd)
		return err
	})
	return list, err
}

func (c *Change) ask(ctx context.Context, s step) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	return s.make(ctx)
}

func (c *Change) endpoints() string { return strings.Join(c.etcd.Endpoints(), ", ") }

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Log is a Waiting that writes to log.
func Log(log *zap.Logger) func(string) {
	return func(reason string) { log.Warn("waiting for " + reason) }
}
