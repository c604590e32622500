package apiserver

import (
	"context"
	"net/http"
	"regexp"
	"time"

	"gns3copilot/schema/observe"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// plainID is a client's own request id that may stand in headers and logs as it is.
var plainID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Routes that aren't chat: what belongs to the GNS3 server, and what machines ask all the time. They are counted, and no more is told of them.
const (
	gatewayRoute = "/*"
	healthRoute  = "/healthz"
	readyRoute   = "/readyz"
)

// observe stands around every request. It gives the request an id, and tells the metrics, the log and the trace how it went. Of the
// address only the route's template is told: a query may hold a token.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start, route := time.Now(), c.Path()
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if !plainID.MatchString(id) {
			id = uuid.NewString()
		}
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		if route == gatewayRoute || route == healthRoute || route == readyRoute {
			defer func() {
				s.metrics.Request(c.Request().Context(), c.Request().Method, route, c.Response().Status, time.Since(start))
			}()
			return answered(c, next)
		}
		ctx, span := s.startSpan(c.Request(), route)
		ctx = observe.WithIDs(ctx, id)
		c.SetRequest(c.Request().WithContext(ctx))
		defer func() {
			method, status, took := c.Request().Method, c.Response().Status, time.Since(start)
			s.metrics.Request(ctx, method, route, status, took)
			s.log.InfoContext(ctx, "request", "method", method, "route", route, "status", status, "duration", took)
			endSpan(span, status)
		}()
		return answered(c, next)
	}
}

// answered has an error written, so that the status is known.
func answered(c echo.Context, next echo.HandlerFunc) error {
	if err := next(c); err != nil {
		c.Error(err)
	}
	return nil
}

// startSpan begins the span of a request, below the client's if it says so.
func (s *Server) startSpan(r *http.Request, route string) (ctx context.Context, span trace.Span) {
	ctx = s.propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	return s.tracer.Start(ctx, r.Method+" "+route, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("http.request.method", r.Method), attribute.String("http.route", route)))
}

func endSpan(span trace.Span, status int) {
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		observe.Fail(span, codeOf(status))
	}
	span.End()
}
