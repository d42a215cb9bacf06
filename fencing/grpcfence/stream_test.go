package grpcfence_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/grpcfence"
	"github.com/fencelock/fencelock/fencing/memfence"
)

// line is a stream without a network: what the caller sends lies in a channel.
type line struct {
	grpc.ServerStream
	ctx  context.Context
	in   chan proto.Message
	sent []string
	end  error // what the interceptor returned
	over bool
}

func (l *line) Context() context.Context { return l.ctx }
func (l *line) SendMsg(m any) error      { l.sent = append(l.sent, fields(m)...); return nil }
func (l *line) RecvMsg(m any) error {
	select {
	case got, ok := <-l.in:
		if !ok {
			return io.EOF
		}
		proto.Merge(m.(proto.Message), got)
		return nil
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
}

// open begins a stream in a bubble. The handler runs until it waits for something.
func open(ctx context.Context, fence grpcfence.Fence, token string, handler func(grpc.ServerStream) error) *line {
	return openLike(ctx, &grpc.StreamServerInfo{FullMethod: streamMethod, IsServerStream: true, IsClientStream: true}, fence, token, handler)
}

func openLike(ctx context.Context, info *grpc.StreamServerInfo, fence grpcfence.Fence, token string, handler func(grpc.ServerStream) error) *line {
	l := &line{ctx: incoming(ctx, token), in: make(chan proto.Message, 10)}
	guard := func(_ context.Context, _ string, msg any) string {
		if msg == nil {
			return guard
		}
		return fields(msg)[1]
	}
	go func() {
		l.end = grpcfence.StreamServer(guard, fence)(nil, l, info, func(_ any, ss grpc.ServerStream) error { return handler(ss) })
		l.over = true
	}()
	synctest.Wait()
	return l
}

// say sends a message behind the usual guard.
func (l *line) say(text string) {
	l.in <- message("say", guard, "", text)
	synctest.Wait()
}

// echo answers each message, after it was let go on, if there is a channel for that.
func echo(goOn chan struct{}) func(grpc.ServerStream) error {
	return func(ss grpc.ServerStream) error {
		for {
			m := message()
			if err := ss.RecvMsg(m); err != nil {
				return ignoreEOF(err)
			}
			if goOn != nil {
				<-goOn
			}
			if err := ss.SendMsg(message(fields(m)[3])); err != nil {
				return err
			}
		}
	}
}

func wantSent(t *testing.T, l *line, want ...string) {
	t.Helper()
	if !slices.Equal(l.sent, want) {
		t.Errorf("sent %q, want %q", l.sent, want)
	}
}

// An idle stream keeps nobody out, and its next message is refused.
func TestIdleStreamIsOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fence := memfence.New(memfence.Config{})
		older := open(t.Context(), fence, "accounts/42#33", echo(nil))
		older.say("a")
		newer := open(t.Context(), fence, "accounts/42#34", echo(nil))
		newer.say("b")
		wantSent(t, newer, "b")
		older.say("late")
		wantSent(t, older, "a")
		if !older.over || !errors.Is(older.end, fencing.ErrStale) {
			t.Errorf("older: over is %v, %v, want ErrStale", older.over, older.end)
		}
		close(newer.in)
		synctest.Wait()
		if !newer.over || newer.end != nil {
			t.Errorf("newer: over is %v, %v, want it over", newer.over, newer.end)
		}
	})
}

// A message that is worked on keeps newer ones out. Its answer gets through, since
// the work is done; then the stream ends.
func TestNewerMessageWaitsForOlderOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fence := memfence.New(memfence.Config{})
		goOn := make(chan struct{})
		var ctx context.Context
		older := open(t.Context(), fence, "accounts/42#33", func(ss grpc.ServerStream) error { ctx = ss.Context(); return echo(goOn)(ss) })
		older.say("a")
		newer := open(t.Context(), fence, "accounts/42#34", echo(nil))
		newer.say("b")
		wantSent(t, newer)
		if !errors.Is(context.Cause(ctx), fencing.ErrStale) {
			t.Errorf("the older stream's context: %v, want ended as stale", context.Cause(ctx))
		}
		goOn <- struct{}{}
		synctest.Wait()
		wantSent(t, older, "a")
		if !errors.Is(older.end, fencing.ErrStale) {
			t.Errorf("older ends with %v, want ErrStale", older.end)
		}
		wantSent(t, newer, "b")
		close(newer.in)
	})
}

// A handler that only sends learns of it from its context, or from its next message.
func TestStreamOfAnswersEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fence := memfence.New(memfence.Config{})
		watch := open(t.Context(), fence, "accounts/42#33", func(ss grpc.ServerStream) error {
			if err := ss.RecvMsg(message()); err != nil {
				return err
			}
			<-ss.Context().Done()
			return ss.Context().Err()
		})
		watch.say("watch")
		if err := call(incoming(t.Context(), "accounts/42#34"), fence, nothing); err != nil {
			t.Errorf("newer: %v", err)
		}
		synctest.Wait()
		if !errors.Is(watch.end, fencing.ErrStale) {
			t.Errorf("the older stream ends with %v, want ErrStale", watch.end)
		}
	})
}

// What a handler does after the caller's last message is held too, and the one answer
// of such a call is not refused when the work is done.
func TestWorkAfterTheLastMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fence := memfence.New(memfence.Config{})
		goOn := make(chan struct{})
		info := &grpc.StreamServerInfo{FullMethod: streamMethod, IsClientStream: true}
		older := openLike(t.Context(), info, fence, "accounts/42#33", func(ss grpc.ServerStream) error {
			var err error
			for err == nil {
				err = ss.RecvMsg(message())
			}
			<-goOn
			return errors.Join(ignoreEOF(err), ss.SendMsg(message("sum")))
		})
		older.say("1")
		close(older.in)
		newer := open(t.Context(), fence, "accounts/42#34", echo(nil))
		newer.say("b")
		wantSent(t, newer)
		goOn <- struct{}{}
		synctest.Wait()
		wantSent(t, older, "sum")
		if older.end != nil {
			t.Errorf("older ends with %v, want nil", older.end)
		}
		wantSent(t, newer, "b")
		close(newer.in)
	})
}

// The work after the last message is refused if a newer holder was in between.
func TestLastMessageOfAnOvertakenStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fence := memfence.New(memfence.Config{})
		older := open(t.Context(), fence, "accounts/42#33", echo(nil))
		older.say("a")
		if err := call(incoming(t.Context(), "accounts/42#34"), fence, nothing); err != nil {
			t.Fatal(err)
		}
		close(older.in)
		synctest.Wait()
		if !errors.Is(older.end, fencing.ErrStale) {
			t.Errorf("got %v, want ErrStale", older.end)
		}
	})
}

// A handler that speaks first is checked before it does, and holds nothing after.
func TestHandlerSpeaksFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fence := memfence.New(memfence.Config{})
		greet := func(ss grpc.ServerStream) error {
			if err := ss.SendMsg(message("hello")); err != nil {
				return err
			}
			return ignoreEOF(ss.RecvMsg(message()))
		}
		older := open(t.Context(), fence, "accounts/42#33", greet)
		newer := open(t.Context(), fence, "accounts/42#34", greet)
		late := open(t.Context(), fence, "accounts/42#33", greet)
		wantSent(t, older, "hello")
		wantSent(t, newer, "hello")
		wantSent(t, late)
		wantCode(t, late.end, codes.FailedPrecondition)
		close(older.in)
		close(newer.in)
	})
}

// A stream may begin before its guard is known; its sequencer is judged with the
// first message that is guarded.
func TestUnguardedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t.Context(), memfence.New(memfence.Config{}), "", echo(nil))
		l.in <- message("say", grpcfence.Unguarded, "", "free")
		synctest.Wait()
		wantSent(t, l, "free")
		l.say("guarded")
		wantSent(t, l, "free")
		wantCode(t, l.end, codes.InvalidArgument)
	})
}

// A stream has one sequencer: a message about what another lock guards is refused.
func TestMessageOfAnotherGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t.Context(), memfence.New(memfence.Config{}), "accounts/42#33", echo(nil))
		l.say("a")
		l.in <- message("say", "accounts/43", "", "b")
		synctest.Wait()
		wantSent(t, l, "a")
		if !errors.Is(l.end, fencing.ErrWrongGuard) {
			t.Errorf("got %v, want ErrWrongGuard", l.end)
		}
	})
}

// Handlers find the sequencer, and the guard is free when they are gone.
func TestStreamContextAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fence := memfence.New(memfence.Config{})
		l := open(t.Context(), fence, "accounts/42#33", func(ss grpc.ServerStream) error {
			if _, err := fencing.ForGuard(ss.Context(), guard); err != nil {
				return err
			}
			return ss.RecvMsg(message())
		})
		l.say("a")
		if l.end != nil {
			t.Errorf("got %v", l.end)
		}
		if err := call(incoming(t.Context(), "accounts/42#34"), fence, nothing); err != nil {
			t.Errorf("newer: %v", err)
		}
	})
}
