package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"gns3copilot/schema"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// exportWait bounds the sending of one batch, flushWait all that is left at the end.
	exportWait = 10 * time.Second
	flushWait  = 3 * time.Second
	// complainEvery is how often the log says that the collector can't be reached.
	complainEvery = 5 * time.Minute
	tracesPath    = "/v1/traces"
)

// exporter sends spans to a collector. When it can't, the spans are lost and the log says so once in a while; nothing else notices.
type exporter struct {
	*otlptrace.Exporter
	http   *http.Client
	log    *slog.Logger
	over   context.Context // ends all sending
	giveUp context.CancelFunc

	mu         sync.Mutex
	lost       int // spans, since the last complaint
	complained time.Time
}

var _ sdktrace.SpanExporter = (*exporter)(nil)

func newExporter(endpoint string, log *slog.Logger) (*exporter, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil, schema.Errorf(schema.CodeInvalid, "The OTLP endpoint is not a URL.").WithHint("It looks like http://127.0.0.1:4318.")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = tracesPath
	}
	e := &exporter{log: log, http: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}
	e.over, e.giveUp = context.WithCancel(context.Background())
	e.Exporter, err = otlptracehttp.New(e.over, otlptracehttp.WithEndpointURL(u.String()), otlptracehttp.WithHTTPClient(e.http))
	if err != nil {
		return nil, schema.Errorf(schema.CodeInvalid, "The OTLP endpoint can't be used.").WithCause(err)
	}
	return e, nil
}

// ExportSpans sends a batch. It never fails: whoever made the spans has no use for that.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithTimeout(ctx, exportWait)
	defer cancel()
	defer context.AfterFunc(e.over, cancel)()
	err := e.over.Err() // a context that has ended cancels another one a moment later
	if err == nil {
		err = e.Exporter.ExportSpans(ctx, spans)
	}
	if err != nil {
		e.complain(len(spans), err)
	}
	return nil
}

func (e *exporter) complain(lost int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost += lost
	if now := time.Now(); now.Sub(e.complained) >= complainEvery {
		e.log.Warn("traces don't reach the collector", "spans_lost", e.lost, "error", err)
		e.complained, e.lost = now, 0
	}
}

// last lets the spans that are left be sent, within flushWait, and ends all sending.
func (e *exporter) last(shutdown func(context.Context) error) error {
	defer e.http.CloseIdleConnections()
	defer e.giveUp()
	defer time.AfterFunc(flushWait, e.giveUp).Stop()
	return shutdown(context.Background())
}
