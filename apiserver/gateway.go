package apiserver

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"gns3copilot/schema"

	"github.com/labstack/echo/v4"
)

const (
	// gatewayIdle is how long a connection to the GNS3 server is kept for the next request. The server itself gives up idle ones after 5 s, and
	// a POST that meets that moment can't be repeated.
	gatewayIdle = 3 * time.Second
	// halfOpenWait is how long the one end of a WebSocket may take to close after the other has closed.
	halfOpenWait = 3 * time.Second
	// lateAnswer is how long GNS3 may take to answer a change of an account whose client has left.
	lateAnswer = 30 * time.Second
)

// gateway passes requests on to the GNS3 server, HTTP and WebSocket, without holding anything back in either direction.
type gateway struct {
	server *Server
	base   *url.URL
	proxy  httputil.ReverseProxy
	open   sync.WaitGroup // what is on its way, WebSockets too, which http.Server forgets about
}

// newGateway makes the gateway to the GNS3 server at address. It fails with CodeInvalid when that can't be read.
func newGateway(s *Server, address string, trust *tls.Config) (*gateway, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" {
		return nil, schema.Errorf(schema.CodeInvalid, "The GNS3 URL %q can't be read.", address)
	}
	// People copy the address with the API's prefix, which is in every request's path already.
	base.Path, base.RawPath = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/v3"), ""
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	transport.IdleConnTimeout = gatewayIdle
	transport.Proxy = nil
	transport.DisableCompression = true // or it would ask for it by itself, and unpack what the client should get as it is
	transport.TLSClientConfig = trust.Clone()
	return &gateway{server: s, base: base, proxy: httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // notifications and consoles are streams
		ErrorLog:      slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as the client wrote it
			r.SetURL(base)
			forward(r)
		},
	}}, nil
}

// forward says for whom the request is. What a proxy before us has said stands.
func forward(r *httputil.ProxyRequest) {
	r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
	r.SetXForwarded()
	for _, name := range []string{"X-Forwarded-Host", "X-Forwarded-Proto"} {
		if said := r.In.Header.Values(name); len(said) > 0 {
			r.Out.Header[name] = said
		}
	}
}

// pass is the handler of all that isn't ours.
func (g *gateway) pass(c echo.Context) error {
	g.open.Add(1)
	defer g.open.Done()
	password := watchPassword(c.Request())
	within := context.WithCancel
	if password != nil {
		within = untilLate
	}
	ctx, end := within(c.Request().Context())
	defer end()
	in := c.Request().WithContext(ctx)
	body := &upload{ReadCloser: in.Body}
	in.Body = body
	out := &relay{Response: c.Response(), end: end}
	// GNS3 may answer before it has read all, if only to refuse.
	if err := http.NewResponseController(out).EnableFullDuplex(); err != nil {
		return err
	}
	id := requestID(c)
	release := func() bool { return true }
	defer func() { release() }()
	own := g.proxy // its hooks know the request
	own.ModifyResponse = func(res *http.Response) error {
		out.Header().Set(echo.HeaderXRequestID, id)
		g.relocate(res.Header)
		if res.StatusCode/100 == 2 {
			if err := errors.Join(g.server.identities.ended(ctx, in, password), g.server.identities.begun(ctx, in, res)); err != nil {
				g.server.log.ErrorContext(ctx, "logins not kept in step with GNS3", "path", in.URL.Path, "error", err)
			}
		}
		if id := deletes(in, res.StatusCode); id != "" {
			g.server.ProjectDeleted(ctx, id)
		}
		if res.StatusCode == http.StatusSwitchingProtocols || endless(in.URL.Path) {
			release = context.AfterFunc(g.server.streams, end)
		}
		out.watch(res)
		return nil
	}
	own.ErrorHandler = func(_ http.ResponseWriter, _ *http.Request, err error) {
		if c.Request().Context().Err() != nil || out.Committed {
			return // nobody is there to be told, or all has been said
		}
		out.Header().Set(echo.HeaderXRequestID, id)
		guarded(out.Header(), policyData)
		// The client is gone when this can't be written.
		_ = g.server.fail(c, body.fault(err))
	}
	own.ServeHTTP(out, in)
	if ctx.Err() != nil && out.Status != http.StatusSwitchingProtocols {
		panic(http.ErrAbortHandler) // it was broken off, even if the GNS3 server's parting words made it look whole
	}
	return nil
}

// untilLate is for a request that GNS3 goes on with when its client leaves.
func untilLate(client context.Context) (context.Context, context.CancelFunc) {
	return schema.Outlive(client, lateAnswer)
}

// endless are the streams that GNS3 ends only when their listener goes: they would keep us from shutting down.
func endless(path string) bool {
	return strings.HasSuffix(path, "/notifications") || strings.HasSuffix(path, "/capture/stream")
}

// relocate makes a redirect within the GNS3 server one within this server.
func (g *gateway) relocate(h http.Header) {
	to, err := url.Parse(h.Get("Location"))
	if err != nil || to.Opaque != "" || to.Host == "" && !strings.HasPrefix(to.Path, "/") || to.Host != "" && !g.leadsTo(to) {
		return
	}
	// One slash alone begins a path; two would begin another server's name.
	path := "/" + strings.TrimLeft(strings.TrimPrefix(to.EscapedPath(), g.base.EscapedPath()), "/")
	if to.ForceQuery || to.RawQuery != "" {
		path += "?" + to.RawQuery
	}
	if to.Fragment != "" {
		path += "#" + to.EscapedFragment()
	}
	h.Set("Location", path)
}

// leadsTo reports whether the address is the GNS3 server's. The scheme may be the client's, which GNS3 takes from X-Forwarded-Proto.
func (g *gateway) leadsTo(to *url.URL) bool {
	return strings.EqualFold(to.Hostname(), g.base.Hostname()) && g.portOf(to) == g.portOf(g.base)
}

func (g *gateway) portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https" || u.Scheme == "" && g.base.Scheme == "https":
		return "443"
	}
	return "80"
}

// close waits until nothing is on its way any more, at most until ctx is over. The server must take no more requests by then.
func (g *gateway) close(ctx context.Context) error {
	over := make(chan struct{})
	go func() {
		defer close(over)
		g.open.Wait()
	}()
	select {
	case <-over:
		g.proxy.Transport.(*http.Transport).CloseIdleConnections()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
