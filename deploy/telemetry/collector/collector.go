// Package collector is a small receiver of traces, OTLP over HTTP, for tests and for measuring. It keeps what it gets in memory.
package collector

import (
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// maxRequest bounds a batch, in bytes.
const maxRequest = 64 << 20

// Span is a span as it came. The ids are hex, Parent "" for a root.
type Span struct {
	Trace, ID, Parent, Name string
	Start, End              time.Time
	Attributes              map[string]string
	Events                  []Event
	Failed                  bool
	// Raw is the whole span.
	Raw *tracepb.Span
}

// Event is something that happened within a span.
type Event struct {
	Name string
	At   time.Time
}

// Collector is a running receiver.
type Collector struct {
	url    string
	http   *http.Server
	served chan error

	mu    sync.Mutex
	spans []Span
}

// Start begins to listen on a free port of this machine.
func Start() (*Collector, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Collector{url: "http://" + listener.Addr().String(), served: make(chan error, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", c.take)
	c.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { c.served <- c.http.Serve(listener) }()
	return c, nil
}

// URL is the endpoint to send to.
func (c *Collector) URL() string { return c.url }

// Spans gives all that has come so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Close ends the receiver.
func (c *Collector) Close() error {
	err := c.http.Close()
	if served := <-c.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (c *Collector) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	var batch coltracepb.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &batch)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range batch.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, read(s))
			}
		}
	}
}

func read(s *tracepb.Span) Span {
	span := Span{
		Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()),
		Name: s.GetName(), Start: at(s.GetStartTimeUnixNano()), End: at(s.GetEndTimeUnixNano()), Attributes: map[string]string{},
		Failed: s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR, Raw: s,
	}
	for _, a := range s.GetAttributes() {
		span.Attributes[a.GetKey()] = valueText(a.GetValue())
	}
	for _, e := range s.GetEvents() {
		span.Events = append(span.Events, Event{Name: e.GetName(), At: at(e.GetTimeUnixNano())})
	}
	return span
}

func at(nano uint64) time.Time { return time.Unix(0, int64(nano)) }

// valueText is a string as it is, and anything else as protobuf prints it.
func valueText(v *commonpb.AnyValue) string {
	if s, ok := v.GetValue().(*commonpb.AnyValue_StringValue); ok {
		return s.StringValue
	}
	return v.String()
}
