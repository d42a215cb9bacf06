package grpcfence_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/grpcfence"
)

// sent is what arrives at a client: the status, and nothing else.
func sent(err error) error { return status.Convert(err).Err() }

func TestStaleStatus(t *testing.T) {
	stale := &fencing.StaleError{Guard: guard, Token: 1<<53 + 1, Highest: 1<<53 + 2}
	err := sent(grpcfence.ToStatus(fmt.Errorf("in the ledger: %w", stale)))
	st := status.Convert(err)
	if st.Code() != codes.FailedPrecondition || st.Message() != stale.Error() || len(st.Details()) != 1 {
		t.Fatalf("got %v with %d details", st, len(st.Details()))
	}
	info := st.Details()[0].(*errdetails.ErrorInfo)
	if info.GetDomain() != "fencelock" || info.GetReason() != "STALE" || info.GetMetadata()["guard"] != guard ||
		info.GetMetadata()["token"] != "9007199254740993" || info.GetMetadata()["highest"] != "9007199254740994" {
		t.Errorf("got details %v", info)
	}
	back := fmt.Errorf("call: %w", grpcfence.FromStatus(err))
	var got *fencing.StaleError
	if !errors.As(back, &got) || *got != *stale || status.Code(back) != codes.FailedPrecondition {
		t.Errorf("got %v back, want %v with its code", back, stale)
	}
}

func TestStatusThereAndBack(t *testing.T) {
	for is, code := range map[error]codes.Code{
		fencing.ErrNotHeld:     codes.FailedPrecondition,
		fencing.ErrNotIssued:   codes.FailedPrecondition,
		fencing.ErrWrongGuard:  codes.FailedPrecondition,
		fencing.ErrMissing:     codes.InvalidArgument,
		fencing.ErrMalformed:   codes.InvalidArgument,
		fencing.ErrInvalidName: codes.InvalidArgument,
		fencing.ErrUnavailable: codes.Unavailable,
		fencing.ErrUncertain:   codes.Unknown,
	} {
		there := grpcfence.ToStatus(fmt.Errorf("reason: %w", is))
		back := grpcfence.FromStatus(sent(there))
		if status.Code(there) != code || !errors.Is(there, is) || !errors.Is(back, is) || status.Code(back) != code {
			t.Errorf("%v: got %v there and %v back, want %v", is, there, back, code)
		}
	}
	both := grpcfence.ToStatus(errors.Join(fencing.ErrStale, fencing.ErrUncertain))
	if !errors.Is(both, fencing.ErrUncertain) || errors.Is(both, fencing.ErrStale) {
		t.Errorf("stale and uncertain: got %v, want ErrUncertain", both)
	}
}

func TestOtherErrorsStayAsTheyAre(t *testing.T) {
	foreign, err := status.New(codes.FailedPrecondition, "x").WithDetails(&errdetails.ErrorInfo{Reason: "STALE", Domain: "example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{nil, io.EOF, context.Canceled, errors.New("x"), status.Error(codes.NotFound, "x"), foreign.Err()} {
		if got := grpcfence.FromStatus(err); got != err {
			t.Errorf("FromStatus(%v) = %v", err, got)
		}
		if got := grpcfence.ToStatus(err); got != err {
			t.Errorf("ToStatus(%v) = %v", err, got)
		}
	}
}
