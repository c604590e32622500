package schema

import (
	"errors"
	"fmt"
	"time"
)

// Code is the stable name of a kind of failure. Clients and tests rely on it; messages may change.
type Code string

// The codes, grouped by who can do something about them.
const (
	// The caller's request.
	CodeMalformed    Code = "malformed"    // the body is not JSON
	CodeInvalid      Code = "invalid"      // a field breaks its rule
	CodeTooLarge     Code = "too_large"    // the body is over its bound
	CodeUnauthorized Code = "unauthorized" // no token, or one that GNS3 refuses
	CodeForbidden    Code = "forbidden"    // the user lacks the right
	CodeNotFound     Code = "not_found"
	CodeConflict     Code = "conflict"

	// The project and the session.
	CodeProjectClosed     Code = "project_closed"
	CodeTurnRunning       Code = "turn_running"       // the session already answers a message
	CodeCredentialMissing Code = "credential_missing" // the owner's GNS3 token is gone or expired
	CodeUsageLimit        Code = "usage_limit"        // a limit on tool calls, tokens or cost is reached
	CodeRateLimit         Code = "rate_limit"         // too many requests in a short time

	// The model.
	CodeModelNotConfigured Code = "model_not_configured"
	CodeModelAuth          Code = "model_auth"        // the provider refuses the key
	CodeModelRefused       Code = "model_refused"     // the provider refuses the request
	CodeModelContext       Code = "model_context"     // the conversation is too long for the model
	CodeModelBusy          Code = "model_busy"        // rate limit or overload; may be retried
	CodeModelUnreachable   Code = "model_unreachable" // no connection, or it broke; may be retried
	CodeModelQuota         Code = "model_quota"       // no credit or quota left with the provider
	CodeModelBroken        Code = "model_broken"      // an answer that can't be read
	CodeModelTruncated     Code = "model_truncated"   // the output limit cut the answer

	// Tools and policy.
	CodeToolUnknown   Code = "tool_unknown"
	CodeToolArguments Code = "tool_arguments"
	CodeRefused       Code = "refused" // the policy doesn't let the call run

	// Devices.
	CodeDeviceUnknown   Code = "device_unknown"
	CodeNodeStopped     Code = "node_stopped"
	CodeConsoleNone     Code = "console_none" // the node has no telnet console
	CodeConsoleRefused  Code = "console_refused"
	CodeConsoleSilent   Code = "console_silent" // connected, but nothing that looks like a prompt
	CodeConsoleClosed   Code = "console_closed" // the peer hung up in the middle
	CodeConsoleBusy     Code = "console_busy"   // somebody else holds the console
	CodeCommandRejected Code = "command_rejected"
	CodeCommandTimeout  Code = "command_timeout"
	CodeDeviceQuestion  Code = "device_question" // the device asks something nobody may answer for the user

	// Ours and our neighbours'.
	CodeAborted         Code = "aborted"
	CodeExpired         Code = "expired"
	CodeGNS3Unavailable Code = "gns3_unavailable"
	CodeUnavailable     Code = "unavailable" // Temporal, NATS or the database can't be reached
	CodeInternal        Code = "internal"
)

// Error is the domain error. Message and Hint are written for the user and hold no internals; Err is the cause, for logs.
type Error struct {
	Code    Code
	Message string
	Hint    string
	// RetryAfter is how long a neighbour asked us to wait; zero when it didn't.
	RetryAfter time.Duration
	Err        error
}

// Errorf makes an Error without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error gives the message and its cause, for logs.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// WithHint adds what the user can do about it.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithCause adds the cause, which is logged and never shown.
func (e *Error) WithCause(err error) *Error {
	e.Err = err
	return e
}

// AsError finds the domain error in a chain. Anything else becomes CodeInternal with a message that gives nothing away.
// It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: CodeInternal, Message: "Something went wrong on our side.", Err: err}
}

// NoModel is the error of a turn that no model is configured for.
func NoModel() *Error {
	return Errorf(CodeModelNotConfigured, "LLM configuration not found. Please configure your LLM settings first.").
		WithHint("Make a model configuration of your own, or have whoever runs the server name a model with --model.")
}

// CodeOf gives the code of the domain error in the chain: "" for nil, CodeInternal for an error that isn't ours.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}
