package gns3

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testToken     = "eyJhbGciOiJIUzI1NiJ9.c2VjcmV0.bm90LWZvci1sb2dz"
	testProject   = "63e9a7d6-9a25-4893-bebc-39c40478ea9d"
	closedProject = "55760f50-e8f4-468a-aa1d-4de9f753d7f1"
)

// recorded gives a reply of a GNS3 server 3.1.0a2, trimmed, with the paths of a usual installation.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// routes maps "METHOD /path" to what answers there.
type routes map[string]http.HandlerFunc

func reply(status int, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write(body)
	}
}

// withToken answers as GNS3 does when the request brings the test's token, else as it does to a stranger.
func withToken(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+testToken {
			reply(http.StatusUnauthorized, []byte(`{"message":"Not authenticated"}`))(w, r)
			return
		}
		next(w, r)
	}
}

func (rs routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h, ok := rs[r.Method+" "+r.URL.Path]; ok {
		h(w, r)
		return
	}
	reply(http.StatusNotFound, []byte(`{"detail":"Not Found"}`))(w, r)
}

// lab serves the recorded project.
func lab(t *testing.T) routes {
	get := func(file string) http.HandlerFunc { return withToken(reply(200, recorded(t, file))) }
	return routes{
		"GET /v3/access/users/me":                      get("me.json"),
		"GET /v3/projects/" + testProject:              get("project.json"),
		"GET /v3/projects/" + testProject + "/nodes":   get("nodes.json"),
		"GET /v3/projects/" + testProject + "/links":   get("links.json"),
		"GET /v3/projects/" + closedProject:            get("project_closed.json"),
		"GET /v3/projects/" + closedProject + "/nodes": get("nodes_closed.json"),
		"GET /v3/projects/" + closedProject + "/links": withToken(reply(200, []byte("[]"))),
	}
}

// serve starts h and gives a client of it.
func serve(t *testing.T, h http.Handler, o Options) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return newClient(t, srv.URL, o)
}

func newClient(t *testing.T, url string, o Options) *Client {
	t.Helper()
	c, err := New(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// debugLog collects everything that a client logs.
func debugLog(w *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(io.Writer(w), &slog.HandlerOptions{Level: slog.LevelDebug}))
}
