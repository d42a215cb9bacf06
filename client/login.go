package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// loginTime is how long an answer to a login is used again. It also bounds how
// long a stream may be refused because of a login that has become void unnoticed.
const loginTime = 30 * time.Second

// logins answers the repeated logins of one etcd client. That one logs in anew
// for every stream that it opens: for each renewal and each watch. A login costs
// a member 60 ms of its processor (bcrypt), and a Raft entry.
//
// The last answer is used again until it is old, or anything has been refused
// because of it.
type logins struct {
	mu     sync.Mutex
	last   *pb.AuthenticateResponse // nil: none that is good
	user   string
	secret string
	until  time.Time
}

const authenticate = "/etcdserverpb.Auth/Authenticate"

func (l *logins) options() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(l.unary), grpc.WithChainStreamInterceptor(l.stream)}
}

func (l *logins) unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ask, isLogin := req.(*pb.AuthenticateRequest)
	answer, _ := reply.(*pb.AuthenticateResponse)
	if method != authenticate || !isLogin || answer == nil {
		err := invoke(ctx, method, req, reply, conn, opts...)
		l.refused(err)
		return err
	}
	if l.recall(ask, answer) {
		return nil
	}
	sent := time.Now()
	err := invoke(ctx, method, req, reply, conn, opts...)
	if err == nil {
		l.remember(ask, answer, sent)
	}
	return err
}

func (l *logins) recall(ask *pb.AuthenticateRequest, answer *pb.AuthenticateResponse) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil || l.user != ask.Name || l.secret != ask.Password || !time.Now().Before(l.until) {
		return false
	}
	proto.Merge(answer, l.last)
	return true
}

func (l *logins) remember(ask *pb.AuthenticateRequest, answer *pb.AuthenticateResponse, sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.user, l.secret = proto.CloneOf(answer), ask.Name, ask.Password
	l.until = sent.Add(min(loginTime, goodFor(answer.Token)/2))
}

// goodFor is the time that a JWT has left; any other token is good for minutes.
func goodFor(token string) time.Duration {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Hour
	}
	var claims struct {
		Exp int64 `json:"exp"`
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &claims) != nil || claims.Exp == 0 {
		return time.Hour
	}
	return max(time.Until(time.Unix(claims.Exp, 0)), 0)
}

// refused forgets a login that a member does not take any more.
func (l *logins) refused(err error) {
	if err == nil {
		return
	}
	for _, void := range []error{rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision, rpctypes.ErrUserEmpty} {
		if errors.Is(rpctypes.Error(err), void) {
			l.forget()
		}
	}
}

func (l *logins) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = nil
}

func (l *logins) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(ctx, desc, conn, method, opts...)
	if err != nil {
		l.refused(err)
		return nil, err
	}
	return loginStream{s, l}, nil
}

// loginStream looks out for refusals among what a stream brings.
type loginStream struct {
	grpc.ClientStream
	logins *logins
}

func (s loginStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	s.logins.refused(err)
	if resp, ok := m.(*pb.WatchResponse); ok && err == nil && resp.Canceled && resp.CancelReason != "" {
		s.logins.forget()
	}
	return err
}
