// Package observe is how the rooms tell what they do: spans of a trace, metrics, and the ids that log lines carry. What is told goes
// nowhere until a process is given somewhere to send it. Nothing here holds texts, arguments, output or tokens.
package observe

import (
	"context"
	"errors"

	"gns3copilot/schema"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Scope is the name that spans and metrics of this program carry.
const Scope = "gns3copilot"

// The attributes of spans.
const (
	TurnKey     = attribute.Key("copilot.turn_id")
	UserKey     = attribute.Key("copilot.user_id")
	RequestKey  = attribute.Key("copilot.request_id")
	ToolCallKey = attribute.Key("copilot.tool_call_id")
	DeviceKey   = attribute.Key("copilot.device")
	PlatformKey = attribute.Key("copilot.platform")
	LinesKey    = attribute.Key("copilot.lines")
	JournalKey  = attribute.Key("copilot.journal_ms") // of lines that were pushed: what their journal took
	CodeKey     = attribute.Key("copilot.code")       // of an error
)

// The events of spans.
const (
	EventHeaders      = "headers"       // the model's server has answered
	EventFirstContent = "first content" // of the answer: from the model, or to the client
)

// Start begins a span below the one in ctx. Without one, as when nothing is traced, it is none and costs nothing to speak of.
func Start(ctx context.Context, name string, attrs ...attribute.KeyValue) (context.Context, trace.Span) {
	return trace.SpanFromContext(ctx).TracerProvider().Tracer(Scope).Start(ctx, name, trace.WithAttributes(attrs...))
}

// End ends a span. Of an error it tells the code alone: its message may hold what a device or a model said.
func End(span trace.Span, err error) {
	if code := CodeOf(err); code != "" {
		Fail(span, code)
	}
	span.End()
}

// CodeOf is the code that an error is told by, "" without one. What was cancelled was aborted.
func CodeOf(err error) schema.Code {
	if errors.Is(err, context.Canceled) {
		return schema.CodeAborted
	}
	return schema.CodeOf(err)
}

// Fail marks a span as failed with a code.
func Fail(span trace.Span, code schema.Code) {
	span.SetAttributes(CodeKey.String(string(code)))
	span.SetStatus(codes.Error, "")
}

// Untraced is ctx for work that is too small and too frequent for spans of its own.
func Untraced(ctx context.Context) context.Context {
	return trace.ContextWithSpanContext(ctx, trace.SpanContextFromContext(ctx))
}
