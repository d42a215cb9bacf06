// Package outcome says what an error from etcd means for the request that got
// it: was it certainly not applied, or is its fate unknown, and what should a
// user be told.
package outcome

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fencelock/fencelock/fencing"
)

// Certain reports whether err proves that the write it answers was not applied
// and never will be. Only a member that understood the request and refused it
// gives such proof, in one of etcd's own words: a proxy's refusal, a time-out, a
// lost connection or a member that stops say nothing.
//
// That the store is full is no proof: etcd applies a write that takes the store
// over its quota, and then answers so.
func Certain(err error) bool {
	return Answered(err) && !errors.Is(etcdError(err), rpctypes.ErrNoSpace)
}

// Answered reports whether the write that err answers is decided: it was applied,
// or never will be, but cannot land later.
func Answered(err error) bool {
	if tooLargeToSend(err) {
		return true
	}
	known, ok := etcdError(err).(rpctypes.EtcdError)
	if !ok {
		return false
	}
	switch known.Code() {
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.FailedPrecondition,
		codes.PermissionDenied, codes.Unauthenticated, codes.OutOfRange, codes.ResourceExhausted:
		return true
	}
	return false
}

// etcdError finds the error that etcd has a word of its own for, nil if there is
// none.
func etcdError(err error) error {
	var known rpctypes.EtcdError
	if errors.As(err, &known) {
		return known
	}
	var carrier interface{ GRPCStatus() *status.Status }
	if errors.As(err, &carrier) && errors.As(rpctypes.Error(carrier.GRPCStatus().Err()), &known) {
		return known
	}
	return nil
}

// Passing reports whether the same request may well succeed on another member,
// or a moment later.
func Passing(err error) bool {
	if withoutPassword(err) {
		return false
	}
	switch codeOf(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Internal, codes.Unknown, codes.Aborted:
		return true
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// OfRead words the failure of a request that cannot have changed anything.
// doing says what was asked, as in "get balance of accounts/42"; endpoints are
// those that were tried. The result matches what ctx ended with, or
// [fencing.ErrUnavailable], or what etcd said.
func OfRead(ctx context.Context, doing string, err error, endpoints []string) error {
	if ended := ended(ctx); ended != nil {
		return fmt.Errorf("%s: %w", doing, ended)
	}
	if Passing(err) || codeOf(err) == codes.Canceled {
		return fmt.Errorf("%s: %w: no answer from %s (%v); is a majority of the members running and reachable?",
			doing, fencing.ErrUnavailable, strings.Join(endpoints, ", "), err)
	}
	return Refused(doing, err)
}

// OfWrite words the failure of a request that may have changed something: what
// [Refused] says if it is certain that it did not, else [fencing.ErrUncertain],
// together with what ctx ended with, if it did.
func OfWrite(ctx context.Context, doing string, err error, endpoints []string) error {
	if Certain(err) {
		return Refused(doing, err)
	}
	if Answered(err) {
		return fmt.Errorf("%w; it may have been applied all the same: %w", Refused(doing, err), fencing.ErrUncertain)
	}
	if ended := ended(ctx); ended != nil {
		return fmt.Errorf("%s: %w: %w before an answer came", doing, fencing.ErrUncertain, ended)
	}
	return fmt.Errorf("%s: %w: no answer from %s (%v); read before you repeat it",
		doing, fencing.ErrUncertain, strings.Join(endpoints, ", "), err)
}

// Refused words the answer of a member that understood a request and said no.
// It matches the etcd error that it wraps.
func Refused(doing string, err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return fmt.Errorf("%s: the cluster's store is full (%w); locks can still be given back and renewed, and records deleted; delete what can go, then run \"fencelock alarm clear\"", doing, err)
	case errors.Is(err, rpctypes.ErrRequestTooLarge), tooLargeToSend(err):
		return fmt.Errorf("%s: too large for one request (%w); a member takes 1.5 MiB unless set otherwise", doing, err)
	case byLearner(err):
		return fmt.Errorf("%s: %w: only a learner answered (%w), which serves nobody before it is promoted; add other members to the endpoints",
			doing, fencing.ErrUnavailable, err)
	case withoutPassword(err):
		return fmt.Errorf("%s: the login was refused (%w): this user has no password, and is who a certificate's common name says; leave the user out, or give it a password", doing, err)
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("%s: permission denied (%w); grant this user read and write on the lock's keys, under lock/, fence/, kv/ and semaphore/ in the namespace, as \"fencelock auth grant USER --prefix PREFIX/\" does", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// byLearner reports whether a learner has refused a request. etcd's client sends it
// to another endpoint by itself, if it has one.
func byLearner(err error) bool {
	return errors.Is(etcdError(err), rpctypes.Error(rpctypes.ErrGRPCNotSupportedForLearner))
}

// withoutPassword reports whether somebody logged in with a password as a user who
// has none. etcd has no error of its own for that, and hands it on as an unknown one.
func withoutPassword(err error) bool {
	return codeOf(err) == codes.Unknown && strings.Contains(err.Error(), "password was given for no password user")
}

// tooLargeToSend reports whether gRPC on this side refused to send a message.
func tooLargeToSend(err error) bool {
	return codeOf(err) == codes.ResourceExhausted && strings.Contains(err.Error(), "trying to send message larger than max")
}

// codeOf finds the gRPC code of an error, which etcd's client hands on either as
// a status or as its own type.
func codeOf(err error) codes.Code {
	var known rpctypes.EtcdError
	if errors.As(err, &known) {
		return known.Code()
	}
	var carrier interface{ GRPCStatus() *status.Status }
	if errors.As(err, &carrier) {
		return carrier.GRPCStatus().Code()
	}
	return codes.OK
}
