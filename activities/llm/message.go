package llm

import "encoding/json"

// Message is one message of a conversation.
type Message struct {
	Role       string // system, user, assistant or tool
	Content    string
	ToolCallID string     // of a tool message: the call that it answers
	ToolCalls  []ToolCall // of an assistant message
	// Extra is a JSON object of fields that only the provider understands (reasoning, signatures). They are sent back as they came, but
	// only to the provider that they came from.
	Extra json.RawMessage
	// ExtraFrom is the Client.Origin that Extra, and that of the tool calls, came from. Empty means from the client that sends it.
	ExtraFrom string
}

// ToolCall is a call that the model asks for.
type ToolCall struct {
	ID        string          // as the provider gave it: it may be empty, or equal to another's
	Name      string          // may be a name that no tool has
	Arguments string          // JSON text, or what the model wrote instead
	Extra     json.RawMessage // like Message.Extra; a member "function" holds the extras of the call's function object
}

// Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema of an object; empty for a tool without parameters
}

// Request is what one model call sends.
type Request struct {
	Messages    []Message
	Tools       []Tool
	Temperature *float32 // nil for the provider's default
	MaxTokens   int      // bound of the answer in tokens; 0 for the provider's default
}

// Delta is a piece of an answer, handed over as it arrives. One field is set.
type Delta struct {
	Content   string
	Reasoning string
	ToolCall  *ToolCallDelta
}

// ToolCallDelta is a tool call as far as it is known.
type ToolCallDelta struct {
	Index     int    // its place in Answer.ToolCalls
	Name      string // may still grow
	Arguments string // all of them so far
}

// Usage counts tokens.
type Usage struct {
	Input, Output int
	Estimated     bool // the provider told nothing: a quarter of the bytes
}

// Answer is what a model call gave; after an error, as much of it as had arrived.
type Answer struct {
	Content      string
	ToolCalls    []ToolCall // each call once; in the order of the deltas
	FinishReason string     // the provider's own word, empty if none came
	Usage        Usage
	Extra        json.RawMessage // see Message.Extra
	ExtraFrom    string          // see Message.ExtraFrom
}

// Message gives the answer as the assistant's message for the next request.
func (a Answer) Message() Message {
	return Message{Role: "assistant", Content: a.Content, ToolCalls: a.ToolCalls, Extra: a.Extra, ExtraFrom: a.ExtraFrom}
}
