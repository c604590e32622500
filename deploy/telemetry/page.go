package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"gns3copilot/schema"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// pageWait bounds the end of requests for metrics that are under way.
const pageWait = time.Second

// page serves /metrics on a listener of its own, so that it need not be where users are.
type page struct {
	url    string
	http   *http.Server
	served chan error
}

// serveMetrics shows what is measured, and the Go runtime's own figures. It fails with CodeUnavailable.
func serveMetrics(listen string, log *slog.Logger) (*sdkmetric.MeterProvider, *page, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo())
	if err != nil {
		return nil, nil, err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, nil, schema.Errorf(schema.CodeUnavailable, "The address %s can't be listened on.", listen).
			WithHint("Choose another with --metrics-listen; port 0 takes a free one.").WithCause(err)
	}
	mux := http.NewServeMux()
	logger := slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorLog: logger}))
	p := &page{
		url: "http://" + listener.Addr().String() + "/metrics", served: make(chan error, 1),
		http: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)},
	}
	go func() { p.served <- p.http.Serve(listener) }()
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithView(inSeconds())), p, nil
}

// inSeconds gives all times the same buckets, from a millisecond to half an hour: the SDK's own begin at five seconds.
func inSeconds() sdkmetric.View {
	return sdkmetric.NewView(sdkmetric.Instrument{Name: "*", Kind: sdkmetric.InstrumentKindHistogram, Unit: "s"}, sdkmetric.Stream{
		Aggregation: sdkmetric.AggregationExplicitBucketHistogram{
			Boundaries: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}},
	})
}

func (p *page) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), pageWait)
	defer cancel()
	err := p.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, p.http.Close())
	}
	if served := <-p.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
