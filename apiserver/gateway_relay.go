package apiserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"gns3copilot/schema"

	"github.com/labstack/echo/v4"
)

// relay is what an answer of the GNS3 server is written to. It leaves the answer as it is, where echo and net/http would add to it.
type relay struct {
	*echo.Response
	end context.CancelFunc
}

// WriteHeader passes a status on. Interim ones aren't the answer, which echo takes them for.
func (w *relay) WriteHeader(status int) {
	if status >= 100 && status < 200 && status != http.StatusSwitchingProtocols {
		w.Writer.WriteHeader(status)
		return
	}
	if _, said := w.Header()["Content-Type"]; !said {
		w.Header()["Content-Type"] = nil // no guess
	}
	w.Response.WriteHeader(status)
}

// Hijack hands over a connection that becomes a WebSocket.
func (w *relay) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := w.Response.Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.Status, w.Committed = http.StatusSwitchingProtocols, true
	return halfOpenConn{conn}, buffered, nil
}

// watch has a WebSocket that the client closes closed at the GNS3 server as well.
func (w *relay) watch(res *http.Response) {
	if conn, ok := res.Body.(io.ReadWriteCloser); ok && res.StatusCode == http.StatusSwitchingProtocols {
		res.Body = halfOpenBody{conn, w.end}
	}
}

// halfOpenConn is the client's end of a WebSocket. When the GNS3 server closes the other one, the client is told at once, so that the last words
// get through, and given up when it doesn't close in its turn.
type halfOpenConn struct{ net.Conn }

// CloseWrite is called when the GNS3 server has closed its end.
func (c halfOpenConn) CloseWrite() error {
	if err := c.SetReadDeadline(time.Now().Add(halfOpenWait)); err != nil {
		return err
	}
	return closeWrite(c.Conn)
}

// halfOpenBody is the GNS3 server's end, the same the other way round.
type halfOpenBody struct {
	io.ReadWriteCloser
	end context.CancelFunc
}

// CloseWrite is called when the client has closed its end.
func (b halfOpenBody) CloseWrite() error {
	time.AfterFunc(halfOpenWait, b.end)
	return closeWrite(b.ReadWriteCloser)
}

func closeWrite(conn any) error {
	if c, ok := conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return http.ErrNotSupported
}

// upload is a request's body that remembers whether it was the client that broke it off.
type upload struct {
	io.ReadCloser
	broken atomic.Bool
}

// Read reads the client's bytes.
func (u *upload) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		u.broken.Store(true)
	}
	return n, err
}

// fault says whose fault it is that a request couldn't be passed on.
func (u *upload) fault(err error) error {
	if u.broken.Load() {
		return schema.Errorf(schema.CodeMalformed, "The request's body can't be read to its end.").WithCause(err)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return schema.Errorf(schema.CodeGNS3Unavailable, "The certificate of the GNS3 server can't be verified.").
			WithHint("Have this server started with the CA's certificate (--gns3-ca), or have it accept any (--gns3-insecure).").WithCause(err)
	}
	return schema.Errorf(schema.CodeGNS3Unavailable, "The GNS3 server doesn't answer.").
		WithHint("Look whether it runs, and at the address this server was given with --gns3-url.").WithCause(err)
}
