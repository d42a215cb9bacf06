package outcome

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fencelock/fencelock/fencing"
)

func TestOnlyARefusalIsCertain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{rpctypes.ErrNoSpace, false}, // the write that crosses the quota is applied
		{rpctypes.ErrGRPCNoSpace, false},
		{rpctypes.ErrGRPCPermissionDenied, true},
		{status.Error(codes.ResourceExhausted, "trying to send message larger than max (3 vs. 2)"), true},
		{status.Error(codes.ResourceExhausted, "received message larger than max (3 vs. 2)"), false},
		{status.Error(codes.PermissionDenied, "a proxy's 403"), false},
		{rpctypes.ErrPermissionDenied, true},
		{rpctypes.ErrRequestTooLarge, true},
		{rpctypes.ErrLeaseNotFound, true},
		{rpctypes.ErrTimeout, false},
		{rpctypes.ErrTimeoutDueToLeaderFail, false},
		{rpctypes.ErrNoLeader, false},
		{rpctypes.ErrStopped, false},
		{rpctypes.ErrCorrupt, false},
		{status.Error(codes.Unavailable, "transport is closing"), false},
		{status.Error(codes.Canceled, ""), false},
		{status.Error(codes.Internal, ""), false},
		{status.Error(codes.Unknown, ""), false},
		{context.DeadlineExceeded, false},
		{context.Canceled, false},
		{errors.New("anything"), false},
	} {
		if got := Certain(fmt.Errorf("wrapped: %w", c.err)); got != c.want {
			t.Errorf("Certain(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}

// The two ends of a context are told apart: the user's, and the request's own bound.
func TestWhoEndedTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bounded, cancel := Bound(context.Background(), time.Second)
		defer cancel()
		<-bounded.Done()
		err := OfRead(bounded, "get", bounded.Err(), []string{"host:1"})
		if !errors.Is(err, fencing.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "host:1") {
			t.Errorf("own bound: got %v, want ErrUnavailable that names host:1", err)
		}

		user, cancelUser := context.WithTimeout(context.Background(), time.Second)
		defer cancelUser()
		bounded, cancel = Bound(user, time.Minute)
		defer cancel()
		<-bounded.Done()
		if err := OfRead(bounded, "get", bounded.Err(), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the user's: got %v, want DeadlineExceeded", err)
		}
		if err := OfWrite(bounded, "put", bounded.Err(), nil); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, fencing.ErrUncertain) {
			t.Errorf("the user's, of a write: got %v, want DeadlineExceeded and ErrUncertain", err)
		}
	})
}

// One member of three hangs: the attempt that it got must not use up the time.
func TestRetryLeavesTimeForAnotherMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 6*time.Second)
		defer cancel()
		start, attempts := time.Now(), 0
		err := Retry(ctx, func(ctx context.Context) error {
			attempts++
			if attempts == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		if got, want := time.Since(start), 2*time.Second+firstPause; err != nil || attempts != 2 || got != want {
			t.Errorf("%d attempts, %v, after %v, want 2 after %v", attempts, err, got, want)
		}
	})
}

func TestRetryStopsAtARefusal(t *testing.T) {
	attempts := 0
	err := Retry(t.Context(), func(context.Context) error { attempts++; return rpctypes.ErrPermissionDenied })
	if attempts != 1 || !errors.Is(err, rpctypes.ErrPermissionDenied) {
		t.Errorf("%d attempts, %v, want one", attempts, err)
	}
}

func TestRetryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		if err := Retry(ctx, func(context.Context) error { return rpctypes.ErrNoLeader }); !errors.Is(err, rpctypes.ErrNoLeader) {
			t.Errorf("got %v, want the last error", err)
		}
		if got := time.Since(start); got != time.Second {
			t.Errorf("ended after %v, want 1s", got)
		}
	})
}

// A proxy's time-out must not make etcd's client send a write again.
func TestSendOnceHidesWhatWouldBeRepeated(t *testing.T) {
	for _, c := range []struct {
		req  any
		code codes.Code
		want codes.Code
	}{
		{&pb.TxnRequest{}, codes.DeadlineExceeded, codes.Unavailable},
		{&pb.PutRequest{}, codes.Canceled, codes.Unavailable},
		{&pb.DeleteRangeRequest{}, codes.DeadlineExceeded, codes.Unavailable},
		{&pb.RangeRequest{}, codes.DeadlineExceeded, codes.DeadlineExceeded},
		{&pb.TxnRequest{}, codes.PermissionDenied, codes.PermissionDenied},
		{&pb.TxnRequest{}, codes.OK, codes.OK},
	} {
		answer := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			return status.Error(c.code, "from a proxy")
		}
		if got := status.Code(sendOnce(t.Context(), "", c.req, nil, nil, answer)); got != c.want {
			t.Errorf("%T answered with %v: got %v, want %v", c.req, c.code, got, c.want)
		}
	}
}

// A login that can never succeed is no sign of a cluster that is down.
func TestLoginWithoutAPassword(t *testing.T) {
	refused := status.Error(codes.Unknown, "auth: authentication failed, password was given for no password user")
	err := OfRead(t.Context(), "connect", refused, nil)
	if Passing(refused) || errors.Is(err, fencing.ErrUnavailable) || !strings.Contains(err.Error(), "this user has no password") {
		t.Errorf("got %v, want a refusal that says so", err)
	}
	if unknown := status.Error(codes.Unknown, "something else"); !Passing(unknown) {
		t.Error("any other unknown error may pass, got that it does not")
	}
}
