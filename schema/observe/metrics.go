package observe

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"gns3copilot/schema"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Metrics are the figures that operators watch. Their labels are bounded: no id, and no name that a model or a client may choose. All
// methods may be called on nil, which counts nothing.
type Metrics struct {
	tools map[string]bool

	requests     metric.Float64Histogram
	streams      metric.Int64UpDownCounter
	turnsStarted metric.Int64Counter
	turnsEnded   metric.Int64Counter
	modelCalls   metric.Float64Histogram
	firstContent metric.Float64Histogram
	toolCalls    metric.Int64Counter
	commands     metric.Float64Histogram
	linesPushed  metric.Int64Counter
	approvals    metric.Float64Histogram
	credentials  metric.Int64Counter
}

// other is the label for names that aren't ours.
const other = "other"

// outcomeOK is the label of what went well; what failed has its code.
const outcomeOK = "ok"

// NewMetrics makes the instruments. tools are the names of the registered tools.
func NewMetrics(m metric.Meter, tools []string) (*Metrics, error) {
	var errs []error
	seconds := func(name, what string) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what))
		errs = append(errs, err)
		return h
	}
	count := func(name, what string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithDescription(what))
		errs = append(errs, err)
		return c
	}
	streams, err := m.Int64UpDownCounter("copilot_sse_streams", metric.WithDescription("Event streams that are open now."))
	errs = append(errs, err)
	known := map[string]bool{}
	for _, name := range tools {
		known[name] = true
	}
	return &Metrics{
		tools:        known,
		requests:     seconds("copilot_http_request_duration", "HTTP requests, by route template; those that stream last as long as their turn."),
		streams:      streams,
		turnsStarted: count("copilot_turns_started", "Turns that Temporal has acknowledged."),
		turnsEnded:   count("copilot_turns_ended", "Turns whose books were closed, by stop reason."),
		modelCalls:   seconds("copilot_model_call_duration", "Calls of the model, titles included, by code of the outcome."),
		firstContent: seconds("copilot_model_first_content", "From the model's request to the first text of its answer."),
		toolCalls:    count("copilot_tool_calls", "Tool calls that got their result, by tool and outcome."),
		commands:     seconds("copilot_console_command_duration", "Commands on consoles, by platform and code of the outcome."),
		linesPushed:  count("copilot_pushed_lines", "Configuration lines that devices have acknowledged."),
		approvals:    seconds("copilot_approval_wait", "How long calls waited for a human's word, by what became of them."),
		credentials:  count("copilot_credential_waits", "How often a turn had to wait for its owner's login."),
	}, errors.Join(errs...)
}

// Request is an answered HTTP request. route is a template.
func (m *Metrics) Request(ctx context.Context, method, route string, status int, took time.Duration) {
	if m == nil {
		return
	}
	m.requests.Record(ctx, took.Seconds(), metric.WithAttributes(
		label("method", knownMethod(method)), label("route", route), label("status", strconv.Itoa(status))))
}

func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return other
	}
}

// Stream is an event stream that was opened; the function is for its end.
func (m *Metrics) Stream(ctx context.Context) (closed func()) {
	if m == nil {
		return func() {}
	}
	m.streams.Add(ctx, 1)
	return func() { m.streams.Add(ctx, -1) }
}

// TurnStarted is a turn that began.
func (m *Metrics) TurnStarted(ctx context.Context) {
	if m != nil {
		m.turnsStarted.Add(ctx, 1)
	}
}

// TurnEnded is a turn whose books were closed.
func (m *Metrics) TurnEnded(ctx context.Context, reason schema.StopReason) {
	if m != nil {
		m.turnsEnded.Add(ctx, 1, metric.WithAttributes(label("stop_reason", string(reason))))
	}
}

// ModelCall is a call of the model that ended. first is the time to its first text, 0 when there was none.
func (m *Metrics) ModelCall(ctx context.Context, err error, took, first time.Duration) {
	if m == nil {
		return
	}
	m.modelCalls.Record(ctx, took.Seconds(), metric.WithAttributes(code(err)))
	if first > 0 {
		m.firstContent.Record(ctx, first.Seconds())
	}
}

// ToolCall is a tool call that got its result. The tool's name is the model's word.
func (m *Metrics) ToolCall(ctx context.Context, tool, outcome string) {
	if m == nil {
		return
	}
	if !m.tools[tool] {
		tool = other
	}
	m.toolCalls.Add(ctx, 1, metric.WithAttributes(label("tool", tool), label("outcome", outcome)))
}

// Command is a command on a console that ended.
func (m *Metrics) Command(ctx context.Context, platform string, err error, took time.Duration) {
	if m != nil {
		m.commands.Record(ctx, took.Seconds(), metric.WithAttributes(label("platform", platform), code(err)))
	}
}

// LinePushed is a configuration line that a device has acknowledged.
func (m *Metrics) LinePushed(ctx context.Context) {
	if m != nil {
		m.linesPushed.Add(ctx, 1)
	}
}

// Approval is the end of a call's wait for a human's word.
func (m *Metrics) Approval(ctx context.Context, outcome schema.ApprovalState, waited time.Duration) {
	if m != nil {
		m.approvals.Record(ctx, waited.Seconds(), metric.WithAttributes(label("outcome", string(outcome))))
	}
}

// CredentialWait is a turn that has to wait for its owner's login.
func (m *Metrics) CredentialWait(ctx context.Context) {
	if m != nil {
		m.credentials.Add(ctx, 1)
	}
}

func label(name, value string) attribute.KeyValue { return attribute.String(name, value) }

func code(err error) attribute.KeyValue {
	if c := CodeOf(err); c != "" {
		return label("code", string(c))
	}
	return label("code", outcomeOK)
}
