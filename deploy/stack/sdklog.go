package stack

import (
	"context"
	"log/slog"
)

// sdkLog leaves out what Temporal's SDK says of failed activities: the worker's own line has the cause, and the turn's ids.
type sdkLog struct{ slog.Handler }

// Handle passes on anything else.
func (h sdkLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "Activity error." {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the filter.
func (h sdkLog) WithAttrs(attrs []slog.Attr) slog.Handler { return sdkLog{h.Handler.WithAttrs(attrs)} }

// WithGroup keeps the filter.
func (h sdkLog) WithGroup(name string) slog.Handler { return sdkLog{h.Handler.WithGroup(name)} }
