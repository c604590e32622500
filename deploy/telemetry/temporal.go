package telemetry

import (
	"context"
	"errors"
	"log/slog"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
)

// Temporal makes a client, and the workers on it, carry the trace along and show the SDK's own metrics.
func (t *Telemetry) Temporal(o *client.Options, log *slog.Logger) error {
	if t.Measures() {
		o.MetricsHandler = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
			Meter: t.Meter(), UseMonotonicCounters: true,
			OnError: func(err error) { log.Warn("a metric of Temporal's is missing", "error", err) },
		})
	}
	if !t.Traces() {
		return nil
	}
	traced, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{
		Tracer: t.Tracer(), TextMapPropagator: Propagator(), DisableBaggage: true, DisableQueryTracing: true,
		// A header that can't be read must not end a turn.
		AllowInvalidParentSpans: true,
		SpanStarter: func(ctx context.Context, tracer trace.Tracer, name string, opts ...trace.SpanStartOption) trace.Span {
			_, span := tracer.Start(ctx, name, opts...)
			return discreet{span}
		},
	})
	if err != nil {
		return err
	}
	o.Interceptors = append([]interceptor.ClientInterceptor{traced}, o.Interceptors...)
	return nil
}

// discreet is a span that tells of an error the code alone: its text may hold what a device or a model said.
type discreet struct{ trace.Span }

// RecordError notes the code.
func (d discreet) RecordError(err error, _ ...trace.EventOption) {
	if err == nil {
		return
	}
	code := observe.CodeOf(err)
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		code = schema.Code(app.Type())
	}
	d.SetAttributes(observe.CodeKey.String(string(code)))
}

// SetStatus leaves the text out.
func (d discreet) SetStatus(code codes.Code, _ string) { d.Span.SetStatus(code, "") }

// Propagator carries a span's place from process to process: two ids and a flag. Baggage and trace state, into which a client could put
// anything, stay out of what Temporal stores.
func Propagator() propagation.TextMapPropagator { return placeOnly{} }

type placeOnly struct{ propagation.TraceContext }

// Extract reads the place.
func (p placeOnly) Extract(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	ctx = p.TraceContext.Extract(ctx, carrier)
	sc := trace.SpanContextFromContext(ctx)
	if sc.TraceState().Len() == 0 {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, sc.WithTraceState(trace.TraceState{}))
}
