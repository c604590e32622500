package gns3

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gns3copilot/schema"
)

func TestMe(t *testing.T) {
	c := serve(t, lab(t), Options{})
	u, err := c.Me(t.Context(), testToken)
	if err != nil {
		t.Fatal(err)
	}
	want := User{ID: "dceeb351-b3a2-4482-a1a8-26850e233b0f", Username: "admin", FullName: "Super Administrator", IsActive: true, IsSuperadmin: true}
	if u != want { // the e-mail address is null in the reply
		t.Errorf("got %+v, want %+v", u, want)
	}
}

func TestMeTrustsNoNamelessIdentity(t *testing.T) {
	for _, tt := range []struct {
		body string
		want schema.Code
	}{
		{`{}`, schema.CodeGNS3Unavailable},
		{`null`, schema.CodeGNS3Unavailable},
		{`{"username":"admin","is_active":true}`, schema.CodeGNS3Unavailable},
		{`{"user_id":"1","username":"bob","is_active":false}`, schema.CodeUnauthorized},
	} {
		c := serve(t, routes{"GET /v3/access/users/me": reply(200, []byte(tt.body))}, Options{})
		if _, err := c.Me(t.Context(), testToken); schema.CodeOf(err) != tt.want {
			t.Errorf("%s: got %v, want %s", tt.body, err, tt.want)
		}
	}
}

func TestUnusableTokensAreNeverSent(t *testing.T) {
	var requests atomic.Int32
	c := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }), Options{})
	for _, token := range []string{"", "a b", "a\r\nX-Evil: 1", "ключ"} {
		if _, err := c.Me(t.Context(), token); schema.CodeOf(err) != schema.CodeUnauthorized {
			t.Errorf("token %q: %v", token, err)
		}
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestAuthenticate(t *testing.T) {
	c := serve(t, routes{"POST /v3/access/users/authenticate": func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "":
			w.WriteHeader(http.StatusTeapot)
		case string(body) == `{"username":"admin","password":"s3\"cret"}`:
			reply(200, []byte(`{"access_token":"`+testToken+`","token_type":"bearer"}`))(w, r)
		default:
			reply(401, recorded(t, "error_401_password.json"))(w, r)
		}
	}}, Options{})

	token, err := c.Authenticate(t.Context(), "admin", `s3"cret`)
	if err != nil || token != testToken {
		t.Errorf("got %q, %v", token, err)
	}
	_, err = c.Authenticate(t.Context(), "admin", "wrong")
	if e := schema.AsError(err); e.Code != schema.CodeUnauthorized || e.Message != "Authentication was unsuccessful." {
		t.Errorf("got %v", err)
	}
}

func TestProjects(t *testing.T) {
	c := serve(t, lab(t), Options{})
	for id, want := range map[string]string{testProject: "opened", closedProject: "closed"} {
		p, err := c.Project(t.Context(), testToken, id)
		if err != nil || p.ID != id || p.Status != want || p.Opened() != (want == "opened") {
			t.Errorf("%s: got %+v, %v, want status %s", id, p, err, want)
		}
	}
}

func TestProjectIDsThatWouldReadSomethingElse(t *testing.T) {
	var requests atomic.Int32
	c := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }), Options{})
	for _, id := range []string{"", "undefined", "..", "../access/users", testProject + "/nodes", testProject + "?x=1", "%2e%2e"} {
		if _, err := c.Project(t.Context(), testToken, id); schema.CodeOf(err) != schema.CodeInvalid {
			t.Errorf("Project %q: %v", id, err)
		}
		if _, err := c.Topology(t.Context(), testToken, id); schema.CodeOf(err) != schema.CodeInvalid {
			t.Errorf("Topology %q: %v", id, err)
		}
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestBaseURL(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v3/access/users/me", "/gns3/v3/access/users/me":
			w.Write(recorded(t, "me.json"))
		default:
			w.WriteHeader(404)
		}
	}))
	defer srv.Close()
	for _, suffix := range []string{"", "/", "/v3", "/v3/", "/gns3", "/gns3/v3/"} {
		if _, err := newClient(t, srv.URL+suffix, Options{}).Me(t.Context(), testToken); err != nil {
			t.Errorf("%q: %v", suffix, err)
		}
	}
	for _, url := range []string{"", "127.0.0.1:3080", "localhost:3080", "ftp://h", "http://", "http:h", "http://h:port",
		"http://admin:hunter2@h:3080", "http://h/?token=hunter2", "http://admin:hunter2@h:bad port"} {
		_, err := New(url, Options{})
		if e := schema.AsError(err); e == nil || e.Code != schema.CodeInvalid || e.Hint == "" {
			t.Errorf("%q: got %v", url, err)
		} else if strings.Contains(e.Error()+e.Hint, "hunter2") {
			t.Errorf("%q: the error repeats the password: %v, %s", url, e, e.Hint)
		}
	}
}

func TestConnectionsAreReused(t *testing.T) {
	var opened atomic.Int32
	srv := httptest.NewUnstartedServer(lab(t))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	c := newClient(t, srv.URL, Options{})
	for range 20 {
		if _, err := c.Me(t.Context(), testToken); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Me(t.Context(), "stranger"); schema.CodeOf(err) != schema.CodeUnauthorized {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("40 calls took %d connections", n)
	}
}

func TestHTTPS(t *testing.T) {
	srv := httptest.NewUnstartedServer(lab(t))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of each failed handshake
	srv.StartTLS()
	defer srv.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})

	if _, err := newClient(t, srv.URL, Options{CA: ca}).Me(t.Context(), testToken); err != nil {
		t.Errorf("with its CA: %v", err)
	}
	if _, err := newClient(t, srv.URL, Options{Insecure: true}).Me(t.Context(), testToken); err != nil {
		t.Errorf("insecure: %v", err)
	}
	_, err := newClient(t, srv.URL, Options{}).Me(t.Context(), testToken)
	e := schema.AsError(err)
	if e == nil || e.Code != schema.CodeGNS3Unavailable || !strings.Contains(e.Message, "certificate") ||
		!strings.Contains(e.Hint, "CA") || !strings.Contains(e.Hint, srv.URL) {
		t.Errorf("unverified: %v, hint %q", err, e.Hint)
	}
	if _, err := New(srv.URL, Options{CA: []byte("not a certificate")}); schema.CodeOf(err) != schema.CodeInvalid {
		t.Errorf("bad CA: %v", err)
	}
}

func TestTimeoutAndCancellation(t *testing.T) {
	hang := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c := serve(t, hang, Options{Timeout: 50 * time.Millisecond})
	if _, err := c.Me(t.Context(), testToken); schema.CodeOf(err) != schema.CodeGNS3Unavailable || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("timeout: %v", err)
	}

	arrived := make(chan struct{})
	c = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	}), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if _, err := c.Me(ctx, testToken); schema.CodeOf(err) != schema.CodeAborted || !errors.Is(err, context.Canceled) {
		t.Errorf("cancellation: %v", err)
	}
}

func TestTimeoutBoundsTheBodyToo(t *testing.T) {
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"user_id":`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}), Options{Timeout: 50 * time.Millisecond})
	if _, err := c.Me(t.Context(), testToken); schema.CodeOf(err) != schema.CodeGNS3Unavailable {
		t.Errorf("got %v", err)
	}
}
