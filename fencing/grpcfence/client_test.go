package grpcfence_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/grpcfence"
	"github.com/fencelock/fencelock/fencing/memfence"
)

// sends runs both client interceptors and returns what they would have sent.
func sends(ctx context.Context, t *testing.T, guard grpcfence.Guard) (sent string, err error) {
	t.Helper()
	note := func(ctx context.Context) string {
		md, _ := metadata.FromOutgoingContext(ctx)
		return strings.Join(md.Get(grpcfence.MetadataKey), " ")
	}
	err = grpcfence.UnaryClient(guard)(ctx, unaryMethod, nil, nil, nil,
		func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			sent = note(ctx)
			return nil
		})
	var streamed string
	_, streamErr := grpcfence.StreamClient(guard)(ctx, nil, nil, streamMethod,
		func(ctx context.Context, _ *grpc.StreamDesc, _ *grpc.ClientConn, _ string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
			streamed = note(ctx)
			return nil, nil
		})
	if streamed != sent || (streamErr == nil) != (err == nil) {
		t.Errorf("unary sends %q, %v, and a stream %q, %v", sent, err, streamed, streamErr)
	}
	return sent, err
}

func TestClientChooses(t *testing.T) {
	a, b := fencing.Sequencer{Lock: "a", Token: 1}, fencing.Sequencer{Lock: "b c", Token: 2}
	for name, c := range map[string]struct {
		carries []fencing.Sequencer
		byHand  string
		guard   grpcfence.Guard
		sent    string
		err     error
	}{
		"none":                        {},
		"the only one":                {carries: []fencing.Sequencer{b}, sent: "b%20c#2"},
		"several":                     {carries: []fencing.Sequencer{a, b}, err: fencing.ErrWrongGuard},
		"several, and the guard":      {carries: []fencing.Sequencer{a, b}, guard: named("a"), sent: "a#1"},
		"unguarded":                   {carries: []fencing.Sequencer{a}, guard: named(grpcfence.Unguarded)},
		"the guard is not named":      {carries: []fencing.Sequencer{a}, guard: named(""), err: fencing.ErrInvalidName},
		"of another guard":            {carries: []fencing.Sequencer{a}, guard: named("c"), err: fencing.ErrWrongGuard},
		"none for a guarded call":     {guard: named("c"), err: fencing.ErrMissing},
		"set by hand":                 {carries: []fencing.Sequencer{a, b}, byHand: "a#7", sent: "a#7"},
		"set by hand, and no context": {byHand: "a#7", guard: named("c"), sent: "a#7"},
	} {
		ctx := t.Context()
		for _, seq := range c.carries {
			ctx = fencing.NewContext(ctx, seq)
		}
		if c.byHand != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, grpcfence.MetadataKey, c.byHand)
		}
		if got, err := sends(ctx, t, c.guard); got != c.sent || !errors.Is(err, c.err) {
			t.Errorf("%s: sent %q, %v, want %q, %v", name, got, err, c.sent, c.err)
		}
	}
}

// Over a real connection: a stream that is overtaken in its middle gets its answers
// up to then, and the refusal as an error of package fencing.
func TestOvertakenStreamOverTheWire(t *testing.T) {
	s := &store{unary: inMemory()}
	s.stream = s.talk
	conn := s.serve(t, guardOf, memfence.New(memfence.Config{}))
	under := func(token fencing.Token) context.Context {
		return fencing.NewContext(t.Context(), fencing.Sequencer{Lock: guard, Token: token})
	}
	older, err := talkTo(under(33), conn)
	if err != nil {
		t.Fatal(err)
	}
	write, answer := message("write", guard, "k", "older"), message()
	if err := errors.Join(older.SendMsg(write), older.RecvMsg(answer)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Invoke(under(34), unaryMethod, message("read", guard, "k", ""), answer); err != nil || fields(answer)[0] != "older" {
		t.Fatalf("newer reads %q, %v", fields(answer), err)
	}
	_ = older.SendMsg(write)
	var stale *fencing.StaleError
	if err := older.RecvMsg(answer); !errors.As(err, &stale) || *stale != (fencing.StaleError{Guard: guard, Token: 33, Highest: 34}) {
		t.Errorf("got %v, want 33 refused after 34", err)
	}
	if err := older.SendMsg(write); err != io.EOF {
		t.Errorf("send on a stream that has ended: got %v, want io.EOF as it is", err)
	}
}
