package dev_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/deploy/dev"

	"github.com/coder/websocket"
)

// gatewayWorld is a stack in front of a GNS3 server of which a test writes every byte.
type gatewayWorld struct {
	*ownStack
	gns3 *http.ServeMux
	host string // of the GNS3 server
	log  *loggedText
}

// loggedText is a log that is read while it grows.
type loggedText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *loggedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *loggedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startGateway starts one. serve makes the server's listener answer; suffix stands behind its address in --gns3-url.
func startGateway(t *testing.T, serve func(*httptest.Server), suffix string) *gatewayWorld {
	t.Helper()
	w := &gatewayWorld{gns3: http.NewServeMux(), log: &loggedText{}}
	w.gns3.HandleFunc("GET "+strings.TrimSuffix(suffix, "/v3")+"/v3/version", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, `{"version": "3.1.0"}`) })
	server := httptest.NewUnstartedServer(w.gns3)
	serve(server)
	t.Cleanup(server.Close)
	w.host = server.Listener.Addr().String()
	w.ownStack = startOwn(t, func(o *dev.Options) {
		o.GNS3URL, o.GNS3Insecure = server.URL+suffix, true
		o.Log = slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	return w
}

// plainly is a client that neither follows nor unpacks.
func plainly(t *testing.T) *http.Client {
	transport := &http.Transport{DisableCompression: true, ExpectContinueTimeout: time.Minute}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// do sends a request to the stack, with headers given as name and value in turn, and gives the answer with its body unread.
func (w *gatewayWorld) do(t *testing.T, method, path string, body io.Reader, headers ...string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, w.URL()+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := plainly(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// dial connects a WebSocket.
func (w *gatewayWorld) dial(ctx context.Context, path string) (*websocket.Conn, *http.Response, error) {
	return websocket.Dial(ctx, "ws"+strings.TrimPrefix(w.URL(), "http")+path, &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{}}})
}

// open is a TCP connection to the stack with a request already written.
func (w *gatewayWorld) open(t *testing.T, lines ...string) (*net.TCPConn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn), bufio.NewReader(conn)
}

// upgraded is a WebSocket handshake without a WebSocket library behind it.
func (w *gatewayWorld) upgraded(t *testing.T, path string) (*net.TCPConn, *bufio.Reader) {
	t.Helper()
	conn, r := w.open(t, "GET "+path+" HTTP/1.1", "Host: copilot", "Connection: Upgrade", "Upgrade: websocket")
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v %+v", err, resp)
	}
	return conn, r
}

// takeOver answers an upgrade on the GNS3 server's side and gives the bare connection.
func takeOver(t *testing.T, w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return nil
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"); err != nil {
		t.Error(err)
	}
	return conn
}

// soon fails the test when what should end doesn't, within what anything of the product may take.
func soon[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatalf("in vain waited for: %s", what)
	}
	return v
}
