package grpcfence_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/fencingtest"
	"github.com/fencelock/fencelock/fencing/filefence"
	"github.com/fencelock/fencelock/fencing/grpcfence"
)

// The service "test.Store" has one operation, as a unary method and as a stream of
// operations and answers. Its messages are lists: kind, guard, key, value. Tests
// put other handlers in the place of stream.
const (
	unaryMethod  = "/test.Store/Do"
	streamMethod = "/test.Store/Talk"
)

type store struct {
	unary  func(ctx context.Context, req []string) (string, error)
	stream func(grpc.ServerStream) error
}

func message(fields ...string) *structpb.ListValue {
	m := &structpb.ListValue{}
	for _, field := range fields {
		m.Values = append(m.Values, structpb.NewStringValue(field))
	}
	return m
}

func fields(m any) []string {
	var all []string
	for _, value := range m.(*structpb.ListValue).GetValues() {
		all = append(all, value.GetStringValue())
	}
	return all
}

// guardOf reads the guard from the request, which stands for a row that names it.
func guardOf(_ context.Context, _ string, msg any) string { return fields(msg)[1] }

func (s *store) desc() *grpc.ServiceDesc {
	handle := func(_ any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		req := message()
		if err := decode(req); err != nil {
			return nil, err
		}
		handler := func(ctx context.Context, req any) (any, error) {
			value, err := s.unary(ctx, fields(req))
			return message(value), err
		}
		return interceptor(ctx, req, &grpc.UnaryServerInfo{FullMethod: unaryMethod}, handler)
	}
	talk := func(_ any, ss grpc.ServerStream) error { return s.stream(ss) }
	return &grpc.ServiceDesc{
		ServiceName: "test.Store",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Do", Handler: handle}},
		Streams:     []grpc.StreamDesc{{StreamName: "Talk", Handler: talk, ServerStreams: true, ClientStreams: true}},
	}
}

// talk answers each operation of a stream.
func (s *store) talk(ss grpc.ServerStream) error {
	for {
		req := message()
		if err := ss.RecvMsg(req); err != nil {
			return ignoreEOF(err)
		}
		value, err := s.unary(ss.Context(), fields(req))
		if err != nil {
			return err
		}
		if err := ss.SendMsg(message(value)); err != nil {
			return err
		}
	}
}

// serve runs the store behind the interceptors, and returns a connection to it.
func (s *store) serve(t testing.TB, guard grpcfence.Guard, fence grpcfence.Fence) *grpc.ClientConn {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer(
		grpc.UnaryInterceptor(grpcfence.UnaryServer(guard, fence)),
		grpc.StreamInterceptor(grpcfence.StreamServer(guard, fence)))
	server.RegisterService(s.desc(), nil)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient("passthrough:///store",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(grpcfence.UnaryClient(nil)),
		grpc.WithStreamInterceptor(grpcfence.StreamClient(nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// inMemory keeps values in this process.
func inMemory() func(context.Context, []string) (string, error) {
	var data sync.Map
	return func(_ context.Context, req []string) (string, error) {
		place := req[1] + " " + req[2]
		switch req[0] {
		case fencingtest.Write.String():
			data.Store(place, req[3])
		case fencingtest.Delete.String():
			data.Delete(place)
		case fencingtest.Read.String():
			value, _ := data.LoadOrStore(place, "")
			return value.(string), nil
		}
		return "", nil
	}
}

// inFiles keeps values in files that have their own fences.
func inFiles(dir string, verify fencingtest.Verify) func(context.Context, []string) (string, error) {
	return func(ctx context.Context, req []string) (string, error) {
		path := filepath.Join(dir, url.PathEscape(req[1])+" "+req[2])
		file, err := filefence.New(filefence.Config{Path: path, Guard: req[1], Verify: verify})
		if err != nil {
			return "", err
		}
		seq, err := fencing.ForGuard(ctx, req[1])
		if err != nil {
			return "", err
		}
		var value []byte
		switch req[0] {
		case fencingtest.Read.String():
			value, err = file.Read(ctx, seq)
		case fencingtest.Write.String():
			err = file.Write(ctx, seq, []byte(req[3]))
		case fencingtest.Delete.String():
			err = file.Delete(ctx, seq)
		case fencingtest.Advance.String():
			err = file.Advance(ctx, seq)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return string(value), err
	}
}
