package outcome

import (
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// SendOnce is an option for the connection of an etcd client: it makes sure that
// a write is sent once. etcd's client repeats any request that is answered with
// "deadline exceeded" or "cancelled" while its own context lasts, writes too. A
// proxy in between can answer so, and then the same write could be applied
// twice, the second time after a later one of the caller's. Answered with
// "unavailable" instead, a write is not repeated.
func SendOnce() grpc.DialOption { return grpc.WithChainUnaryInterceptor(sendOnce) }

func sendOnce(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, conn, opts...)
	if err == nil || ctx.Err() != nil || !writes(req) {
		return err
	}
	switch code := status.Code(err); {
	case code == codes.DeadlineExceeded, code == codes.Canceled,
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return status.Error(codes.Unavailable, err.Error())
	}
	return err
}

// writes reports whether a request may change the store.
func writes(req any) bool {
	switch req.(type) {
	case *pb.TxnRequest, *pb.PutRequest, *pb.DeleteRangeRequest:
		return true
	}
	return false
}
