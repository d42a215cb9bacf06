package grpcfence

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/fencelock/fencelock/fencing"
)

// MetadataKey is the metadata that carries a sequencer's text.
const MetadataKey = "fencing-token"

// Guard returns the name of the lock that guards what a message is about, or
// [Unguarded]. "" is a mistake, and the call fails. The method is "/package.Service/Method".
//
// On the server it must not use what the caller says about its sequencer. A unary
// call is asked about once, a stream with each message received, and with nil if
// the handler sends before it has received anything. Clients ask with a unary
// call's request, and with nil when they open a stream.
type Guard func(ctx context.Context, method string, msg any) string

// Unguarded is what a Guard returns for calls that need no sequencer, such as health
// checks. It can be no lock's name.
const Unguarded = "@"

// Fence admits work behind a guard. A *memfence.Fence is one, [InHandler] another.
type Fence interface {
	// Enter admits work under seq behind guard, or says why not. The work runs
	// under held, a child of ctx, and is followed by leave.
	Enter(ctx context.Context, guard string, seq fencing.Sequencer) (held context.Context, leave func(), err error)
}

// InHandler is the Fence of services whose handlers show the sequencer to a fence
// of their own, inside the transaction that it is to protect. It compares no
// tokens: a handler that forgets to ask is not fenced.
type InHandler struct{}

// Enter admits every sequencer.
func (InHandler) Enter(ctx context.Context, _ string, _ fencing.Sequencer) (context.Context, func(), error) {
	return ctx, func() {}, nil
}

// UnaryServer lets unary calls through that fence admits. The handler finds the
// sequencer in its context by [fencing.ForGuard]. It panics if an argument is nil.
func UnaryServer(guard Guard, fence Fence) grpc.UnaryServerInterceptor {
	mustHave(guard, fence)
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		name := guard(ctx, info.FullMethod, req)
		if name == Unguarded {
			return handler(ctx, req)
		}
		held, leave, err := enter(ctx, fence, name)
		if err != nil {
			return nil, err
		}
		defer leave()
		resp, err := handler(held, req)
		return resp, outcome(held, err)
	}
}

func mustHave(guard Guard, fence Fence) {
	if guard == nil || fence == nil {
		panic("grpcfence: an interceptor without guard or fence")
	}
}

// enter asks the fence for the caller whose metadata ctx carries. The error is a
// status.
func enter(ctx context.Context, fence Fence, guard string) (held context.Context, leave func(), err error) {
	if guard == "" {
		return nil, nil, status.Error(codes.Internal, "the service has named no lock that guards this call")
	}
	seq, err := fromMetadata(ctx)
	if err == nil {
		err = seq.CheckGuard(guard)
	}
	if err != nil {
		return nil, nil, ToStatus(err)
	}
	if held, leave, err = fence.Enter(ctx, guard, seq); err != nil {
		return nil, nil, notEntered(ctx, err)
	}
	return fencing.NewContext(held, seq), leave, nil
}

// fromMetadata reads the sequencer. Proxies may repeat metadata; they do not change it.
func fromMetadata(ctx context.Context) (fencing.Sequencer, error) {
	values := metadata.ValueFromIncomingContext(ctx, MetadataKey)
	if len(values) == 0 {
		return fencing.ParseSequencer("")
	}
	for _, value := range values[1:] {
		if value != values[0] {
			return fencing.Sequencer{}, fmt.Errorf("%d sequencers: %w: want one", len(values), fencing.ErrMalformed)
		}
	}
	return fencing.ParseSequencer(values[0])
}

// outcome is the answer to a call whose handler returned err. A handler that gave up
// because a newer holder waits is answered as stale.
func outcome(held context.Context, err error) error {
	gaveUp := errors.Is(err, context.Canceled) || status.Code(err) == codes.Canceled
	if cause := context.Cause(held); gaveUp && errors.Is(cause, fencing.ErrStale) {
		return ToStatus(cause)
	}
	return ToStatus(err)
}
