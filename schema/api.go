package schema

import (
	"encoding/json"
	"time"
)

// ChatRequest is the body of POST …/chat/stream.
type ChatRequest struct {
	_           struct{} `json:"-" additionalProperties:"true"`
	Message     string   `json:"message" doc:"What the user says, at most 32 KiB."`
	SessionID   string   `json:"session_id,omitempty" doc:"The client's name for the conversation, [A-Za-z0-9_-]{1,128}. A new one is made when absent."`
	Stream      *bool    `json:"stream,omitempty" doc:"false asks for the turn's messages as one JSON conversation."`
	Temperature *float64 `json:"temperature,omitempty" minimum:"0" maximum:"2"`
	MaxTokens   *int     `json:"max_tokens,omitempty" minimum:"1"`
	Mode        string   `json:"mode,omitempty" enum:"text" doc:"Always text."`
	CopilotMode Mode     `json:"copilot_mode,omitempty" enum:"teaching_assistant,lab_automation_assistant,troubleshooting_injection" doc:"What the assistant may do; the server's default when absent."`
}

// InjectRequest is the body of POST …/chat/inject: a turn in fault injection mode, which needs no words.
type InjectRequest struct {
	_           struct{} `json:"-" additionalProperties:"true"`
	Message     string   `json:"message,omitempty" doc:"What to practise, at most 32 KiB; any fault when absent."`
	SessionID   string   `json:"session_id,omitempty" doc:"As in POST …/stream."`
	Stream      *bool    `json:"stream,omitempty" doc:"false asks for the turn's messages as one JSON conversation."`
	Temperature *float64 `json:"temperature,omitempty" minimum:"0" maximum:"2"`
	MaxTokens   *int     `json:"max_tokens,omitempty" minimum:"1"`
	Mode        string   `json:"mode,omitempty" enum:"text" doc:"Always text."`
}

// Time is a moment in the chat API's form: UTC in microseconds without a zone.
type Time time.Time

const timeLayout = "2006-01-02T15:04:05.000000"

// MarshalText writes the chat API's form.
func (t Time) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, timeLayout), nil
}

// UnmarshalText reads it.
func (t *Time) UnmarshalText(b []byte) error {
	parsed, err := time.ParseInLocation(timeLayout, string(b), time.UTC)
	*t = Time(parsed)
	return err
}

// ChatSession is a conversation as the session list shows it.
type ChatSession struct {
	ID            int64           `json:"id"`
	ThreadID      string          `json:"thread_id"`
	UserID        string          `json:"user_id"`
	ProjectID     string          `json:"project_id"`
	Title         string          `json:"title"`
	MessageCount  int             `json:"message_count"`
	LLMCallsCount int             `json:"llm_calls_count"`
	InputTokens   int             `json:"input_tokens"`
	OutputTokens  int             `json:"output_tokens"`
	TotalTokens   int             `json:"total_tokens"`
	LastMessageAt *Time           `json:"last_message_at"`
	CreatedAt     Time            `json:"created_at"`
	UpdatedAt     Time            `json:"updated_at"`
	Metadata      json.RawMessage `json:"metadata"`
	Stats         json.RawMessage `json:"stats"`
	Pinned        bool            `json:"pinned"`
}

// ConversationHistory is a session's messages, oldest first.
type ConversationHistory struct {
	ThreadID  string        `json:"thread_id"`
	Title     string        `json:"title"`
	Messages  []ChatMessage `json:"messages"`
	CreatedAt *Time         `json:"created_at"`
	UpdatedAt *Time         `json:"updated_at"`
	LLMCalls  int           `json:"llm_calls"`
}

// ChatMessage is one message in the OpenAI format; fields that a role doesn't have are null.
type ChatMessage struct {
	ID         string         `json:"id"`
	Role       string         `json:"role"`
	Content    string         `json:"content"`
	Name       *string        `json:"name"`
	ToolCallID *string        `json:"tool_call_id"`
	ToolCalls  []ChatToolCall `json:"tool_calls"`
	Metadata   map[string]any `json:"metadata"`
}

// ChatToolCall is a call in the history.
type ChatToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function ChatFunction `json:"function"`
}

// ChatFunction names the tool. Arguments is an object, or the raw text as a string when it isn't JSON.
type ChatFunction struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

// AbortReply answers POST …/abort.
type AbortReply struct {
	Status    string `json:"status"`
	SessionID string `json:"session_id"`
}

// ErrorBody is the body of every error answer.
type ErrorBody struct {
	Message   string `json:"message"`
	Code      Code   `json:"code"`
	Hint      string `json:"hint,omitempty"`
	RequestID string `json:"request_id"`
}
