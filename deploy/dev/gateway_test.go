package dev_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"gns3copilot/schema"

	"github.com/coder/websocket"
)

// TestGateway is what the GNS3 server and its clients have of each other through us: all of it, as it is, and at once.
func TestGateway(t *testing.T) {
	w := startGateway(t, (*httptest.Server).Start, "")
	for name, test := range map[string]func(*testing.T, *gatewayWorld){
		"requests as they are":          requestsAsTheyAre,
		"answers as they are":           answersAsTheyAre,
		"redirects":                     redirects,
		"interim answers":               interimAnswers,
		"streams both ways":             streamsBothWays,
		"client leaves a stream":        clientLeavesAStream,
		"upstream dies in mid-answer":   upstreamDies,
		"upload refused":                uploadRefused,
		"client breaks an upload off":   uploadBrokenOff,
		"many sockets":                  manySockets,
		"a slow socket":                 slowSocket,
		"refused sockets":               refusedSockets,
		"client closes its socket":      clientClosesSocket,
		"upstream closes its socket":    upstreamClosesSocket,
		"upstream ignores a closed one": upstreamIgnoresClose,
		"client ignores a closed one":   clientIgnoresClose,
	} {
		t.Run(name, func(t *testing.T) { test(t, w) })
	}
	t.Run("tokens in no log", func(t *testing.T) {
		if text := w.log.String(); text == "" || strings.Contains(text, gatewayToken) {
			t.Errorf("a token is in the log, or nothing is:\n%s", text)
		}
	})
}

// gatewayToken is in every query of these tests, as browsers send it.
const gatewayToken = "sEcReT.of-a.user"

func requestsAsTheyAre(t *testing.T, w *gatewayWorld) {
	got := make(chan *http.Request, 1)
	w.gns3.HandleFunc("/v3/asis/", func(rw http.ResponseWriter, r *http.Request) { got <- r })
	const path = "/v3/asis/a%2Fb/c%20d?token=" + gatewayToken + "&q=a;b&q=%zz&empty"
	w.do(t, http.MethodPut, path, strings.NewReader("{}"), "Authorization", "Bearer x", "X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https",
		"Connection", "X-Hop", "X-Hop", "1", "Te", "trailers", "Proxy-Connection", "keep-alive", "Cookie", "a=b")
	r := soon(t, "the request", got)
	if r.RequestURI != path || r.Method != http.MethodPut || r.ContentLength != 2 {
		t.Errorf("%s %s of %d bytes", r.Method, r.RequestURI, r.ContentLength)
	}
	if r.Host != w.host {
		t.Errorf("host %q", r.Host)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer x", "Cookie": "a=b", "X-Forwarded-For": "192.0.2.1, 127.0.0.1", "X-Forwarded-Proto": "https",
		"X-Forwarded-Host": strings.TrimPrefix(w.URL(), "http://"), "X-Hop": "", "Te": "trailers", "Proxy-Connection": "", "Accept-Encoding": "",
	} {
		if have := strings.Join(r.Header.Values(name), "|"); have != want {
			t.Errorf("%s: %q, not %q", name, have, want)
		}
	}
	w.do(t, http.MethodGet, "/v3/asis/plain", nil)
	if r = soon(t, "the request", got); r.Header.Get("X-Forwarded-For") != "127.0.0.1" || r.Header.Get("X-Forwarded-Proto") != "http" {
		t.Errorf("%v", r.Header)
	}
}

func answersAsTheyAre(t *testing.T, w *gatewayWorld) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprint(z, "packed by GNS3")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		status int
		header http.Header
		body   string
	}{
		{401, http.Header{"Www-Authenticate": {"Bearer"}, "Content-Type": {"application/json"}}, `{"message": "Could not validate credentials"}`},
		{409, http.Header{"Content-Type": {"application/json"}}, `{"message": "Project is not opened"}`},
		{422, http.Header{"Content-Type": {"application/json"}}, `{"detail": [{"loc": ["body"]}]}`},
		{500, http.Header{"Content-Type": {"text/plain"}}, "Internal Server Error"},
		{502, http.Header{"Content-Type": {"text/html"}}, "<h1>Bad gateway</h1>"},
		{204, http.Header{}, ""},
		{200, http.Header{"Set-Cookie": {"a=1", "b=2"}, "Content-Type": nil}, "<html>of no kind"},
		{200, http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {"text/plain"}}, packed.String()},
	} {
		path := fmt.Sprintf("/v3/answer/%d", i)
		w.gns3.HandleFunc(path, func(rw http.ResponseWriter, _ *http.Request) {
			for name, values := range c.header {
				rw.Header()[name] = values
			}
			rw.WriteHeader(c.status)
			_, _ = io.WriteString(rw, c.body)
		})
		resp := w.do(t, http.MethodGet, path, nil)
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != c.status || string(body) != c.body {
			t.Errorf("%d %q, not %d %q: %v", resp.StatusCode, body, c.status, c.body, err)
		}
		for _, ours := range []string{"X-Request-Id", "Date", "Content-Length"} {
			resp.Header.Del(ours)
		}
		if c.header["Content-Type"] == nil { // GNS3 says none, and so do we
			delete(c.header, "Content-Type")
		}
		if fmt.Sprint(resp.Header) != fmt.Sprint(c.header) {
			t.Errorf("%v, not %v", resp.Header, c.header)
		}
	}
}

func redirects(t *testing.T, w *gatewayWorld) {
	for i, c := range []struct{ said, want string }{
		{"/static/web-ui/bundled?a=b#c", "/static/web-ui/bundled?a=b#c"},
		{"http://" + w.host + "/v3/projects/a%2Fb/?x=%20", "/v3/projects/a%2Fb/?x=%20"},
		{"https://" + w.host + "/v3/projects/", "/v3/projects/"},
		{"//" + w.host + "/v3/projects/", "/v3/projects/"},
		{"http://" + w.host, "/"},
		{"http://" + w.host + "//elsewhere.example/", "/elsewhere.example/"},
		{"bundled", "bundled"},
		{"../bundled", "../bundled"},
		{"https://docs.gns3.com/x", "https://docs.gns3.com/x"},
		{"http://127.0.0.1/x", "http://127.0.0.1/x"}, // the same machine's other server
	} {
		path := fmt.Sprintf("/v3/redirect/%d", i)
		w.gns3.HandleFunc(path, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Location", c.said)
			rw.WriteHeader(http.StatusTemporaryRedirect)
		})
		if resp := w.do(t, http.MethodGet, path, nil); resp.StatusCode != http.StatusTemporaryRedirect || resp.Header.Get("Location") != c.want {
			t.Errorf("%s became %d %s, not %s", c.said, resp.StatusCode, resp.Header.Get("Location"), c.want)
		}
	}
}

// interimAnswers: an upload that asks first is told by the GNS3 server, and the real answer still gets through after an interim one.
func interimAnswers(t *testing.T, w *gatewayWorld) {
	w.gns3.HandleFunc("/v3/interim/refused", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusUnauthorized) })
	w.gns3.HandleFunc("/v3/interim/taken", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Link", "</style.css>")
		rw.WriteHeader(http.StatusEarlyHints)
		n, err := io.Copy(io.Discard, r.Body)
		rw.WriteHeader(http.StatusConflict)
		fmt.Fprint(rw, n, err)
	})
	unread := strings.NewReader(strings.Repeat("x", 1<<20))
	if resp := w.do(t, http.MethodPost, "/v3/interim/refused", unread, "Expect", "100-continue"); resp.StatusCode != http.StatusUnauthorized || unread.Len() != 1<<20 {
		t.Errorf("%d with %d bytes left", resp.StatusCode, unread.Len())
	}
	resp := w.do(t, http.MethodPost, "/v3/interim/taken", strings.NewReader(strings.Repeat("x", 1<<20)), "Expect", "100-continue")
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusConflict || string(body) != "1048576 <nil>" || resp.Header.Get("X-Request-Id") == "" {
		t.Errorf("%d %q %v", resp.StatusCode, body, resp.Header)
	}
}

// streamsBothWays: headers come before there is a body, and each piece, up and down, before the next is written.
func streamsBothWays(t *testing.T, w *gatewayWorld) {
	begin := make(chan struct{})
	w.gns3.HandleFunc("/v3/both", func(rw http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(rw)
		_ = control.EnableFullDuplex()
		_ = control.Flush()
		<-begin
		piece := make([]byte, 100)
		for {
			n, err := r.Body.Read(piece)
			if n > 0 {
				_, _ = rw.Write(bytes.ToUpper(piece[:n]))
				_ = control.Flush()
			}
			if err != nil {
				return
			}
		}
	})
	up, pieces := io.Pipe()
	resp := w.do(t, http.MethodPost, "/v3/both?token="+gatewayToken, up)
	close(begin)
	for _, said := range []string{"one", "two", "three"} {
		if _, err := io.WriteString(pieces, said); err != nil {
			t.Fatal(err)
		}
		heard := make([]byte, len(said))
		if _, err := io.ReadFull(resp.Body, heard); err != nil || string(heard) != strings.ToUpper(said) {
			t.Fatalf("%q %v", heard, err)
		}
	}
	if err := pieces.Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Errorf("%q %v", rest, err)
	}
}

// clientLeavesAStream, whether or not its length was told.
func clientLeavesAStream(t *testing.T, w *gatewayWorld) {
	left := make(chan struct{})
	w.gns3.HandleFunc("/v3/left/{how}", func(rw http.ResponseWriter, r *http.Request) {
		if r.PathValue("how") == "counted" {
			rw.Header().Set("Content-Length", "1000")
		}
		fmt.Fprint(rw, "begun")
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
		left <- struct{}{}
	})
	for _, how := range []string{"counted", "chunked"} {
		resp := w.do(t, http.MethodGet, "/v3/left/"+how, nil)
		if _, err := io.ReadFull(resp.Body, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		soon(t, "the end of the GNS3 server's stream", left)
	}
}

// upstreamDies: an answer that breaks off must not look whole.
func upstreamDies(t *testing.T, w *gatewayWorld) {
	w.gns3.HandleFunc("/v3/dies/{how}", func(rw http.ResponseWriter, r *http.Request) {
		if r.PathValue("how") == "counted" {
			rw.Header().Set("Content-Length", "100")
		}
		fmt.Fprint(rw, "begun")
		_ = http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler)
	})
	for _, how := range []string{"counted", "chunked"} {
		resp := w.do(t, http.MethodGet, "/v3/dies/"+how+"?token="+gatewayToken, nil)
		body, err := io.ReadAll(resp.Body)
		if string(body) != "begun" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %q %v", how, body, err)
		}
	}
	w.gns3.HandleFunc("/v3/dies/at/once", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	checkUnavailable(t, w.do(t, http.MethodPost, "/v3/dies/at/once?token="+gatewayToken, strings.NewReader("x")))
}

// checkUnavailable: what we say when the GNS3 server doesn't answer.
func checkUnavailable(t *testing.T, resp *http.Response) {
	t.Helper()
	var body schema.ErrorBody
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusBadGateway || body.Code != schema.CodeGNS3Unavailable || body.Message == "" || body.Hint == "" ||
		body.RequestID == "" || body.RequestID != resp.Header.Get("X-Request-Id") {
		t.Errorf("%d %+v", resp.StatusCode, body)
	}
}

// uploadRefused: the refusal reaches a client that is still sending.
func uploadRefused(t *testing.T, w *gatewayWorld) {
	w.gns3.HandleFunc("/v3/refuses", func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "no", http.StatusForbidden) })
	resp := w.do(t, http.MethodPost, "/v3/refuses", strings.NewReader(strings.Repeat("x", 8<<20)))
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusForbidden || string(body) != "no\n" {
		t.Errorf("%d %q %v", resp.StatusCode, body, err)
	}
}

// uploadBrokenOff: the GNS3 server learns of it at once, and isn't blamed; nor is it for a body that can't be read.
func uploadBrokenOff(t *testing.T, w *gatewayWorld) {
	begun, ended := make(chan struct{}), make(chan error, 1)
	w.gns3.HandleFunc("/v3/broken", func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadFull(r.Body, make([]byte, 5)); err != nil {
			return // the body that can't be read
		}
		close(begun)
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	})
	conn, _ := w.open(t, "POST /v3/broken HTTP/1.1", "Host: copilot", "Content-Length: 1000", "", "begun")
	soon(t, "the upload's beginning", begun)
	_ = conn.Close()
	if err := soon(t, "the upload's end", ended); err == nil {
		t.Error("an upload that was broken off looks whole")
	}
	_, r := w.open(t, "POST /v3/broken HTTP/1.1", "Host: copilot", "Transfer-Encoding: chunked", "", "no length")
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("%v %+v", err, resp)
	}
	if text := w.log.String(); strings.Contains(text, "path=/v3/broken") {
		t.Errorf("it is logged as a failure:\n%s", text)
	}
}

// TestGatewayToASecureServer: a GNS3 server behind a proxy of its own, with a certificate that nobody has signed and a path before its API,
// whose address was copied with /v3. When we stop, idle WebSockets and endless streams end with us, and both sides are told.
func TestGatewayToASecureServer(t *testing.T) {
	for _, newer := range []bool{false, true} {
		t.Run(map[bool]string{false: "HTTP/1.1", true: "HTTP/2"}[newer], func(t *testing.T) {
			w := startGateway(t, func(s *httptest.Server) { s.EnableHTTP2 = newer; s.StartTLS() }, "/lab/v3")
			ended := make(chan string, 2)
			w.gns3.HandleFunc("/lab/v3/moved", func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "https://"+r.Host+"/lab/v3/projects", http.StatusFound)
			})
			w.gns3.HandleFunc("/lab/v3/notifications", func(rw http.ResponseWriter, r *http.Request) {
				_ = http.NewResponseController(rw).Flush()
				<-r.Context().Done()
				ended <- "stream"
			})
			w.gns3.HandleFunc("/lab/v3/notifications/ws", func(rw http.ResponseWriter, r *http.Request) {
				conn, err := websocket.Accept(rw, r, nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.CloseNow()
				_ = conn.Write(t.Context(), websocket.MessageText, []byte("hello"))
				_, _, _ = conn.Read(t.Context())
				ended <- "socket"
			})
			if resp := w.do(t, http.MethodGet, "/v3/moved", nil); resp.Header.Get("Location") != "/v3/projects" {
				t.Errorf("%d %v", resp.StatusCode, resp.Header)
			}
			stream := w.do(t, http.MethodGet, "/v3/notifications", nil)
			socket, _, err := w.dial(t.Context(), "/v3/notifications/ws")
			if err != nil {
				t.Fatal(err)
			}
			defer socket.CloseNow()
			if _, said, err := socket.Read(t.Context()); err != nil || string(said) != "hello" {
				t.Fatalf("%q %v", said, err)
			}
			if err := w.Stop(); err != nil {
				t.Errorf("stop: %v", err)
			}
			if _, err := io.ReadAll(stream.Body); err == nil {
				t.Error("the stream looks whole")
			}
			if _, _, err := socket.Read(t.Context()); err == nil {
				t.Error("the socket lives on")
			}
			both := []string{soon(t, "the GNS3 server's end", ended), soon(t, "the GNS3 server's other end", ended)}
			if slices.Sort(both); !slices.Equal(both, []string{"socket", "stream"}) {
				t.Errorf("%v", both)
			}
		})
	}
}

// TestGatewayWithoutGNS3: the server goes away under a running stack.
func TestGatewayWithoutGNS3(t *testing.T) {
	var server *httptest.Server
	w := startGateway(t, func(s *httptest.Server) { s.Start(); server = s }, "")
	server.Close()
	checkUnavailable(t, w.do(t, http.MethodGet, "/v3/projects?token="+gatewayToken, nil))
	checkUnavailable(t, w.do(t, http.MethodPost, "/v3/images/upload/x.bin", strings.NewReader(strings.Repeat("x", 1<<20))))
	_, resp, err := w.dial(t.Context(), "/v3/notifications/ws?token="+gatewayToken)
	if err == nil {
		t.Fatal("a socket to nowhere")
	}
	checkUnavailable(t, resp)
	if text := w.log.String(); strings.Contains(text, gatewayToken) || !strings.Contains(text, "path=/v3/projects") {
		t.Errorf("the failure isn't logged, or with its token:\n%s", text)
	}
}
