package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"gns3copilot/schema"
)

// requestBody is go-openai's request with our encoding of what its types can't say: fields that only the provider knows, a temperature
// of 0, the content of an empty tool message (each is dropped there as "omitempty", and strict providers refuse the request).
type requestBody struct {
	openai.ChatCompletionRequest
	Messages    []wireMessage `json:"messages"`
	Temperature *float32      `json:"temperature,omitempty"`
}

// encode gives the body of a request. It fails only for extras or a schema that are not JSON objects.
func (f form) encode(r Request) ([]byte, error) {
	body := requestBody{ChatCompletionRequest: openai.ChatCompletionRequest{Model: f.model, Stream: true}}
	for _, t := range r.Tools {
		tool, err := wireTool(t)
		if err != nil {
			return nil, err
		}
		body.Tools = append(body.Tools, tool)
	}
	for _, name := range f.parameters(r) {
		switch name {
		case "stream_options":
			body.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
		case "temperature":
			body.Temperature = r.Temperature
		case limitNew:
			body.MaxCompletionTokens = r.MaxTokens
		case limitOld:
			//lint:ignore SA1019 deprecated by OpenAI, and the only name that most other servers know
			body.MaxTokens = r.MaxTokens
		}
	}
	messages := f.messages(r.Messages)
	body.Messages = make([]wireMessage, len(messages))
	for i, m := range messages {
		body.Messages[i] = wireMessage(m)
	}
	out, err := marshal(body)
	if err != nil {
		return nil, schema.Errorf(schema.CodeInternal, "The conversation can't be sent to the model.").WithCause(err)
	}
	return out, nil
}

// parameters names those of a request that a provider may refuse to know, and that can be left out or, the limit, have another name.
func (f form) parameters(r Request) []string {
	var names []string
	if !f.provider.silent && !f.refused["stream_options"] {
		names = append(names, "stream_options")
	}
	if r.Temperature != nil && !f.refused["temperature"] && !f.provider.fixedTemperature(f.model, *r.Temperature) {
		names = append(names, "temperature")
	}
	for _, limit := range []string{f.provider.limit, limitOld, limitNew} {
		if r.MaxTokens > 0 && !f.refused[limit] {
			return append(names, limit)
		}
	}
	return names
}

// wireTool passes the schema on as it is.
func wireTool(t Tool) (openai.Tool, error) {
	parameters := t.Parameters
	if len(parameters) == 0 { // null is refused by some
		parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if !validObject(string(parameters)) {
		return openai.Tool{}, schema.Errorf(schema.CodeInvalid, "The parameters of the tool %s are not a JSON object.", t.Name)
	}
	return openai.Tool{
		Type:     openai.ToolTypeFunction,
		Function: &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: parameters},
	}, nil
}

// wireMessage is a Message that encodes itself for the wire.
type wireMessage Message

// MarshalJSON writes the message as the API has it, then the provider's own fields.
func (m wireMessage) MarshalJSON() ([]byte, error) {
	known := struct {
		Role       string     `json:"role"`
		Content    *string    `json:"content"` // null beside tool calls, as OpenAI writes it
		ToolCalls  []wireCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}{Role: m.Role, Content: &m.Content, ToolCallID: m.ToolCallID}
	if m.Content == "" && len(m.ToolCalls) > 0 {
		known.Content = nil
	}
	for _, c := range m.ToolCalls {
		known.ToolCalls = append(known.ToolCalls, wireCall(c))
	}
	out, err := withExtra(known, m.Extra, "role", "content", "tool_calls", "tool_call_id")
	if err != nil {
		return nil, fmt.Errorf("%s message: %w", m.Role, err)
	}
	return out, nil
}

// wireCall is a ToolCall that encodes itself for the wire.
type wireCall ToolCall

// MarshalJSON writes the call as the API has it, then the provider's own fields of the call and of its function object.
func (c wireCall) MarshalJSON() ([]byte, error) {
	var functionExtra json.RawMessage
	if json.Valid(c.Extra) {
		for key, value := range fields(c.Extra) {
			if string(key) == "function" {
				functionExtra = value
			}
		}
	}
	function, err := withExtra(struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}{c.Name, c.Arguments}, functionExtra, "name", "arguments")
	if err != nil {
		return nil, fmt.Errorf("function of the tool call %s: %w", c.Name, err)
	}
	out, err := withExtra(struct {
		ID       string          `json:"id"`
		Type     openai.ToolType `json:"type"`
		Function json.RawMessage `json:"function"`
	}{c.ID, openai.ToolTypeFunction, function}, c.Extra, "id", "type", "function")
	if err != nil {
		return nil, fmt.Errorf("tool call %s: %w", c.Name, err)
	}
	return out, nil
}

// withExtra encodes an object and adds the members of another, except those whose names are taken.
func withExtra(known any, extra json.RawMessage, taken ...string) ([]byte, error) {
	out, err := marshal(known)
	if err != nil || len(extra) == 0 {
		return out, err
	}
	if !validObject(string(extra)) {
		return nil, errors.New("its extra fields are not a JSON object")
	}
	out = bytes.TrimSuffix(out, []byte("}"))
	for key, value := range fields(extra) {
		if slices.Contains(taken, string(key)) {
			continue
		}
		out = append(out, ',')
		out = append(out, quoted(string(key))...)
		out = append(out, ':')
		out = append(out, value...)
	}
	return append(out, '}'), nil
}

// validObject tells whether a text is one JSON object.
func validObject(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s))
}
