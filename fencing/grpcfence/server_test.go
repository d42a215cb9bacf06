package grpcfence_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/grpcfence"
	"github.com/fencelock/fencelock/fencing/memfence"
)

const guard = "accounts/42"

// incoming is the context of a call with these sequencers.
func incoming(ctx context.Context, tokens ...string) context.Context {
	md := metadata.MD{}
	md.Append(grpcfence.MetadataKey, tokens...)
	return metadata.NewIncomingContext(ctx, md)
}

// named is a guard function that names one lock.
func named(lock string) grpcfence.Guard {
	return func(context.Context, string, any) string { return lock }
}

// call answers one unary call.
func call(ctx context.Context, fence grpcfence.Fence, handler func(context.Context) error) error {
	return callBehind(ctx, named(guard), fence, handler)
}

func callBehind(ctx context.Context, guard grpcfence.Guard, fence grpcfence.Fence, handler func(context.Context) error) error {
	_, err := grpcfence.UnaryServer(guard, fence)(ctx, nil, &grpc.UnaryServerInfo{FullMethod: unaryMethod},
		func(ctx context.Context, _ any) (any, error) { return nil, handler(ctx) })
	return err
}

func nothing(context.Context) error { return nil }

func wantCode(t *testing.T, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
}

func TestServerAnswers(t *testing.T) {
	fence := memfence.New(memfence.Config{})
	for _, c := range []struct {
		tokens []string
		code   codes.Code
		is     error
	}{
		{nil, codes.InvalidArgument, fencing.ErrMissing},
		{[]string{""}, codes.InvalidArgument, fencing.ErrMissing},
		{[]string{"33"}, codes.InvalidArgument, fencing.ErrMalformed},
		{[]string{"accounts/42#33", "accounts/42#34"}, codes.InvalidArgument, fencing.ErrMalformed},
		{[]string{"accounts/43#33"}, codes.FailedPrecondition, fencing.ErrWrongGuard},
		{[]string{"accounts/42#34", "accounts/42#34"}, codes.OK, nil},
		{[]string{"accounts/42#33"}, codes.FailedPrecondition, fencing.ErrStale},
	} {
		err := call(incoming(t.Context(), c.tokens...), fence, func(ctx context.Context) error {
			_, err := fencing.ForGuard(ctx, guard)
			return err
		})
		if status.Code(err) != c.code || !errors.Is(grpcfence.FromStatus(status.Convert(err).Err()), c.is) {
			t.Errorf("%q: got %v, want %v, %v", c.tokens, err, c.code, c.is)
		}
	}
}

// Without a fence of its own the interceptor still sees what no handler has to.
func TestInHandlerRefusesWhatNoFenceAdmits(t *testing.T) {
	for token, code := range map[string]codes.Code{"": codes.InvalidArgument, "33": codes.InvalidArgument,
		"accounts/43#33": codes.FailedPrecondition, "accounts/42#33": codes.OK} {
		wantCode(t, call(incoming(t.Context(), token), grpcfence.InHandler{}, nothing), code)
	}
}

func TestUnguardedCalls(t *testing.T) {
	if err := callBehind(t.Context(), named(grpcfence.Unguarded), grpcfence.InHandler{}, nothing); err != nil {
		t.Errorf("unguarded: got %v, want it let through", err)
	}
	wantCode(t, callBehind(incoming(t.Context(), "accounts/42#33"), named(""), grpcfence.InHandler{}, nothing), codes.Internal)
}

func TestNilArguments(t *testing.T) {
	for name, f := range map[string]func(){
		"unary guard":  func() { grpcfence.UnaryServer(nil, grpcfence.InHandler{}) },
		"unary fence":  func() { grpcfence.UnaryServer(named(guard), nil) },
		"stream guard": func() { grpcfence.StreamServer(nil, grpcfence.InHandler{}) },
		"stream fence": func() { grpcfence.StreamServer(named(guard), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no %s: accepted", name)
				}
			}()
			f()
		}()
	}
}

// A newer call waits for the older handler, which is told, and gives up as stale.
func TestNewerCallWaitsForOlderHandler(t *testing.T) {
	fence := memfence.New(memfence.Config{})
	inside, order := make(chan struct{}), make(chan string, 2)
	older := make(chan error)
	go func() {
		older <- call(incoming(t.Context(), "accounts/42#33"), fence, func(ctx context.Context) error {
			close(inside)
			<-ctx.Done()
			order <- "older is done"
			return ctx.Err()
		})
	}()
	<-inside
	if err := call(incoming(t.Context(), "accounts/42#34"), fence, func(context.Context) error {
		order <- "newer begins"
		return nil
	}); err != nil {
		t.Errorf("newer: %v", err)
	}
	if err := <-older; !errors.Is(err, fencing.ErrStale) {
		t.Errorf("older: got %v, want ErrStale", err)
	}
	if first := <-order; first != "older is done" {
		t.Errorf("first came %q", first)
	}
}

func TestWaitingCallGivesUp(t *testing.T) {
	fence := memfence.New(memfence.Config{})
	if _, _, err := fence.Enter(t.Context(), guard, fencing.Sequencer{Lock: guard, Token: 33}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(incoming(t.Context(), "accounts/42#34"), 1)
	defer cancel()
	wantCode(t, call(ctx, fence, nothing), codes.DeadlineExceeded)
}

// What the fence itself suffers from is not the caller's business.
func TestFenceThatCannotBeAsked(t *testing.T) {
	fence := memfence.New(memfence.Config{Verify: func(context.Context, fencing.Sequencer) error {
		return errors.New("password is hunter2")
	}})
	err := call(incoming(t.Context(), "accounts/42#34"), fence, nothing)
	wantCode(t, err, codes.Unavailable)
	if !errors.Is(err, fencing.ErrUnavailable) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v, want ErrUnavailable and no more", err)
	}
}
