// Package scriptmodel is an OpenAI-compatible model whose words a test or a benchmark writes: the one thing about a model that may be
// made up. Everything around the words is real HTTP.
package scriptmodel

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Step writes one answer of the model.
type Step func(*Reply)

// Server is a running model.
type Server struct {
	http    *httptest.Server
	mu      sync.Mutex
	scripts map[string][]Step
	any     Step
	asked   []Request
}

// Request is what the model was asked.
type Request struct {
	Messages []Message         `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

// Message is a message of a request.
type Message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// Start runs a model on a free loopback port.
func Start() *Server {
	s, err := StartAt("127.0.0.1:0")
	if err != nil {
		panic(err) // no port is free
	}
	return s
}

// StartAt runs a model at an address, such as that of an earlier one.
func StartAt(address string) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{scripts: map[string][]Step{}}
	s.http = &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(s.complete)}}
	s.http.Start()
	return s, nil
}

// Address is where it listens, HOST:PORT.
func (s *Server) Address() string { return s.http.Listener.Addr().String() }

// BaseURL is the address up to /v1.
func (s *Server) BaseURL() string { return s.http.URL + "/v1" }

// Close ends the model and every answer under way.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// On sets what the model answers to a user's message, one step for each time it is asked within the turn.
func (s *Server) On(message string, steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[message] = steps
}

// Otherwise sets what it answers to messages without a script.
func (s *Server) Otherwise(step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.any = step
}

// Asked lists the requests so far, those for titles left out.
func (s *Server) Asked() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.asked...)
}

// titleOf is what a request for a title gets.
const titleOf = "A scripted title"

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	var in Request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if fault := unpaired(in.Messages); fault != "" {
		http.Error(w, fmt.Sprintf(`{"error":{"message":%q}}`, fault), http.StatusBadRequest)
		return
	}
	reply := &Reply{w: w, flush: w.(http.Flusher), Request: in, gone: r.Context().Done()}
	if len(in.Tools) == 0 {
		reply.Say(titleOf)
		reply.end()
		return
	}
	step := s.next(in)
	if step == nil {
		http.Error(w, `{"error":{"message":"no script for this message"}}`, http.StatusBadRequest)
		return
	}
	step(reply)
	reply.end()
}

// unpaired refuses what the strictest providers refuse: a call without its one result right behind it, a result without a call, an id that
// is used twice.
func unpaired(messages []Message) string {
	open, seen := map[string]bool{}, map[string]bool{}
	for i, m := range messages {
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return fmt.Sprintf("message %d: the result %q answers no open call", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		}
		for id := range open {
			return fmt.Sprintf("message %d: the call %q has no result", i, id)
		}
		for _, c := range m.ToolCalls {
			if c.ID == "" || seen[c.ID] {
				return fmt.Sprintf("message %d: the call id %q is empty or used twice", i, c.ID)
			}
			open[c.ID], seen[c.ID] = true, true
		}
	}
	for id := range open {
		return fmt.Sprintf("the call %q has no result", id)
	}
	return ""
}

// next finds the step: the turn's user message names the script, the answers since then are the steps that have been.
func (s *Server) next(in Request) Step {
	user, answers := "", 0
	for _, m := range in.Messages {
		switch m.Role {
		case "user":
			user, answers = m.Content, 0
		case "assistant":
			answers++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, in)
	if steps, ok := s.scripts[user]; ok && answers < len(steps) {
		return steps[answers]
	}
	return s.any
}

// Reply is an answer being written.
type Reply struct {
	Request Request
	w       http.ResponseWriter
	flush   http.Flusher
	gone    <-chan struct{}
	begun   bool
	broken  bool
	calls   int
}

// Gone is closed when the client has hung up.
func (r *Reply) Gone() <-chan struct{} { return r.gone }

// Say streams a piece of text.
func (r *Reply) Say(text string) { r.chunk(map[string]any{"content": text}, nil) }

// Call streams a tool call, its arguments in two pieces.
func (r *Reply) Call(name, arguments string) {
	half := len(arguments) / 2
	r.CallInPieces(name, func() {}, arguments[:half], arguments[half:])
}

// CallInPieces streams a tool call, its arguments in these pieces, and calls between before each piece but the first.
func (r *Reply) CallInPieces(name string, between func(), pieces ...string) {
	index := r.calls
	r.calls++
	r.chunk(map[string]any{"tool_calls": []any{map[string]any{"index": index, "id": fmt.Sprintf("call_%d", index), "type": "function",
		"function": map[string]any{"name": name, "arguments": pieces[0]}}}}, nil)
	for _, piece := range pieces[1:] {
		between()
		r.chunk(map[string]any{"tool_calls": []any{map[string]any{"index": index, "function": map[string]any{"arguments": piece}}}}, nil)
	}
}

// Hold waits for the channel; it is false when the client hung up first.
func (r *Reply) Hold(until <-chan struct{}) bool {
	r.flush.Flush()
	select {
	case <-until:
		return true
	case <-r.gone:
		return false
	}
}

// Event streams a piece of data as it stands, such as an error object.
func (r *Reply) Event(data string) {
	r.begin()
	fmt.Fprintf(r.w, "data: %s\n\n", data)
	r.flush.Flush()
}

// Silence sends nothing, no header either, until the client hangs up.
func (r *Reply) Silence() {
	r.broken = true
	<-r.gone
}

// Fail answers with an error status and JSON.
func (r *Reply) Fail(status int, body string) {
	r.Whole(status, body, "Content-Type", "application/json")
}

// Whole answers with one body of any kind in the place of a stream, its headers given as name and value in turn.
func (r *Reply) Whole(status int, body string, headers ...string) {
	r.broken = true
	for i := 0; i+1 < len(headers); i += 2 {
		r.w.Header().Set(headers[i], headers[i+1])
	}
	r.w.WriteHeader(status)
	fmt.Fprint(r.w, body)
}

// Cut breaks the connection off.
func (r *Reply) Cut() {
	r.broken = true
	panic(http.ErrAbortHandler)
}

func (r *Reply) end() {
	if r.broken {
		return
	}
	finish := "stop"
	if r.calls > 0 {
		finish = "tool_calls"
	}
	r.chunk(map[string]any{}, &finish)
	fmt.Fprint(r.w, `data: {"id":"x","object":"chat.completion.chunk","model":"scripted","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150}}`+"\n\ndata: [DONE]\n\n")
	r.flush.Flush()
}

func (r *Reply) begin() {
	if !r.begun {
		r.begun = true
		r.w.Header().Set("Content-Type", "text/event-stream")
	}
}

func (r *Reply) chunk(delta map[string]any, finish *string) {
	line, err := json.Marshal(map[string]any{"id": "x", "object": "chat.completion.chunk", "model": "scripted",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	if err != nil {
		panic(err)
	}
	r.Event(string(line))
}
