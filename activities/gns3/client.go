// Package gns3 is a small client of the GNS3 server's REST API, version 3. Every request is made with the caller's own bearer
// token, so that a tool can do no more than its user, and the API server learns from GNS3 itself who a token belongs to.
//
// A request that changes something is sent once: nothing in here repeats it, and MayHaveHappened tells whether one that failed
// can have had its effect.
//
// All failures are *schema.Error: what GNS3 says (401, 403, 404, 409, 4xx) keeps its meaning and GNS3's own sentence; whatever
// else stands in the way of an answer is CodeGNS3Unavailable with a hint that names the URL to check. Neither errors nor logs
// hold tokens, passwords or paths of the server.
package gns3

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/cache"
	"gns3copilot/schema/observe"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

const (
	defaultTimeout = 10 * time.Second
	// GNS3 closes a connection that was idle for 5 s. Letting go first avoids a request that meets the close on its way,
	// which could not be repeated if it were a POST.
	idleTimeout = 4 * time.Second
	// Idle connections kept: the three parallel reads of a topology for a handful of turns.
	idleConnections = 16

	maxBody      = 32 << 20
	maxErrorBody = 64 << 10
)

// Options are what a Client can be given; the zero value is good for plain HTTP and for HTTPS with a public certificate.
type Options struct {
	// CA is one or more PEM certificates that are trusted in addition to the system's.
	CA []byte
	// Insecure accepts any certificate.
	Insecure bool
	// ConsoleHost, if set, is where the nodes' own consoles are reached, whatever address GNS3 gives for them. It is for
	// servers behind a tunnel or an address translation. Remote consoles of Cloud nodes keep their address.
	ConsoleHost string
	// Timeout bounds each request that reads, with its body; 10 s if zero. Requests that change something have bounds of
	// their own.
	Timeout time.Duration
	// Transport replaces the HTTP transport; CA and Insecure then have no effect.
	Transport http.RoundTripper
	// Logger receives one debug line per request. It may be nil.
	Logger *slog.Logger
}

// Client speaks to one GNS3 server. It keeps connections open between calls and may be used by many goroutines.
type Client struct {
	base        *url.URL
	http        *http.Client
	timeout     time.Duration
	consoleHost string
	consoles    *cache.Cache[struct{}] // who may use which
	log         *slog.Logger
}

// New makes a client of the server at baseURL, such as http://127.0.0.1:3080 or https://lab.example/gns3; a final /v3 may be
// left away. It connects to nothing. A URL or a certificate that can't be used is CodeInvalid.
func New(baseURL string, o Options) (*Client, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, err
	}
	transport := o.Transport
	if transport == nil {
		if transport, err = newTransport(o); err != nil {
			return nil, err
		}
	}
	logger := o.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Client{
		base: base,
		http: &http.Client{
			Transport: transport,
			// A redirect means that the URL is wrong, and following one could carry the token elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		timeout:     cmp.Or(o.Timeout, defaultTimeout),
		consoleHost: o.ConsoleHost,
		consoles:    cache.New[struct{}](consoleRightLife, time.Now),
		log:         logger,
	}, nil
}

// Close gives the idle connections back. Requests that run are not disturbed.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// parseBase never repeats its input in an error: a URL with a password is one of the things it refuses.
func parseBase(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Opaque != "" {
		return nil, schema.Errorf(schema.CodeInvalid, "The GNS3 URL can't be used.").
			WithHint("Write it with its scheme, such as http://127.0.0.1:3080.")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, schema.Errorf(schema.CodeInvalid, "The GNS3 URL holds more than a server's address.").
			WithHint("Leave user name, password, ? and # away: %s is enough.", (&url.URL{Scheme: u.Scheme, Host: u.Host}).String())
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v3")
	u.RawPath = ""
	return u, nil
}

func newTransport(o Options) (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = idleConnections
	t.IdleConnTimeout = idleTimeout
	var err error
	t.TLSClientConfig, err = o.TLS()
	return t, err
}

// TLS says which certificates are good: those that can be verified, unless the operator says otherwise. It fails with CodeInvalid when CA can't
// be used.
func (o Options) TLS() (*tls.Config, error) {
	config := &tls.Config{InsecureSkipVerify: o.Insecure}
	if len(o.CA) == 0 {
		return config, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil { // a system without a store of its own
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(o.CA) {
		return nil, schema.Errorf(schema.CodeInvalid, "The CA file for GNS3 holds no PEM certificate.")
	}
	config.RootCAs = roots
	return config, nil
}

// request is one request to the API.
type request struct {
	method, path string // path is below /v3
	token        string // of the caller; "" where none is needed
	in, out      any    // what is sent and what the answer is decoded into; nil where there is nothing
	within       time.Duration
	// late is for requests that GNS3 can refuse with a conflict after it has begun to carry them out.
	late bool
}

// get reads path as the token's owner.
func (c *Client) get(ctx context.Context, token, path string, out any) error {
	return c.as(ctx, request{method: http.MethodGet, path: path, token: token, out: out})
}

// as sends a request that needs a token.
func (c *Client) as(ctx context.Context, q request) error {
	if !validToken(q.token) {
		return notCarriedOut(notAuthenticated())
	}
	return c.send(ctx, q)
}

// send makes one request and decodes its answer.
func (c *Client) send(ctx context.Context, q request) (err error) {
	ctx, span := observe.Start(ctx, "GNS3 "+q.method, attribute.String("url.path", q.path))
	defer func() { observe.End(span, err) }()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(q.within, c.timeout))
	defer cancel()
	resp, err := c.open(ctx, q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return c.noAnswer(err)
	}
	if len(body) > maxBody {
		return c.unavailable("The GNS3 server's answer is over %d MiB.", maxBody>>20)
	}
	if q.out == nil {
		return nil
	}
	if err := json.Unmarshal(body, q.out); err != nil {
		return c.notGNS3().WithCause(fmt.Errorf("decode answer: %w", err))
	}
	return nil
}

// open makes one request and gives its answer, whose body is to be closed, if it is a success.
func (c *Client) open(ctx context.Context, q request) (*http.Response, error) {
	if ctx.Err() != nil {
		return nil, notCarriedOut(c.noAnswer(context.Cause(ctx)))
	}
	ctx, mayBeSent := watchConnection(ctx)
	req, err := c.newRequest(ctx, q.method, q.path, q.token, q.in)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		c.log.DebugContext(ctx, "gns3 request failed", "method", q.method, "path", q.path, "duration", time.Since(start), "error", err)
		if !mayBeSent() {
			return nil, notCarriedOut(c.noAnswer(err))
		}
		return nil, c.noAnswer(err)
	}
	trace.SpanFromContext(ctx).SetAttributes(attribute.Int("http.response.status_code", resp.StatusCode))
	c.log.DebugContext(ctx, "gns3 request", "method", q.method, "path", q.path, "status", resp.StatusCode, "duration", time.Since(start))
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a part of it is enough, or none
	refusal := c.refusal(resp, body, q.token)
	if refusedUndone(resp.StatusCode, refusal.Message, q.late) {
		return nil, notCarriedOut(refusal)
	}
	return nil, refusal
}

func (c *Client) newRequest(ctx context.Context, method, path, token string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encode GNS3 request: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath("v3", path).String(), body)
	if err != nil {
		return nil, fmt.Errorf("make GNS3 request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, nil
}

func notAuthenticated() *schema.Error {
	return schema.Errorf(schema.CodeUnauthorized, "Not authenticated").WithHint("Sign in to GNS3.")
}

// validToken tells whether a token can stand in a header at all.
func validToken(token string) bool {
	for i := range len(token) {
		if token[i] <= ' ' || token[i] >= 0x7f {
			return false
		}
	}
	return token != ""
}
