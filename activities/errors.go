package activities

import (
	"context"
	"errors"
	"time"

	"gns3copilot/schema"

	"go.temporal.io/sdk/temporal"
)

// fault turns an error into what Temporal stores and acts on: the code as the type, the message and the hint for the user, and
// whether and when to try again. The cause is logged by the worker's interceptor and never stored.
func fault(err error) error { return faultOf(err, schema.Failure{}, false) }

// faultAt is fault for work that gives up after some attempts: the attempt that fails last is not tried again.
func faultAt(err error, attempt, most int) error {
	return faultOf(err, schema.Failure{Attempts: attempt}, attempt >= most)
}

// faultOf is fault with the fields of the failure that the error doesn't know.
func faultOf(err error, failure schema.Failure, final bool) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	e := schema.AsError(err)
	category := temporal.ApplicationErrorCategoryUnspecified
	if errors.Is(err, errStopping) || e.Code == schema.CodeCredentialMissing {
		category = temporal.ApplicationErrorCategoryBenign // part of the plan, so not logged as a failure
	}
	failure.Code, failure.Message, failure.Hint = e.Code, e.Message, e.Hint
	return temporal.NewApplicationErrorWithOptions(e.Message, string(e.Code), temporal.ApplicationErrorOptions{
		Category:       category,
		NonRetryable:   final || !retryable(e),
		NextRetryDelay: e.RetryAfter,
		Details:        []any{failure},
		Cause:          Cause{err},
	})
}

// Cause carries the whole error to the worker's log. Its own text, which Temporal would store, gives nothing away.
type Cause struct{ Err error }

// Error is deliberately empty of content.
func (c Cause) Error() string { return "see the worker's log" }

// Unwrap gives the error that was wrapped.
func (c Cause) Unwrap() error { return c.Err }

// longestWait bounds how long a neighbour may ask us to wait: a longer wait is the user's to decide on.
const longestWait = time.Minute

// retryable tells which failures may be gone at the next try.
func retryable(e *schema.Error) bool {
	switch e.Code {
	case schema.CodeModelBusy, schema.CodeModelUnreachable, schema.CodeUnavailable, schema.CodeGNS3Unavailable, schema.CodeInternal:
		return e.RetryAfter <= longestWait
	default:
		return false
	}
}
