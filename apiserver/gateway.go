package apiserver

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"

	"gns3copilot/schema"

	"github.com/labstack/echo/v4"
)

// gateway passes a request on to the GNS3 server, HTTP and WebSocket, without holding its body back.
func (s *Server) gateway(target *url.URL) echo.HandlerFunc {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	transport.Proxy = nil
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.SetXForwarded()
		},
		FlushInterval: -1, // notifications and consoles are streams
		ErrorLog:      slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	return func(c echo.Context) error {
		// A proxy has one error handler, and this one wants the request's context.
		own := *proxy
		own.ErrorHandler = func(_ http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil || errors.Is(err, http.ErrAbortHandler) {
				return // the client is gone
			}
			_ = s.fail(c, schema.Errorf(schema.CodeGNS3Unavailable, "The GNS3 server doesn't answer.").
				WithHint("Look whether it runs, and at the address this server was given with --gns3-url.").WithCause(err))
		}
		own.ServeHTTP(c.Response(), c.Request())
		return nil
	}
}
