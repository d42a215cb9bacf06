package grpcfence

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fencelock/fencelock/fencing"
)

// Domain is that of the ErrorInfo in a refusal's details.
const Domain = "fencelock"

// kind is an error of package fencing as a status.
type kind struct {
	is     error
	reason string
	code   codes.Code
	public bool // whether the error's text is for the caller
}

// kinds in the order in which an error is compared with them: an unknown outcome
// outweighs whatever was joined to it.
func kinds() []kind {
	return []kind{
		{fencing.ErrUncertain, "OUTCOME_UNKNOWN", codes.Unknown, false},
		{fencing.ErrStale, "STALE", codes.FailedPrecondition, true},
		{fencing.ErrNotHeld, "NOT_HELD", codes.FailedPrecondition, true},
		{fencing.ErrNotIssued, "NOT_ISSUED", codes.FailedPrecondition, true},
		{fencing.ErrWrongGuard, "WRONG_GUARD", codes.FailedPrecondition, true},
		{fencing.ErrMissing, "MISSING", codes.InvalidArgument, true},
		{fencing.ErrMalformed, "MALFORMED", codes.InvalidArgument, true},
		{fencing.ErrInvalidName, "INVALID_NAME", codes.InvalidArgument, true},
		{fencing.ErrUnavailable, "UNAVAILABLE", codes.Unavailable, false},
	}
}

// refusal is an error of package fencing and a status at once.
type refusal struct {
	status *status.Status
	is     error
}

func (r *refusal) Error() string              { return r.status.Message() }
func (r *refusal) Unwrap() error              { return r.is }
func (r *refusal) GRPCStatus() *status.Status { return r.status }

// ToStatus returns the refusal that err is or wraps as an error with a status; it
// can still be compared by errors.Is. Any other error, and nil, is returned as it is.
func ToStatus(err error) error {
	if r, ok := err.(*refusal); ok {
		return r
	}
	for _, k := range kinds() {
		if errors.Is(err, k.is) {
			return k.refusal(err)
		}
	}
	return err
}

func (k kind) refusal(err error) error {
	message, is := k.is.Error(), k.is
	info := &errdetails.ErrorInfo{Reason: k.reason, Domain: Domain}
	var stale *fencing.StaleError
	if errors.As(err, &stale) && k.is == fencing.ErrStale {
		message, is = stale.Error(), stale
		info.Metadata = map[string]string{"guard": stale.Guard, "token": stale.Token.String(), "highest": stale.Highest.String()}
	} else if k.public {
		message = err.Error()
	}
	st := status.New(k.code, message)
	if detailed, err := st.WithDetails(info); err == nil {
		st = detailed
	}
	return &refusal{st, is}
}

// notEntered is the answer to a call that the fence did not admit. Errors that are
// no refusals are the end of the call's patience, or the fence's own trouble.
func notEntered(ctx context.Context, err error) error {
	answer := ToStatus(err)
	if r := (*refusal)(nil); errors.As(answer, &r) {
		return answer
	}
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	return ToStatus(fencing.ErrUnavailable)
}

// FromStatus returns the error of package fencing that was made into err's status,
// with that status still in it. Any other error, and nil, is returned as it is.
func FromStatus(err error) error {
	st, ok := status.FromError(err)
	if err == nil || !ok {
		return err
	}
	for _, detail := range st.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == Domain {
			for _, k := range kinds() {
				if k.reason == info.GetReason() {
					return &refusal{st, refused(k.is, info.GetMetadata())}
				}
			}
		}
	}
	return err
}

func refused(is error, metadata map[string]string) error {
	token, tokenErr := fencing.ParseToken(metadata["token"])
	highest, highestErr := fencing.ParseToken(metadata["highest"])
	if is == fencing.ErrStale && errors.Join(tokenErr, highestErr) == nil {
		return &fencing.StaleError{Guard: metadata["guard"], Token: token, Highest: highest}
	}
	return is
}
