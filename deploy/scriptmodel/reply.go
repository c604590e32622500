package scriptmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Reply is an answer being written.
type Reply struct {
	Request Request
	w       http.ResponseWriter
	flush   http.Flusher
	gone    <-chan struct{}
	begun   bool
	ended   bool

	// What has been said so far.
	words   string
	thought string
	called  []Call

	reasoningField string
	noUsage        bool
	before         func() // called when all but the end has been said
}

// Gone is closed when the client has hung up.
func (r *Reply) Gone() <-chan struct{} { return r.gone }

// Say streams a piece of text.
func (r *Reply) Say(text string) {
	r.words += text
	r.chunk(map[string]any{"content": text}, nil)
}

// Think streams a piece of reasoning, in the field that the model is strict about, else in reasoning_content.
func (r *Reply) Think(text string) {
	r.thought += text
	r.chunk(map[string]any{r.reasoningField: text}, nil)
}

// Call streams a tool call, its arguments in two pieces.
func (r *Reply) Call(name, arguments string) {
	half := len(arguments) / 2
	r.CallInPieces(name, func() {}, arguments[:half], arguments[half:])
}

// CallAs streams a tool call under an id of the script's, such as one that was used before.
func (r *Reply) CallAs(id, name, arguments string) {
	half := len(arguments) / 2
	r.call(id, name, func() {}, arguments[:half], arguments[half:])
}

// CallInPieces streams a tool call, its arguments in these pieces, and calls between before each piece but the first.
func (r *Reply) CallInPieces(name string, between func(), pieces ...string) {
	r.call(fmt.Sprintf("call_%d", len(r.called)), name, between, pieces...)
}

func (r *Reply) call(id, name string, between func(), pieces ...string) {
	index := len(r.called)
	r.called = append(r.called, Call{ID: id, Function: Function{Name: name, Arguments: strings.Join(pieces, "")}})
	r.chunk(map[string]any{"tool_calls": []any{map[string]any{"index": index, "id": id, "type": "function",
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
	r.ended = true
	<-r.gone
}

// Fail answers with an error status and JSON.
func (r *Reply) Fail(status int, body string) {
	r.Whole(status, body, "Content-Type", "application/json")
}

// Whole answers with one body of any kind in the place of a stream, its headers given as name and value in turn.
func (r *Reply) Whole(status int, body string, headers ...string) {
	r.ended = true
	for i := 0; i+1 < len(headers); i += 2 {
		r.w.Header().Set(headers[i], headers[i+1])
	}
	r.w.WriteHeader(status)
	fmt.Fprint(r.w, body)
}

// Cut breaks the connection off.
func (r *Reply) Cut() {
	r.ended = true
	panic(http.ErrAbortHandler)
}

// Finish ends the answer for this reason, such as "length".
func (r *Reply) Finish(reason string) {
	if r.before != nil {
		r.before()
	}
	r.chunk(map[string]any{}, &reason)
	if !r.noUsage {
		r.Event(`{"id":"x","object":"chat.completion.chunk","model":"scripted","choices":[],` +
			`"usage":{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150}}`)
	}
	r.Event("[DONE]")
	r.ended = true
}

// end ends an answer that the script has not ended in its own way.
func (r *Reply) end() {
	switch {
	case r.ended:
	case len(r.called) > 0:
		r.Finish("tool_calls")
	default:
		r.Finish("stop")
	}
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
