package grpcfence

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/fencelock/fencelock/fencing"
)

// UnaryClient sends the context's sequencer along with unary calls, and returns
// refusals as errors of package fencing. A call whose outgoing metadata has a
// sequencer already is sent as it is.
//
// A nil guard means that contexts carry one sequencer at most: that is sent. If one
// carries several, the call fails unsent with fencing.ErrWrongGuard; if none, it is
// sent without, and a fenced service refuses it.
func UnaryClient(guard Guard) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		ctx, err := outgoing(ctx, guard, method, req)
		if err != nil {
			return err
		}
		return FromStatus(invoker(ctx, method, req, reply, cc, opts...))
	}
}

// StreamClient does for streams what [UnaryClient] does for unary calls. The
// sequencer is that of the context with which the stream is opened.
func StreamClient(guard Guard) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		ctx, err := outgoing(ctx, guard, method, nil)
		if err != nil {
			return nil, err
		}
		stream, err := streamer(ctx, desc, cc, method, opts...)
		if err != nil {
			return nil, FromStatus(err)
		}
		return clientStream{stream}, nil
	}
}

func outgoing(ctx context.Context, guard Guard, method string, req any) (context.Context, error) {
	if md, _ := metadata.FromOutgoingContext(ctx); len(md.Get(MetadataKey)) > 0 {
		return ctx, nil
	}
	seq, err := choose(ctx, guard, method, req)
	if err != nil {
		return nil, ToStatus(fmt.Errorf("choose a sequencer for %s: %w", method, err))
	}
	if seq == (fencing.Sequencer{}) {
		return ctx, nil
	}
	return metadata.AppendToOutgoingContext(ctx, MetadataKey, seq.String()), nil
}

// choose returns the sequencer to be sent; the zero one means none.
func choose(ctx context.Context, guard Guard, method string, req any) (fencing.Sequencer, error) {
	if guard == nil {
		seq, err := fencing.Sole(ctx)
		if errors.Is(err, fencing.ErrMissing) {
			return fencing.Sequencer{}, nil
		}
		return seq, err
	}
	switch name := guard(ctx, method, req); name {
	case Unguarded:
		return fencing.Sequencer{}, nil
	case "":
		return fencing.Sequencer{}, fmt.Errorf("%w: the guard function names no lock", fencing.ErrInvalidName)
	default:
		return fencing.ForGuard(ctx, name)
	}
}

// clientStream returns refusals as errors of package fencing.
type clientStream struct{ grpc.ClientStream }

func (s clientStream) Header() (metadata.MD, error) {
	md, err := s.ClientStream.Header()
	return md, FromStatus(err)
}

func (s clientStream) CloseSend() error    { return FromStatus(s.ClientStream.CloseSend()) }
func (s clientStream) SendMsg(m any) error { return FromStatus(s.ClientStream.SendMsg(m)) }
func (s clientStream) RecvMsg(m any) error { return FromStatus(s.ClientStream.RecvMsg(m)) }
