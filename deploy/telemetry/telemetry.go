// Package telemetry sends a process's traces to a collector and shows its metrics, when it is told to.
package telemetry

import (
	"context"
	"errors"
	"log/slog"

	"gns3copilot/schema/observe"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// Options say where to. What is empty is off.
type Options struct {
	// OTLPEndpoint is the URL of a collector that takes OTLP over HTTP.
	OTLPEndpoint string
	// MetricsListen is where /metrics is served, HOST:PORT; port 0 takes a free one.
	MetricsListen string
	// Service names the process in traces, Version what runs in it.
	Service, Version string
	Log              *slog.Logger
}

// Telemetry is the running whole. All methods but Start's may be called on nil, which is off.
type Telemetry struct {
	exporter *exporter
	traces   *sdktrace.TracerProvider
	meters   *sdkmetric.MeterProvider
	page     *page
}

// Start begins to send and to show. It fails with CodeInvalid for a URL, and CodeUnavailable for an address, that can't be used.
func Start(o Options) (_ *Telemetry, err error) {
	t := &Telemetry{}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Stop())
		}
	}()
	if o.OTLPEndpoint != "" {
		if t.exporter, err = newExporter(o.OTLPEndpoint, o.Log); err != nil {
			return nil, err
		}
		about := resource.NewSchemaless(attribute.String("service.name", o.Service), attribute.String("service.version", o.Version))
		t.traces = sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(t.exporter))
	}
	if o.MetricsListen != "" {
		if t.meters, t.page, err = serveMetrics(o.MetricsListen, o.Log); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Traces tells whether spans go anywhere.
func (t *Telemetry) Traces() bool { return t != nil && t.traces != nil }

// Measures tells whether metrics are shown.
func (t *Telemetry) Measures() bool { return t != nil && t.meters != nil }

// Tracer makes spans, which go nowhere when tracing is off.
func (t *Telemetry) Tracer() trace.Tracer {
	if !t.Traces() {
		return tracenoop.NewTracerProvider().Tracer(observe.Scope)
	}
	return t.traces.Tracer(observe.Scope)
}

// Meter makes instruments, which count nothing when metrics are off.
func (t *Telemetry) Meter() metric.Meter {
	if !t.Measures() {
		return metricnoop.NewMeterProvider().Meter(observe.Scope)
	}
	return t.meters.Meter(observe.Scope)
}

// MetricsURL is where the metrics are, "" when they are off.
func (t *Telemetry) MetricsURL() string {
	if !t.Measures() {
		return ""
	}
	return t.page.url
}

// Stop sends what hasn't been sent, for a few seconds at most, and ends the page.
func (t *Telemetry) Stop() error {
	var errs []error
	if t.Traces() {
		errs = append(errs, t.exporter.last(t.traces.Shutdown))
	}
	if t.Measures() {
		errs = append(errs, t.page.stop(), t.meters.Shutdown(context.Background()))
	}
	return errors.Join(errs...)
}
