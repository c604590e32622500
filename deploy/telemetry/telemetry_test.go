package telemetry

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gns3copilot/schema"

	"go.temporal.io/sdk/client"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// batch is how many spans the SDK sends at a time.
const batch = 512

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func started(t *testing.T, endpoint string) (*Telemetry, *lockedBuffer) {
	t.Helper()
	log := &lockedBuffer{}
	x, err := Start(Options{OTLPEndpoint: endpoint, Service: "test", Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return x, log
}

func (t *Telemetry) spans(n int) {
	for range n {
		_, span := t.Tracer().Start(context.Background(), "span")
		span.End()
	}
}

// TestLossIsToldOnce: several batches are lost, and one line says so.
func TestLossIsToldOnce(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	x, log := started(t, gone.URL)
	for range 3 {
		x.spans(10)
		if err := x.traces.ForceFlush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := x.Stop(); err != nil {
		t.Error(err)
	}
	if text := log.b.String(); strings.Count(text, "traces don't reach the collector") != 1 || !strings.Contains(text, "spans_lost=10") {
		t.Errorf("the log: %s", text)
	}
}

// TestEndIsBounded: a collector that never answers gets one batch at the end, and no other after the time is over.
func TestEndIsBounded(t *testing.T) {
	var asked atomic.Int32
	gone := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-gone
	}))
	defer silent.Close()
	defer close(gone)
	x, _ := started(t, silent.URL)
	x.spans(3 * batch)
	if err := x.Stop(); err != nil {
		t.Error(err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
}

func TestWhatCannotBeUsed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, c := range map[string]struct {
		o    Options
		want schema.Code
	}{
		"endpoint": {Options{OTLPEndpoint: "collector:4318"}, schema.CodeInvalid},
		"address":  {Options{OTLPEndpoint: "http://127.0.0.1:1", MetricsListen: taken.Addr().String()}, schema.CodeUnavailable},
	} {
		c.o.Log = slog.New(slog.DiscardHandler)
		if _, err := Start(c.o); schema.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOff: what is off makes no spans, and adds nothing to a Temporal client.
func TestOff(t *testing.T) {
	for name, x := range map[string]*Telemetry{"none": nil, "empty": {}} {
		_, span := x.Tracer().Start(t.Context(), "span")
		var o client.Options
		if err := x.Temporal(&o, nil); err != nil || span.IsRecording() || o.Interceptors != nil || o.MetricsHandler != nil || x.MetricsURL() != "" || x.Stop() != nil {
			t.Errorf("%s: %v %+v", name, err, o)
		}
	}
}
