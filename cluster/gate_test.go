package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// call sends a request through g that takes d and returns its outcome's channel.
func call(g *gate, ctx context.Context, d time.Duration) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := g.unary(ctx, nil, nil, func(ctx context.Context, _ any) (any, error) {
			select {
			case <-time.After(d):
				return nil, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		done <- err
	}()
	return done
}

type fakeStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s fakeStream) Context() context.Context { return s.ctx }

// stream opens a stream through g that lasts until its context ends.
func stream(g *gate, ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() {
		done <- g.stream(nil, fakeStream{ctx: ctx}, nil, func(_ any, ss grpc.ServerStream) error {
			<-ss.Context().Done()
			return ss.Context().Err()
		})
	}()
	return done
}

func TestGateHoldsUntilOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(time.Second)
		began := time.Now()
		waiting := call(g, t.Context(), 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := <-call(g, ctx, 0); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("call with a deadline: got %v, want DeadlineExceeded", err)
		}
		time.AfterFunc(time.Second, g.open)
		if err := <-waiting; err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("got %v after %v, want success after 2s", err, time.Since(began))
		}
	})
}

func TestGateDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(time.Second)
		g.open()
		short, long, watch := call(g, t.Context(), 300*time.Millisecond), call(g, t.Context(), time.Hour), stream(g, t.Context())
		synctest.Wait()
		began := time.Now()
		g.drain(time.Second)
		if got := time.Since(began); got != time.Second {
			t.Errorf("drained after %v, want 1s", got)
		}
		if err := <-short; err != nil {
			t.Errorf("short request: got %v, want success", err)
		}
		if err := <-watch; !errors.Is(err, rpctypes.ErrGRPCStopped) {
			t.Errorf("stream: got %v, want %v", err, rpctypes.ErrGRPCStopped)
		}
		if err := <-call(g, t.Context(), 0); !errors.Is(err, errNotAdmitted) {
			t.Errorf("late request: got %v, want %v", err, errNotAdmitted)
		}
		g.cut(time.Second)
		if err := <-long; !errors.Is(err, rpctypes.ErrGRPCStopped) {
			t.Errorf("long request: got %v, want %v", err, rpctypes.ErrGRPCStopped)
		}
	})
}

// What a request itself made of it is not replaced.
func TestGateKeepsErrors(t *testing.T) {
	g := newGate(time.Second)
	g.open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := <-stream(g, ctx); errors.Is(err, rpctypes.ErrGRPCStopped) {
		t.Errorf("stream that its client ended: got %v, want its own error", err)
	}
	g.drain(0)
	g.cut(time.Second)
	g.cut(time.Second)
}

// A read at work while etcd closes its database panics, in another goroutine than
// the one that closes.
func TestGateCutWaitsForReadsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(time.Second)
		g.open()
		began, ended := time.Now(), make(chan time.Duration, 1)
		go func() {
			_, _ = g.unary(t.Context(), nil, nil, func(context.Context, any) (any, error) {
				time.Sleep(300 * time.Millisecond) // takes no notice of its context
				return nil, nil
			})
			ended <- time.Since(began)
		}()
		synctest.Wait()
		g.cut(time.Second)
		if took := time.Since(began); took < <-ended {
			t.Errorf("cut returned after %v, before the read", took)
		}
		late, done := newGate(time.Second), make(chan struct{})
		late.open()
		go func() {
			defer close(done)
			_, _ = late.unary(t.Context(), nil, nil, func(context.Context, any) (any, error) {
				time.Sleep(time.Minute)
				return nil, nil
			})
		}()
		synctest.Wait()
		began = time.Now()
		late.cut(time.Second)
		if took := time.Since(began); took != time.Second {
			t.Errorf("cut waited %v for a call without end, want 1s", took)
		}
		<-done
	})
}

// A panic ends the request, and not the process, if etcd has closed its database
// under it; any other is etcd's, or ours, and must be seen.
func TestGateSurvivesAClosedDatabase(t *testing.T) {
	g := newGate(time.Second)
	stopping := true
	g.stopping = func() bool { return stopping }
	g.open()
	read := func() (err error) {
		_, err = g.unary(t.Context(), nil, nil, func(context.Context, any) (any, error) { panic("closed") })
		return err
	}
	if err := read(); !errors.Is(err, rpctypes.ErrGRPCStopped) {
		t.Errorf("while it stops: got %v, want %v", err, rpctypes.ErrGRPCStopped)
	}
	watch := func(any, grpc.ServerStream) error { panic("closed") }
	if err := g.stream(nil, fakeStream{ctx: t.Context()}, nil, watch); !errors.Is(err, rpctypes.ErrGRPCStopped) {
		t.Errorf("stream while it stops: got %v, want %v", err, rpctypes.ErrGRPCStopped)
	}
	stopping = false
	defer func() {
		if p := recover(); p != "closed" {
			t.Errorf("while it runs: got the panic %v, want it to pass through", p)
		}
	}()
	_ = read()
}
