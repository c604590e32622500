package scriptmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Strict makes a model refuse, with 400, what the strictest of the real providers refuse. The zero value knows the API as OpenAI documents
// it; each field is a demand of some providers on top of it.
type Strict struct {
	// Key is what the Authorization header has to bring behind "Bearer ", else the answer is 401. Empty takes any.
	Key string
	// Reasoning names the field in which this model sends its reasoning, and in which it has to come back with each assistant message
	// that has tool calls, as DeepSeek wants it. Empty: reasoning goes out as reasoning_content, and its coming back is an unknown field.
	Reasoning string
	// ReasoningAlways demands some text in that field with tool calls of other models too.
	ReasoningAlways bool
	// Extra are fields allowed beyond the documented ones, in the request and in its messages, calls and tools.
	Extra []string
	// CallID is the form of a tool call's id; nil takes any.
	CallID *regexp.Regexp
	// Refuses are documented parameters that this model doesn't take, such as temperature or stream_options.
	Refuses []string
	// AssistantAfterTool refuses a user's message right behind a tool's, as Mistral does.
	AssistantAfterTool bool
}

// Refusal is a request that a strict model has refused.
type Refusal struct {
	Rule string // a short name
	Why  string
	Body json.RawMessage
}

func (r Refusal) String() string { return r.Rule + ": " + r.Why }

// The rules by name.
const (
	RuleKey       = "key"
	RuleJSON      = "json"
	RuleField     = "unknown field"
	RuleParameter = "parameter"
	RuleTool      = "tool"
	RuleRole      = "role"
	RuleOrder     = "order"
	RuleContent   = "content"
	RulePair      = "pair"
	RuleID        = "call id"
	RuleName      = "function name"
	RuleArguments = "arguments"
	RuleReasoning = "reasoning"
)

var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// The documented fields.
var (
	requestFields = []string{"model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options", "temperature", "top_p",
		"max_tokens", "max_completion_tokens", "n", "stop", "seed", "presence_penalty", "frequency_penalty", "response_format", "reasoning_effort", "user"}
	messageFields = map[string][]string{
		"system":    {"role", "content", "name"},
		"developer": {"role", "content", "name"},
		"user":      {"role", "content", "name"},
		"assistant": {"role", "content", "name", "tool_calls"},
		"tool":      {"role", "content", "tool_call_id"},
	}
)

type object = map[string]json.RawMessage

// refuse makes a refusal; check functions give nil for what is in order.
func refuse(rule, format string, args ...any) *Refusal {
	return &Refusal{Rule: rule, Why: fmt.Sprintf(format, args...)}
}

// answer writes the refusal as OpenAI words its own.
func (r *Refusal) answer(w http.ResponseWriter) {
	status, kind := http.StatusBadRequest, "invalid_request_error"
	if r.Rule == RuleKey {
		status, kind = http.StatusUnauthorized, "authentication_error"
	}
	body, err := json.Marshal(map[string]any{"error": map[string]any{"message": r.Why, "type": kind, "param": nil, "code": r.Rule}})
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// check judges a request. sent tells which reasoning this model sent with an assistant message.
func (s *Strict) check(header http.Header, body []byte, sent func(said string) []string) *Refusal {
	if s.Key != "" && header.Get("Authorization") != "Bearer "+s.Key {
		return refuse(RuleKey, "Incorrect API key provided.")
	}
	var request object
	if err := json.Unmarshal(body, &request); err != nil {
		return refuse(RuleJSON, "We could not parse the JSON body of your request: %v", err)
	}
	for _, check := range []func() *Refusal{
		func() *Refusal { return s.unknown("request", request, requestFields) },
		func() *Refusal { return s.parameters(request) },
		func() *Refusal { return s.tools(request) },
		func() *Refusal { return s.messages(request, sent) },
	} {
		if r := check(); r != nil {
			return r
		}
	}
	return nil
}

func (s *Strict) unknown(where string, o object, known []string) *Refusal {
	for name := range o {
		if !slices.Contains(known, name) && !slices.Contains(s.Extra, name) {
			return refuse(RuleField, "Unrecognized argument supplied: %s in %s.", name, where)
		}
	}
	return nil
}

func (s *Strict) parameters(request object) *Refusal {
	for _, name := range s.Refuses {
		if _, ok := request[name]; ok {
			return refuse(RuleParameter, "Unsupported parameter: '%s' is not supported with this model.", name)
		}
	}
	var p struct {
		Model               string   `json:"model"`
		Stream              bool     `json:"stream"`
		Temperature         *float64 `json:"temperature"`
		MaxTokens           *int     `json:"max_tokens"`
		MaxCompletionTokens *int     `json:"max_completion_tokens"`
		StreamOptions       object   `json:"stream_options"`
	}
	if r := as(RuleParameter, "request", request, &p); r != nil {
		return r
	}
	switch {
	case p.Model == "":
		return refuse(RuleParameter, "you must provide a model parameter")
	case !p.Stream:
		return refuse(RuleParameter, "This model only streams.")
	case p.Temperature != nil && (*p.Temperature < 0 || *p.Temperature > 2):
		return refuse(RuleParameter, "Invalid 'temperature': %v is not between 0 and 2.", *p.Temperature)
	case p.MaxTokens != nil && p.MaxCompletionTokens != nil:
		return refuse(RuleParameter, "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case p.MaxTokens != nil && *p.MaxTokens < 1, p.MaxCompletionTokens != nil && *p.MaxCompletionTokens < 1:
		return refuse(RuleParameter, "Invalid 'max_tokens': below the minimum value of 1.")
	}
	return s.unknown("stream_options", p.StreamOptions, []string{"include_usage"})
}

func (s *Strict) tools(request object) *Refusal {
	raw, ok := request["tools"]
	if !ok {
		return nil
	}
	var tools []object
	if err := json.Unmarshal(raw, &tools); err != nil || len(tools) == 0 {
		return refuse(RuleTool, "Invalid 'tools': an array of at least one tool is expected.")
	}
	seen := map[string]bool{}
	for i, tool := range tools {
		where := fmt.Sprintf("tools[%d]", i)
		var function, parameters object
		if r := s.unknown(where, tool, []string{"type", "function"}); r != nil {
			return r
		}
		if string(tool["type"]) != `"function"` || json.Unmarshal(tool["function"], &function) != nil {
			return refuse(RuleTool, "%s is not a function.", where)
		}
		if r := s.unknown(where, function, []string{"name", "description", "parameters", "strict"}); r != nil {
			return r
		}
		name := text(function["name"])
		switch {
		case !functionName.MatchString(name):
			return refuse(RuleName, "Invalid '%s.function.name': %q does not match ^[a-zA-Z0-9_-]+$ of at most 64 characters.", where, name)
		case seen[name]:
			return refuse(RuleTool, "Tool names must be unique: %s.", name)
		case json.Unmarshal(function["parameters"], &parameters) != nil || string(parameters["type"]) != `"object"`:
			return refuse(RuleTool, "Invalid schema for function %q: schema must be a JSON Schema of 'type: \"object\"'.", name)
		}
		seen[name] = true
	}
	return nil
}

func (s *Strict) messages(request object, sent func(said string) []string) *Refusal {
	var messages []object
	if err := json.Unmarshal(request["messages"], &messages); err != nil || len(messages) == 0 {
		return refuse(RuleOrder, "Invalid 'messages': an array of at least one message is expected.")
	}
	last := ""
	for i, m := range messages {
		where, role := fmt.Sprintf("messages[%d]", i), text(m["role"])
		fields, ok := messageFields[role]
		if !ok {
			return refuse(RuleRole, "Invalid value: %q of '%s.role'.", role, where)
		}
		if role == "assistant" && s.Reasoning != "" {
			fields = append(slices.Clone(fields), s.Reasoning)
		}
		if r := s.unknown(where, m, fields); r != nil {
			return r
		}
		if r := s.order(where, role, last); r != nil {
			return r
		}
		if r := content(where, role, m); r != nil {
			return r
		}
		if r := s.calls(where, m, request, sent); r != nil {
			return r
		}
		last = role
	}
	if last != "user" && last != "tool" {
		return refuse(RuleOrder, "Expected last role user or tool, but got %s.", last)
	}
	return nil
}

// order holds what chat templates and the stricter providers want: system, user, then answers and users by turns.
func (s *Strict) order(where, role, last string) *Refusal {
	leading := last == "" || last == "system" || last == "developer"
	switch {
	case (role == "system" || role == "developer") && last != "":
		return refuse(RuleOrder, "%s: a system message must be the first, and the only one.", where)
	case role != "system" && role != "developer" && role != "user" && leading:
		return refuse(RuleOrder, "%s: the first message behind the system's must be a user's.", where)
	case role == last && role != "tool":
		return refuse(RuleOrder, "%s: roles must alternate, but two messages in a row are the %s's.", where, role)
	case role == "user" && last == "tool" && s.AssistantAfterTool:
		return refuse(RuleOrder, "%s: unexpected role 'user' after role 'tool'.", where)
	}
	return nil
}

func content(where, role string, m object) *Refusal {
	raw, there := m["content"]
	_, calls := m["tool_calls"]
	var words *string
	if there && json.Unmarshal(raw, &words) != nil {
		return refuse(RuleContent, "Invalid '%s.content': a string is expected.", where)
	}
	switch {
	case words == nil && role == "assistant" && calls:
		return nil
	case words == nil:
		return refuse(RuleContent, "Invalid value for '%s.content': expected a string, got null.", where)
	case strings.TrimSpace(*words) == "":
		return refuse(RuleContent, "%s: the %s message must not be empty.", where, role)
	}
	return nil
}

func (s *Strict) calls(where string, m, request object, sent func(said string) []string) *Refusal {
	raw, ok := m["tool_calls"]
	if !ok {
		return nil
	}
	var calls []object
	if err := json.Unmarshal(raw, &calls); err != nil || len(calls) == 0 {
		return refuse(RuleTool, "Invalid '%s.tool_calls': an array of at least one call is expected.", where)
	}
	if _, ok := request["tools"]; !ok {
		return refuse(RuleTool, "%s has tool calls, but the request has no tools.", where)
	}
	for i, call := range calls {
		if r := s.call(fmt.Sprintf("%s.tool_calls[%d]", where, i), call); r != nil {
			return r
		}
	}
	return s.thought(where, m, sent)
}

// thought looks for the reasoning of a message with tool calls.
func (s *Strict) thought(where string, m object, sent func(said string) []string) *Refusal {
	var calls []Call
	if s.Reasoning == "" || json.Unmarshal(m["tool_calls"], &calls) != nil {
		return nil
	}
	reasoning := text(m[s.Reasoning])
	known := sent(said(text(m["content"]), calls))
	switch {
	case reasoning == "" && (len(known) > 0 || s.ReasoningAlways):
		return refuse(RuleReasoning, "The `%s` in the thinking mode must be passed back to the API: it is missing in %s.", s.Reasoning, where)
	case len(known) > 0 && !slices.Contains(known, reasoning):
		return refuse(RuleReasoning, "The `%s` of %s is not what this model sent.", s.Reasoning, where)
	}
	return nil
}

func (s *Strict) call(where string, call object) *Refusal {
	var function, arguments object
	if r := s.unknown(where, call, []string{"id", "type", "function"}); r != nil {
		return r
	}
	if string(call["type"]) != `"function"` || json.Unmarshal(call["function"], &function) != nil {
		return refuse(RuleTool, "%s is not of the type function.", where)
	}
	if r := s.unknown(where+".function", function, []string{"name", "arguments"}); r != nil {
		return r
	}
	id, name := text(call["id"]), text(function["name"])
	switch {
	case id == "" || s.CallID != nil && !s.CallID.MatchString(id):
		return refuse(RuleID, "Invalid '%s.id': %q.", where, id)
	case !functionName.MatchString(name):
		return refuse(RuleName, "Invalid '%s.function.name': %q does not match ^[a-zA-Z0-9_-]+$ of at most 64 characters.", where, name)
	case !bytes.HasPrefix(function["arguments"], []byte(`"`)):
		return refuse(RuleArguments, "Invalid '%s.function.arguments': a string is expected.", where)
	case json.Unmarshal([]byte(text(function["arguments"])), &arguments) != nil || arguments == nil:
		return refuse(RuleArguments, "Invalid '%s.function.arguments': not the JSON of an object: %s", where, text(function["arguments"]))
	}
	return nil
}

// said is by what a model knows an answer of its own again, although the client may have given the calls other ids.
func said(words string, calls []Call) string {
	var out strings.Builder
	out.WriteString(strings.TrimSpace(words))
	for _, c := range calls {
		fmt.Fprintf(&out, "\x00%s\x00%s", c.Function.Name, c.Function.Arguments)
	}
	return out.String()
}

// unpaired refuses what every model here refuses: a call without its one result right behind it, a result without a call, an id that
// is used twice.
func unpaired(messages []Message) *Refusal {
	open, seen := map[string]bool{}, map[string]bool{}
	for i, m := range messages {
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return refuse(RulePair, "message %d: the result %q answers no open call", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		}
		for id := range open {
			return refuse(RulePair, "message %d: the call %q has no result", i, id)
		}
		for _, c := range m.ToolCalls {
			if c.ID == "" || seen[c.ID] {
				return refuse(RuleID, "message %d: the call id %q is empty or used twice", i, c.ID)
			}
			open[c.ID], seen[c.ID] = true, true
		}
	}
	for id := range open {
		return refuse(RulePair, "the call %q has no result", id)
	}
	return nil
}

// as decodes an object into a struct of some of its fields.
func as(rule, where string, o object, into any) *Refusal {
	raw, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return refuse(rule, "Invalid type in %s: %v", where, err)
	}
	return nil
}

// text gives a JSON string, or "".
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
