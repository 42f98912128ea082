package attend

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"attend.internal/attend/attendv1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Error is what a call that failed returns, or one of whose inputs failed.
// status.Code knows its code. errors.Is knows the variables below, and those of
// package context that have the same meaning.
type Error struct {
	Code    codes.Code
	Message string // names what is wrong, its value and the limit
	// When the server wants to see the call again. nil: it does not say.
	RetryAfter *time.Duration
	// Which of the call's inputs failed. nil: the whole call. The results of the
	// other inputs are returned beside the error.
	Input *int
}

// For errors.Is, of which only the code counts.
var (
	ErrInvalidArgument   = &Error{Code: codes.InvalidArgument}
	ErrNotFound          = &Error{Code: codes.NotFound}
	ErrUnauthenticated   = &Error{Code: codes.Unauthenticated}
	ErrPermissionDenied  = &Error{Code: codes.PermissionDenied}
	ErrResourceExhausted = &Error{Code: codes.ResourceExhausted}
	ErrUnavailable       = &Error{Code: codes.Unavailable}
	ErrDeadlineExceeded  = &Error{Code: codes.DeadlineExceeded}
	ErrCancelled         = &Error{Code: codes.Canceled}
	ErrInternal          = &Error{Code: codes.Internal}
)

func (e *Error) Error() string {
	if e.Input != nil {
		return fmt.Sprintf("%v: input %d: %s", e.Code, *e.Input, e.Message)
	}
	return fmt.Sprintf("%v: %s", e.Code, e.Message)
}

// Is compares the code with that of one of this package's variables.
func (e *Error) Is(target error) bool {
	switch target {
	case context.DeadlineExceeded:
		return e.Code == codes.DeadlineExceeded
	case context.Canceled:
		return e.Code == codes.Canceled
	}
	other, ok := target.(*Error)
	return ok && other.Code == e.Code && other.Message == ""
}

// GRPCStatus makes status.Code and status.FromError work.
func (e *Error) GRPCStatus() *status.Status {
	return status.New(e.Code, e.Message)
}

// errorOf reads what gRPC says of a call that failed.
func errorOf(failed error, trailer metadata.MD) *Error {
	found := status.Convert(failed)
	e := &Error{Code: found.Code(), Message: found.Message()}
	if values := trailer.Get("grpc-retry-pushback-ms"); len(values) > 0 {
		// A negative value and text that is no number forbid a retry (gRFC A6).
		pushback, err := strconv.Atoi(values[len(values)-1])
		if err == nil && pushback >= 0 {
			after := time.Duration(pushback) * time.Millisecond
			e.RetryAfter = &after
		}
		return e
	}
	for _, detail := range found.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			after := max(0, info.GetRetryDelay().AsDuration())
			e.RetryAfter = &after
		}
	}
	return e
}

// ofInput is nil if the input did not fail.
func ofInput(index int, outcome *attendv1.Status) error {
	if outcome.GetCode() == 0 {
		return nil
	}
	return &Error{Code: codes.Code(outcome.Code), Message: outcome.Message, Input: &index}
}
