package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
)

// modelDoor stands before the model and keeps what it is asked, and by whom.
type modelDoor struct {
	*httptest.Server
	mu   sync.Mutex
	keys map[string]bool
	said bytes.Buffer
}

func openDoor(t *testing.T, model *scriptmodel.Server) *modelDoor {
	t.Helper()
	to, err := url.Parse(strings.TrimSuffix(model.BaseURL(), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	d := &modelDoor{keys: map[string]bool{}}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a part tells as much
		d.mu.Lock()
		d.keys[r.Header.Get("Authorization")] = true
		d.said.Write(body)
		d.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(d.Close)
	return d
}

// openCollector takes traces as a collector does, and keeps what they say.
func (s *secretRun) openCollector() *httptest.Server {
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			unzipped, err := gzip.NewReader(r.Body)
			if err != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			body = unzipped
		}
		content, err := io.ReadAll(body)
		if err != nil { // of a process that was killed
			return
		}
		s.spans.Write(append(content, fmt.Sprint(r.Header)...))
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	s.t.Cleanup(collector.Close)
	return collector
}

// Projects of a GNS3 server that repeats what it is asked with: in an error of its own, in a refusal, and in a redirect.
const (
	tellingProject  = "00000000-0000-4000-8000-000000000500"
	refusingProject = "00000000-0000-4000-8000-000000000409"
	movedProject    = "00000000-0000-4000-8000-000000000307"
)

// openLabDoor stands before the lab and repeats tokens, as a server or a proxy before it may.
func openLabDoor(t *testing.T, lab *simlab.Lab) *httptest.Server {
	t.Helper()
	to, err := url.Parse(lab.URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) } // as if there were nobody
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.URL.Query().Get("token")
		answer := func(status int) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"message": "No for %s at %s"}`, said, r.URL)
		}
		switch {
		case strings.Contains(r.URL.Path, tellingProject):
			answer(http.StatusInternalServerError)
		case strings.Contains(r.URL.Path, refusingProject):
			answer(http.StatusConflict)
		case strings.Contains(r.URL.Path, movedProject):
			w.Header().Set("Location", "/v3/nowhere?token="+said)
			w.WriteHeader(http.StatusTemporaryRedirect)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(door.Close)
	return door
}
