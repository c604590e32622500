package window

import (
	"bytes"
	"encoding/json"

	"gns3copilot/activities/llm"
)

// What surrounds a message, a call and a tool's definition in the form that a model reads, in tokens. Templates differ; these are ample.
const (
	aroundMessage = 5
	aroundCall    = 10
	aroundTool    = 16
)

// measure gives a text's size: its tokens, or its bytes as a bound of them.
type measure func(string) int

func size(s string) int { return len(s) }

func messagesCost(messages []llm.Message, origin string, of measure) int {
	sum := 0
	for _, m := range messages {
		sum += messageCost(m, origin, of)
	}
	return sum
}

// messageCost counts all of a message that is sent to a provider. Ids are part of it, for there are templates that show them.
func messageCost(m llm.Message, origin string, of measure) int {
	extra := func(raw json.RawMessage) int {
		if m.ExtraFrom != origin {
			return 0
		}
		return of(string(raw))
	}
	sum := aroundMessage + of(m.Content) + of(m.ToolCallID) + extra(m.Extra)
	for _, c := range m.ToolCalls {
		sum += aroundCall + of(c.ID) + of(c.Name) + of(c.Arguments) + extra(c.Extra)
	}
	return sum
}

func toolsCost(tools []llm.Tool, of measure) int {
	sum := 0
	for _, t := range tools {
		sum += aroundTool + of(t.Name) + of(t.Description) + of(compact(t.Parameters))
	}
	return sum
}

// compact is JSON as it is sent.
func compact(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return string(raw)
	}
	return out.String()
}
