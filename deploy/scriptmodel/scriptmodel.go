// Package scriptmodel is an OpenAI-compatible model whose words a test or a benchmark writes: the one thing about a model that may be
// made up. Everything around the words is real HTTP.
package scriptmodel

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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

	strict    *Strict
	sent      []json.RawMessage
	refusals  []Refusal
	reasoning map[string][]string // of answers with tool calls, by what they said
}

// Request is what the model was asked.
type Request struct {
	Model         string            `json:"model"`
	Messages      []Message         `json:"messages"`
	Tools         []json.RawMessage `json:"tools"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Header http.Header     `json:"-"`
	Raw    json.RawMessage `json:"-"` // the body as it came
}

// Message is a message of a request.
type Message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []Call `json:"tool_calls"`
}

// Call is a tool call of a message.
type Call struct {
	ID       string   `json:"id"`
	Function Function `json:"function"`
}

// Function is what a call asks for.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
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
	s := &Server{scripts: map[string][]Step{}, reasoning: map[string][]string{}}
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
	return slices.Clone(s.asked)
}

// Demand makes the model strict from the next request on.
func (s *Server) Demand(strict Strict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strict = &strict
}

// Sent lists the bodies of all requests so far, those for titles and refused ones too.
func (s *Server) Sent() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// Refusals lists what the model has refused so far.
func (s *Server) Refusals() []Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refusals)
}

// titleOf is what a request for a title gets.
const titleOf = "A scripted title"

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	in := Request{Header: r.Header, Raw: body}
	s.note(in)
	if refusal := s.judge(&in); refusal != nil {
		refusal.Body = body
		s.refused(*refusal)
		refusal.answer(w)
		return
	}
	reply := &Reply{w: w, flush: w.(http.Flusher), Request: in, gone: r.Context().Done(), reasoningField: "reasoning_content"}
	if strict := s.manners(); strict != nil {
		if strict.Reasoning != "" {
			reply.reasoningField = strict.Reasoning
		}
		reply.noUsage = in.StreamOptions == nil || !in.StreamOptions.IncludeUsage
	}
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
	// What is said last is known before the client can come back with it: end sends the last byte.
	reply.before = func() { s.remember(reply) }
	step(reply)
	reply.end()
}

// judge decodes the request and refuses what can't be served.
func (s *Server) judge(in *Request) *Refusal {
	if strict := s.manners(); strict != nil {
		if r := strict.check(in.Header, in.Raw, s.thoughts); r != nil {
			return r
		}
	}
	if err := json.Unmarshal(in.Raw, in); err != nil {
		return refuse(RuleJSON, "%v", err)
	}
	return unpaired(in.Messages)
}

func (s *Server) manners() *Strict {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.strict
}

func (s *Server) note(in Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, in.Raw)
}

func (s *Server) refused(r Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, r)
}

// remember keeps the reasoning of an answer with tool calls, under what it said.
func (s *Server) remember(r *Reply) {
	if len(r.called) == 0 || r.thought == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := said(r.words, r.called)
	s.reasoning[key] = append(s.reasoning[key], r.thought)
}

// thoughts gives all reasoning that was sent with an answer that said this.
func (s *Server) thoughts(said string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reasoning[said]
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
	steps, ok := s.scripts[user]
	for at := strings.Index(user, "\n\n"); !ok && at >= 0; at = strings.Index(user, "\n\n") {
		user = user[at+2:] // a message that was never answered is in front of it
		steps, ok = s.scripts[user]
	}
	if answers < len(steps) {
		return steps[answers]
	}
	return s.any
}
