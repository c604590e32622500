package demomodel

import (
	"encoding/json"
	"strings"
)

// request is the part of a chat completion request that the model looks at.
type request struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Tools    []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type message struct {
	Role       string     `json:"role"`
	Content    content    `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// content is a message's text, which comes as a string, as a list of parts or as null.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	var text *string
	if json.Unmarshal(b, &text) == nil {
		if text != nil {
			*c = content(*text)
		}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	*c = content(strings.Join(texts, "\n"))
	return nil
}

// offers tells whether the model may call a tool of that name.
func (r request) offers(name string) bool {
	if string(r.ToolChoice) == `"none"` {
		return false
	}
	for _, t := range r.Tools {
		if t.Function.Name == name {
			return true
		}
	}
	return false
}

// instructions is what the system says.
func (r request) instructions() string {
	var all []string
	for _, m := range r.Messages {
		if m.Role == "system" || m.Role == "developer" {
			all = append(all, string(m.Content))
		}
	}
	return strings.Join(all, "\n")
}

// lastUser is the index of the last user message, -1 without one. What follows it belongs to this turn.
func (r request) lastUser() int {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return i
		}
	}
	return -1
}
