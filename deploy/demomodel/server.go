// Package demomodel is a model for demonstrations without a network: a server with the OpenAI chat API whose "demo" model is
// some hundred lines of pattern matching. It understands requests to show something on named devices, to ping, to describe
// the topology, and to make a few simple changes of the configuration; it calls the matching tool and sums up nothing but what
// the tool returned. To everything else it answers that it is the offline demo model, what it can do, and how a real model is
// set.
//
// A request for a change is proposed in a sentence and called at once: whether a human confirms it first is for the tool's
// side. What a human has modified is called again exactly as modified; what was rejected, expired or failed isn't repeated.
//
// It has no part in the product's answers: whatever talks to it must treat it as any other OpenAI-compatible server.
package demomodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// ModelName is the only model that the server lists.
const ModelName = "demo"

const (
	maxRequest    = 32 << 20
	headerTimeout = 10 * time.Second
	closeTimeout  = 5 * time.Second
)

// Options say where the model listens and how fast it seems to think.
type Options struct {
	// Listen is a host:port; 127.0.0.1:0 if empty.
	Listen string
	// Logger receives a line per request, without its text. It may be nil.
	Logger *slog.Logger
	// ChunkDelay is the pause between two pieces of a streamed answer.
	ChunkDelay time.Duration
}

// Server is a running model. Close ends it.
type Server struct {
	listener   net.Listener
	http       *http.Server
	log        *slog.Logger
	chunkDelay time.Duration
	unused     unused
	stop       context.CancelFunc // ends the answers under way
	served     chan struct{}      // closed when the accepting goroutine has ended
}

// Start listens and serves until Close; ctx bounds the start alone.
func Start(ctx context.Context, o Options) (*Server, error) {
	address := o.Listen
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("start the demo model: %w", err)
	}
	s := &Server{listener: listener, log: o.Logger, chunkDelay: o.ChunkDelay, served: make(chan struct{})}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop

	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, fmt.Sprintf("The demo model has no %s %s.", r.Method, r.URL.Path))
	})
	s.http = &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: headerTimeout,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnState:         s.unused.note,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	go func() {
		defer close(s.served)
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the demo model stopped serving", "error", err)
		}
	}()
	return s, nil
}

// BaseURL is what an OpenAI client is given, such as http://127.0.0.1:40123/v1.
func (s *Server) BaseURL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Close ends the answers under way, stops listening and waits until all that is done. It may be called again.
func (s *Server) Close() error {
	s.stop()
	s.unused.close()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil { // a client that neither reads nor leaves
		err = errors.Join(err, s.http.Close())
	}
	<-s.served
	return err
}

// unused holds the connections on which nothing was asked yet. HTTP clients open some in advance, and Shutdown would wait for
// each until it is five seconds old.
type unused struct {
	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

func (u *unused) note(conn net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(u.conns, conn)
	case u.closed:
		conn.Close()
	default:
		if u.conns == nil {
			u.conns = map[net.Conn]struct{}{}
		}
		u.conns[conn] = struct{}{}
	}
}

func (u *unused) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for conn := range u.conns {
		conn.Close()
	}
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list",
		"data":   []any{map[string]any{"id": ModelName, "object": "model", "created": 0, "owned_by": "gns3-copilot-demo"}},
	})
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			writeError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("The request is over %d bytes.", tooLarge.Limit))
		}
		return // else the client is gone
	}
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		writeError(w, http.StatusBadRequest, "The request is not a chat completion request: "+err.Error())
		return
	}
	if len(req.Messages) == 0 {
		writeError(w, http.StatusBadRequest, "The request has no messages.")
		return
	}
	answer := newCompletion(req, respond(req), len(body))
	s.log.DebugContext(r.Context(), "demo model request", "messages", len(req.Messages), "stream", req.Stream,
		"tool_calls", len(answer.reply.calls))
	if !req.Stream {
		writeJSON(w, http.StatusOK, answer.whole())
		return
	}
	if err := answer.stream(r.Context(), w, s.chunkDelay); err != nil {
		s.log.DebugContext(r.Context(), "demo model stream ended early", "error", err)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(b) // a client that left needs no answer
}

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": nil}})
}
