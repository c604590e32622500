package observe

import (
	"bytes"
	"log/slog"
	"testing"

	"go.opentelemetry.io/otel/trace"
)

// TestLinesCarryIDs: what is learned later stands in later lines, a line's own value stands alone, and an untraced context names no trace.
func TestLinesCarryIDs(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(LogHandler{slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})})
	log.InfoContext(t.Context(), "before")
	ctx := WithIDs(t.Context(), "r1")
	SetUser(ctx, "u1")
	log.InfoContext(ctx, "user")
	SetTurn(ctx, "t1")
	log.With("a", 1).InfoContext(ctx, "turn")
	log.InfoContext(ctx, "own", "turn", "t2")
	traced := trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled}))
	log.InfoContext(traced, "traced")
	const want = `level=INFO msg=before
level=INFO msg=user request=r1 user=u1
level=INFO msg=turn a=1 request=r1 turn=t1 user=u1
level=INFO msg=own turn=t2 request=r1 user=u1
level=INFO msg=traced request=r1 turn=t1 user=u1 trace=01000000000000000000000000000000
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}
