package llm

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"
)

// form is how requests are written for one model of one provider.
type form struct {
	provider provider
	model    string
	origin   string
	address  string          // of the host, with its port
	refused  map[string]bool // parameters that it turned out not to take
}

// whose names the model of the provider, whose habits are one model's.
func (f form) whose() string { return f.origin + "/" + f.model }

const (
	// noOutput stands for the empty result of a tool, which some providers refuse.
	noOutput = "(no output)"
	// noWords stands for the text of a message that has tool calls alone, for servers that want one (llama-cpp-python).
	noWords = " "
	// brokenOff stands between a tool's result and the user's next message for models that want an answer there.
	brokenOff = "(No answer: the turn ended here.)"
	// noReasoning stands for the reasoning of another model where a model insists on some.
	noReasoning = "(not known)"
	// noSignature is what Google documents for calls of other models.
	noSignature = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`
)

// messages gives the conversation as the strictest reading of the API has it, and as this provider wants it. The messages given are not
// changed. Its result depends on them alone, so that a conversation that grows keeps its beginning, which providers cache.
func (f form) messages(in []Message) []Message {
	var out []Message
	for _, m := range in {
		m = f.own(m)
		if m.Role == "assistant" && m.Content == "" && len(m.ToolCalls) == 0 {
			continue
		}
		if len(out) > 0 && f.joins(&out[len(out)-1], m) {
			continue
		}
		if f.provider.mistral && m.Role == "user" && len(out) > 0 && out[len(out)-1].Role == "tool" {
			out = append(out, Message{Role: "assistant", Content: brokenOff})
		}
		out = append(out, m)
	}
	return out
}

// joins adds a message to the one before if both have the same speaker: chat templates, and some providers, want them by turns.
func (f form) joins(before *Message, m Message) bool {
	if m.Role != before.Role || m.Role == "tool" || len(before.ToolCalls) > 0 {
		return false
	}
	if before.Content != "" && m.Content != "" {
		before.Content += "\n\n"
	}
	m.Content = before.Content + m.Content
	*before = m
	return true
}

// own makes a message one of this provider's.
func (f form) own(m Message) Message {
	foreign := m.ExtraFrom != "" && m.ExtraFrom != f.origin
	calls := m.ToolCalls
	// DeepSeek has no use for the reasoning of an answer, and had refused it once.
	m.Extra = f.extra(m.Extra, foreign || f.provider.thinks && len(calls) == 0 && !f.provider.wantsBack("*"))
	m.ToolCalls = nil
	for i, c := range calls {
		c.Extra = f.extra(c.Extra, foreign)
		if foreign && i == 0 && f.provider.signs {
			c.Extra = withMember(c.Extra, "extra_content", json.RawMessage(noSignature))
		}
		c.ID = f.callID(c.ID)
		c.Arguments = objectText(c.Arguments)
		m.ToolCalls = append(m.ToolCalls, c)
	}
	switch {
	case m.Role == "tool":
		m.ToolCallID = f.callID(m.ToolCallID)
		if strings.TrimSpace(m.Content) == "" {
			m.Content = noOutput
		}
	case m.Role == "assistant" && strings.TrimSpace(m.Content) == "":
		m.Content = "" // models like to say a line break before a call
		if f.provider.worded && len(calls) > 0 {
			m.Content = noWords
		}
	}
	if f.provider.thinks && len(calls) > 0 {
		m.Extra = withMember(m.Extra, "reasoning_content", quoted(noReasoning))
	}
	return m
}

// extra leaves of a message's or a call's extras what this provider wants back. What is no object is left for the encoder to refuse.
func (f form) extra(extra json.RawMessage, leaveOut bool) json.RawMessage {
	switch {
	case len(extra) == 0 || string(extra) == "null" || leaveOut:
		return nil
	case f.provider.wantsBack("*") || !validObject(string(extra)):
		return extra
	}
	var kept extras
	for key, value := range fields(extra) {
		if f.provider.wantsBack(string(key)) {
			kept.add(key, value)
		}
	}
	return kept.object()
}

// withMember adds a member to an object that doesn't have it.
func withMember(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	if len(object) > 0 && !validObject(string(object)) {
		return object
	}
	var all extras
	for k, v := range fields(object) {
		if string(k) == key {
			return object
		}
		all.add(k, v)
	}
	all.add([]byte(key), value)
	return all.object()
}

// callID gives the id of a tool call as Mistral's models want it: nine letters and digits. It is made of the id alone, so that a call and
// its result keep the same one.
func (f form) callID(id string) string {
	if !f.provider.mistral {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return base32.StdEncoding.EncodeToString(sum[:])[:9]
}

// objectText makes arguments that are no JSON object one, since providers refuse anything else. The model sees again what it wrote.
func objectText(arguments string) string {
	if validObject(arguments) {
		return arguments
	}
	return fmt.Sprintf(`{"invalid_json":%s}`, quoted(arguments))
}
