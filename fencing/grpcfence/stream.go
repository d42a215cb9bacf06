package grpcfence

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"

	"github.com/fencelock/fencelock/fencing"
)

// StreamServer lets messages of streams through that fence admits, see the package
// comment. The handler finds the sequencer in its context by [fencing.ForGuard]. It
// panics if an argument is nil.
func StreamServer(guard Guard, fence Fence) grpc.StreamServerInterceptor {
	mustHave(guard, fence)
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		ctx, end := context.WithCancelCause(ss.Context())
		if seq, err := fromMetadata(ctx); err == nil {
			ctx = fencing.NewContext(ctx, seq)
		}
		s := &serverStream{ServerStream: ss, info: info, guard: guard, fence: fence, ctx: ctx, end: end}
		defer end(nil)
		defer s.leave()
		return outcome(ctx, handler(srv, s))
	}
}

// serverStream is a stream under one sequencer. Handlers may receive and send in
// two goroutines.
type serverStream struct {
	grpc.ServerStream
	info  *grpc.StreamServerInfo
	guard Guard
	fence Fence

	ctx context.Context // ends when the stream has become stale, with the refusal as its cause
	end context.CancelCauseFunc

	mu   sync.Mutex
	name string // the guard of the last message received; "" before the first
	now  *visit // nil: no message is being worked on
}

// visit is the work that one message makes.
type visit struct {
	held  context.Context
	leave func()
}

// Context is the handler's.
func (s *serverStream) Context() context.Context { return s.ctx }

// RecvMsg ends the work on the last message, and begins that on the next. After the
// caller's last message the handler works on under the guard of that.
func (s *serverStream) RecvMsg(m any) error {
	s.leave()
	end := s.ServerStream.RecvMsg(m)
	if end != nil && end != io.EOF {
		return end
	}
	name := s.last()
	if end == nil {
		name = s.guard(s.ctx, s.info.FullMethod, m)
	} else if name == "" {
		return end
	}
	v, err := s.enter(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name, s.now = name, v
	return end
}

// SendMsg sends what the handler has to say about the message that it works on;
// nobody newer can be in before it is done. A message out of turn is checked by
// itself.
func (s *serverStream) SendMsg(m any) error {
	s.mu.Lock()
	v, name := s.now, s.name
	s.mu.Unlock()
	if v == nil {
		if name == "" {
			name = s.guard(s.ctx, s.info.FullMethod, nil)
		}
		var err error
		if v, err = s.enter(name); err != nil {
			return err
		}
		defer v.leave()
	}
	if err := s.ServerStream.SendMsg(m); err != nil {
		return err
	}
	// The one answer of a call that does not stream its answers is its end anyhow.
	if stale := context.Cause(v.held); s.info.IsServerStream && errors.Is(stale, fencing.ErrStale) {
		return ToStatus(stale)
	}
	return nil
}

// enter asks the fence for one message.
func (s *serverStream) enter(name string) (*visit, error) {
	if stale := context.Cause(s.ctx); errors.Is(stale, fencing.ErrStale) {
		return nil, ToStatus(stale)
	}
	if name == Unguarded {
		return &visit{s.ctx, func() {}}, nil
	}
	held, leave, err := enter(s.ctx, s.fence, name)
	if err != nil {
		if errors.Is(err, fencing.ErrStale) {
			s.end(err)
		}
		return nil, err
	}
	deaf := context.AfterFunc(held, func() {
		if cause := context.Cause(held); errors.Is(cause, fencing.ErrStale) {
			s.end(cause)
		}
	})
	return &visit{held, func() { deaf(); leave() }}, nil
}

func (s *serverStream) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name
}

func (s *serverStream) leave() {
	s.mu.Lock()
	v := s.now
	s.now = nil
	s.mu.Unlock()
	if v != nil {
		v.leave()
	}
}
