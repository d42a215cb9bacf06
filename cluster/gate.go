package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/raft/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// gate stands before every gRPC request of a client.
//
//	closed ──open──▶ open ──drain──▶ draining ──cut──▶ cut
//
// While it is closed, requests wait. Draining ends streams, which would last as
// long as their clients, and refuses new requests; cut ends all that is left.
// Ended requests get ErrGRPCStopped: its code, Unavailable, makes etcd's client
// turn to another member, and leaves open whether a write took effect. A request
// that is refused at the door gets errNotAdmitted, also where no leader is to be had,
// see following.
type gate struct {
	following *following
	stopping  func() bool // has etcd begun to stop? Set before open; nil: no

	opened chan struct{} // closed by open
	idle   chan struct{} // closed when draining and no request is left

	streams context.Context // ends with drain
	calls   context.Context // ends with cut

	endStreams, endCalls context.CancelFunc

	mu       sync.Mutex
	running  int // requests and streams inside
	draining bool
}

// errNotAdmitted is a request that nothing was done about. These words are the ones
// for which etcd's client repeats even a write, with another member
// (isSafeRetryMutableRPC).
var errNotAdmitted = status.Error(codes.Unavailable, "there is no connection available")

func newGate(election time.Duration) *gate {
	g := &gate{opened: make(chan struct{}), idle: make(chan struct{}), following: newFollowing(election)}
	g.calls, g.endCalls = context.WithCancel(context.Background())
	g.streams, g.endStreams = context.WithCancel(g.calls)
	return g
}

// open is called once.
func (g *gate) open() { close(g.opened) }

// drain waits until no request is left, for limit at the longest.
func (g *gate) drain(limit time.Duration) {
	g.refuse()
	_ = wait(g.idle, limit)
}

// cut ends everything at once, and waits until it has ended, for limit at the
// longest: a read that is still at work when etcd closes its database panics.
func (g *gate) cut(limit time.Duration) {
	g.refuse()
	g.endCalls()
	_ = wait(g.idle, limit)
}

func (g *gate) refuse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.draining {
		return
	}
	g.draining = true
	g.endStreams()
	if g.running == 0 {
		close(g.idle)
	}
}

func (g *gate) enter(ctx context.Context) error {
	select {
	case <-g.opened:
	case <-g.streams.Done():
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.draining {
		return rpctypes.ErrGRPCStopped
	}
	g.running++
	return nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	if g.draining && g.running == 0 {
		close(g.idle)
	}
}

func (g *gate) options() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(g.unary), grpc.ChainStreamInterceptor(g.stream)}
}

func (g *gate) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
	defer g.survive(&err)
	if err := g.enter(ctx); err != nil {
		if errors.Is(err, rpctypes.ErrGRPCStopped) {
			err = errNotAdmitted
		}
		return nil, err
	}
	defer g.leave()
	ctx, cancel := within(ctx, g.calls)
	defer cancel()
	resp, err = g.led(ctx, req, next)
	if status.Convert(err).Message() == raft.ErrProposalDropped.Error() {
		err = errNotAdmitted // leadership is on its way elsewhere: Raft has not taken the request
	}
	return resp, reason(err, g.calls)
}

// led hands a request on while there is a leader, if it needs one.
func (g *gate) led(ctx context.Context, req any, next grpc.UnaryHandler) (any, error) {
	if !needsLeader(req) {
		return next(ctx, req)
	}
	calls, err := g.following.admit(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := within(ctx, calls)
	defer cancel()
	resp, err := next(ctx, req)
	if err != nil && calls.Err() != nil {
		err = rpctypes.ErrGRPCNoLeader // like ErrGRPCStopped, it leaves open what became of a write
	}
	return resp, err
}

func (g *gate) stream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer g.survive(&err)
	if err := g.enter(ss.Context()); err != nil {
		return err
	}
	defer g.leave()
	ctx, cancel := within(ss.Context(), g.streams)
	defer cancel()
	return reason(next(srv, gatedStream{ss, ctx}), g.streams)
}

// survive makes an error of the panic of a request under which etcd has closed its
// database, as it does without waiting when the member is removed. Such a request
// only reads.
func (g *gate) survive(err *error) {
	switch p := recover(); {
	case p == nil:
	case g.stopping != nil && g.stopping():
		*err = rpctypes.ErrGRPCStopped
	default:
		panic(p)
	}
}

type gatedStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s gatedStream) Context() context.Context { return s.ctx }

// within returns a child of ctx that also ends with outer.
func within(ctx, outer context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(outer, cancel)
	return ctx, func() { stop(); cancel() }
}

// reason replaces the error of a request that outer has ended.
func reason(err error, outer context.Context) error {
	if err != nil && outer.Err() != nil {
		return rpctypes.ErrGRPCStopped
	}
	return err
}
