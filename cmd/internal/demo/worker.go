package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

// Work is a worker process: it carries out what the demo orders on in, one after
// the other, and answers on out. It returns when in ends, whatever it is doing.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := json.NewDecoder(in)
	var j job
	if err := lines.Decode(&j); err != nil {
		return fmt.Errorf("read the worker's job: %w; workers are started by the demo, not by hand", err)
	}
	w, err := newWorker(j, out)
	if err != nil {
		return err
	}
	defer w.close()
	ctx, cancel := context.WithCancel(ctx)
	orders := make(chan order)
	go func() { // ends with in, or with the process
		defer cancel()
		defer close(orders)
		for o := (order{}); lines.Decode(&o) == nil; o = (order{}) {
			orders <- o
		}
	}()
	for o := range orders {
		if err := w.out.Encode(w.carryOut(ctx, o)); err != nil {
			return fmt.Errorf("answer the demo: %w", err)
		}
	}
	return nil
}

// worker is A or B.
type worker struct {
	job    job
	etcd   *clientv3.Client
	client *client.Client
	out    *json.Encoder

	lock    *client.Lock
	account account
	balance int // as read last
}

// newWorker makes the etcd client itself, for the sake of departing. It sends no
// keep-alives: those that fell due in the pause would count as unanswered, and cut
// the connection on which the late write is to go out.
func newWorker(j job, out io.Writer) (*worker, error) {
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints:   j.Endpoints,
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(departing)},
		Logger:      zap.NewNop(),
	})
	if err != nil {
		return nil, fmt.Errorf("worker %s: connect to %v: %w", j.Name, j.Endpoints, err)
	}
	c, err := client.New(client.Config{Etcd: etcd, TTL: j.TTL, Owner: "demo worker " + j.Name, DialTimeout: j.Timeout})
	if err != nil {
		etcd.Close()
		return nil, fmt.Errorf("worker %s: %w", j.Name, err)
	}
	return &worker{job: j, etcd: etcd, client: c, out: json.NewEncoder(out)}, nil
}

// close gives back what the worker holds, if the cluster is still there.
func (w *worker) close() {
	_ = w.client.Close()
	_ = w.etcd.Close()
}

func (w *worker) carryOut(ctx context.Context, o order) answer {
	got, err := w.do(ctx, o)
	if err != nil {
		return answer{Event: failed, Error: err.Error()}
	}
	return got
}

func (w *worker) do(ctx context.Context, o order) (answer, error) {
	if o.Do != doLock && w.lock == nil {
		return answer{}, fmt.Errorf("%s: no lock was taken before", o.Do)
	}
	switch o.Do {
	case doLock:
		return w.takeLock(ctx)
	case doRead:
		balance, err := w.account.read(ctx)
		w.balance = balance
		return answer{Event: read, Balance: balance}, err
	case doWrite:
		return w.write(ctx, o)
	case doUnlock:
		return answer{Event: unlocked}, w.lock.Unlock(ctx)
	}
	return answer{}, fmt.Errorf("unknown order %q", o.Do)
}

func (w *worker) takeLock(ctx context.Context) (answer, error) {
	lock, err := w.client.Lock(ctx, w.job.Lock)
	if err != nil {
		return answer{}, err
	}
	w.lock = lock
	if w.job.File == "" {
		w.account = fencedAccount{lock.KV()}
	} else {
		w.account = fileAccount{path: w.job.File, lock: lock}
	}
	return answer{Event: locked, Token: lock.Token()}, nil
}

// write writes under a context that is not bound to the lock: one that was would
// end when the worker wakes up, and hide what the account answers.
func (w *worker) write(ctx context.Context, o order) (answer, error) {
	next := w.balance + o.Add
	if o.Pause {
		ctx = onDepart(ctx, func() error {
			if err := w.out.Encode(answer{Event: leaving, Balance: next}); err != nil {
				return err
			}
			return stopSelf()
		})
	}
	err := w.account.write(ctx, next)
	got := answer{Event: written, Balance: next, Lost: w.lock.Err() != nil}
	if stale := (*fencing.StaleError)(nil); errors.As(err, &stale) {
		got.Event, got.Highest = refused, stale.Highest
		return got, nil
	}
	return got, err
}
