package workflows

import (
	"errors"

	"gns3copilot/schema"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
)

// failureOf reads the domain error that an activity failed with.
func failureOf(err error) *schema.Failure {
	if err == nil {
		return nil
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		f := schema.Failure{Code: schema.Code(app.Type()), Message: app.Message()}
		if app.HasDetails() {
			var detailed schema.Failure
			if app.Details(&detailed) == nil {
				f = detailed
			}
		}
		return &f
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		f := &schema.Failure{
			Code: schema.CodeUnavailable, Message: "The work on this step was lost or took too long.",
			Hint: "Try again. If it stays, look whether workers are running.",
		}
		if timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START {
			f.Message = "No worker took up this step in time, so nothing was done."
		}
		return f
	}
	return &schema.Failure{Code: schema.CodeInternal, Message: "Something went wrong on our side."}
}

func codeOf(err error) schema.Code {
	if f := failureOf(err); f != nil {
		return f.Code
	}
	return ""
}

// passing tells whether what failed may work later.
func passing(err error) bool {
	var app *temporal.ApplicationError
	return !errors.As(err, &app) || !app.NonRetryable()
}

// triesOf is how many requests a failed model call has sent, as far as can be known; 0 without a failure.
func triesOf(err error) int {
	var app *temporal.ApplicationError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &app):
		return failureOf(err).Attempts
	default:
		return 1 // who asked is gone
	}
}
