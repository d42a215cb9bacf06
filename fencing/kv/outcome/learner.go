package outcome

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A learner may be among a client's endpoints while it catches up. It refuses all
// but a few requests, without having looked at them, so that they can be sent again.
const (
	// learnerPatience bounds how long a request looks for a member that is no
	// learner: as long as it takes to connect to another one.
	learnerPatience = 2 * time.Second

	// quickTurns are the attempts without a pause between them: the connections are
	// taken in turn, and one learner at a time is what etcd allows.
	quickTurns = 3
)

// BeyondLearners are options for the connection of an etcd client: what a learner
// refuses is sent to another member.
func BeyondLearners() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(askBeyond), grpc.WithChainStreamInterceptor(streamBeyond)}
}

func askBeyond(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	patience, cancel := context.WithTimeout(ctx, learnerPatience)
	defer cancel()
	pause := firstPause
	for turn := 1; ; turn++ {
		err := invoke(ctx, method, req, reply, conn, opts...)
		if !byLearner(err) {
			return err
		}
		if turn <= quickTurns {
			continue
		}
		if !Pause(patience, pause) {
			return err
		}
		pause = min(2*pause, lastPause)
	}
}

// byLearner reports whether a learner has refused a request.
func byLearner(err error) bool {
	return errors.Is(etcdError(err), rpctypes.Error(rpctypes.ErrGRPCNotSupportedForLearner))
}

func streamBeyond(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil {
		return nil, err
	}
	return streamOfMember{stream}, nil
}

// streamOfMember ends with "unavailable" where a learner has refused it: then
// etcd's client opens it anew, on the next connection.
type streamOfMember struct{ grpc.ClientStream }

func (s streamOfMember) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if byLearner(err) {
		return status.Error(codes.Unavailable, err.Error())
	}
	return err
}
