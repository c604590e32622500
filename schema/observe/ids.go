package observe

import (
	"context"
	"log/slog"
	"sync"

	"go.opentelemetry.io/otel/trace"
)

// ids say on whose behalf something runs. They are filled in as they become known, by whoever learns them.
type ids struct {
	mu                  sync.Mutex
	request, turn, user string
}

type idsKey struct{}

// WithIDs gives a context whose log lines carry the ids of the request or activity that begins here. request is "" for an activity.
func WithIDs(ctx context.Context, request string) context.Context {
	if request != "" {
		trace.SpanFromContext(ctx).SetAttributes(RequestKey.String(request))
	}
	return context.WithValue(ctx, idsKey{}, &ids{request: request})
}

// SetTurn notes which turn the request or activity is about.
func SetTurn(ctx context.Context, id string) {
	trace.SpanFromContext(ctx).SetAttributes(TurnKey.String(id))
	set(ctx, func(i *ids) { i.turn = id })
}

// SetUser notes who it is for.
func SetUser(ctx context.Context, id string) {
	trace.SpanFromContext(ctx).SetAttributes(UserKey.String(id))
	set(ctx, func(i *ids) { i.user = id })
}

func set(ctx context.Context, fn func(*ids)) {
	if i, ok := ctx.Value(idsKey{}).(*ids); ok {
		i.mu.Lock()
		defer i.mu.Unlock()
		fn(i)
	}
}

// logAttrs are what log lines carry of the context.
func logAttrs(ctx context.Context) []slog.Attr {
	var attrs []slog.Attr
	add := func(key, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(key, value))
		}
	}
	set(ctx, func(i *ids) {
		add("request", i.request)
		add("turn", i.turn)
		add("user", i.user)
	})
	if sc := trace.SpanContextFromContext(ctx); sc.IsSampled() {
		add("trace", sc.TraceID().String())
	}
	return attrs
}

// LogHandler adds the ids of the context to each line, unless the line has its own.
type LogHandler struct{ slog.Handler }

// Handle adds the ids and passes the line on.
func (h LogHandler) Handle(ctx context.Context, r slog.Record) error {
	own := map[string]bool{}
	r.Attrs(func(a slog.Attr) bool {
		own[a.Key] = true
		return true
	})
	for _, a := range logAttrs(ctx) {
		if !own[a.Key] {
			r.AddAttrs(a)
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the ids.
func (h LogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return LogHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the ids, inside the group.
func (h LogHandler) WithGroup(name string) slog.Handler { return LogHandler{h.Handler.WithGroup(name)} }
