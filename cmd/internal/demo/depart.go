package demo

import (
	"context"
	"sync"

	"google.golang.org/grpc"
)

type departKey struct{}

// onDepart returns a child of ctx for one write: hook runs once, after the write's
// last check and before anything of it has left the process.
func onDepart(ctx context.Context, hook func() error) context.Context {
	return context.WithValue(ctx, departKey{}, sync.OnceValue(hook))
}

// depart is where a write leaves the process.
func depart(ctx context.Context) error {
	if hook, ok := ctx.Value(departKey{}).(func() error); ok {
		return hook()
	}
	return nil
}

// departing is depart for requests of an etcd client. In the chain of interceptors
// it stands behind etcd's own, next to the connection.
func departing(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, send grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if err := depart(ctx); err != nil {
		return err
	}
	return send(ctx, method, req, reply, cc, opts...)
}
