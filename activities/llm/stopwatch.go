package llm

import (
	"context"
	"time"

	"gns3copilot/schema/observe"

	"go.opentelemetry.io/otel/trace"
)

// stopwatch tells how long a call takes: to the first text, and in all.
type stopwatch struct {
	span  trace.Span
	start time.Time
	first time.Duration // 0 until there is text
}

func startWatch(ctx context.Context) (context.Context, *stopwatch) {
	ctx, span := observe.Start(ctx, "model request")
	return ctx, &stopwatch{span: span, start: time.Now()}
}

// note passes the pieces of an answer on and notes the first text. on may be nil.
func (w *stopwatch) note(on func(Delta) error) func(Delta) error {
	return func(d Delta) error {
		if w.first == 0 && d.Content != "" {
			w.first = time.Since(w.start)
			w.span.AddEvent(observe.EventFirstContent)
		}
		if on == nil {
			return nil
		}
		return on(d)
	}
}

// stop ends the call.
func (w *stopwatch) stop(ctx context.Context, m *observe.Metrics, err error) {
	m.ModelCall(ctx, err, time.Since(w.start), w.first)
	observe.End(w.span, err)
}
