package schema

import (
	"encoding/json"
	"time"
)

// ChatRequest is the body of POST …/chat/stream.
type ChatRequest struct {
	_         struct{} `json:"-" additionalProperties:"true"`
	Message   string   `json:"message" doc:"What the user says. The whole body is at most 32 KiB."`
	SessionID string   `json:"session_id,omitempty" doc:"The client's name for the conversation, [A-Za-z0-9_-]{1,128}. A new one is made when absent; every event has it."`
	TurnOptions
	CopilotMode Mode `json:"copilot_mode,omitempty" enum:"teaching_assistant,lab_automation_assistant,troubleshooting_injection" doc:"What the assistant may do; when absent the model configuration's mode, else the server's default."`
}

// InjectRequest is the body of POST …/chat/inject: a turn in fault injection mode, which needs no words.
type InjectRequest struct {
	_         struct{} `json:"-" additionalProperties:"true"`
	Message   string   `json:"message,omitempty" doc:"What to practise; any fault when absent. The whole body is at most 32 KiB."`
	SessionID string   `json:"session_id,omitempty" doc:"As in POST …/stream."`
	TurnOptions
}

// TurnOptions are what a request for a turn can say of how it is answered.
type TurnOptions struct {
	Stream        *bool    `json:"stream,omitempty" doc:"false asks for the turn's messages as one JSON conversation, once it is over. true when absent."`
	Temperature   *float64 `json:"temperature,omitempty" minimum:"0" maximum:"2" doc:"Passed to the model; when absent the model configuration's, else the model's own."`
	MaxTokens     *int     `json:"max_tokens,omitempty" minimum:"1" doc:"Passed to the model: the bound of each of its answers."`
	Mode          string   `json:"mode,omitempty" enum:"text" doc:"Always text."`
	ModelConfigID string   `json:"model_config_id,omitempty" doc:"The model configuration to use, your own or one of your groups', or the word server for the server's own model. When absent your default, else a group's, else the first of them, else the server's model."`
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
	ID            int64           `json:"id" doc:"The row's number. Paths take thread_id."`
	ThreadID      string          `json:"thread_id" doc:"The session_id of requests and events."`
	UserID        string          `json:"user_id"`
	ProjectID     string          `json:"project_id"`
	Title         string          `json:"title"`
	MessageCount  int             `json:"message_count" doc:"Of finished turns: each one's user message and answer, and its tools' results."`
	LLMCallsCount int             `json:"llm_calls_count"`
	InputTokens   int             `json:"input_tokens"`
	OutputTokens  int             `json:"output_tokens"`
	TotalTokens   int             `json:"total_tokens"`
	LastMessageAt *Time           `json:"last_message_at" format:"date-time-local" doc:"UTC without a zone: append Z before you read it as RFC 3339."`
	CreatedAt     Time            `json:"created_at" format:"date-time-local" doc:"UTC without a zone: append Z before you read it as RFC 3339."`
	UpdatedAt     Time            `json:"updated_at" format:"date-time-local" doc:"UTC without a zone: append Z before you read it as RFC 3339."`
	Metadata      json.RawMessage `json:"metadata" doc:"An object: copilot_mode of the last message, and title_source (user, auto or fallback)."`
	Stats         json.RawMessage `json:"stats" doc:"An object: tool_calls, a number by tool name, and the last message's temperature and max_tokens; each may be absent."`
	Pinned        bool            `json:"pinned"`
}

// ConversationHistory is a session's messages, oldest first.
type ConversationHistory struct {
	ThreadID  string        `json:"thread_id" doc:"The session_id of requests and events."`
	Title     string        `json:"title"`
	Messages  []ChatMessage `json:"messages" nullable:"false"`
	CreatedAt *Time         `json:"created_at" format:"date-time-local" doc:"Always null: the session list and each message's metadata have times."`
	UpdatedAt *Time         `json:"updated_at" format:"date-time-local" doc:"Always null."`
	LLMCalls  int           `json:"llm_calls" doc:"The session's llm_calls_count."`
}

// ChatMessage is one message in the OpenAI format; fields that a role doesn't have are null.
type ChatMessage struct {
	ID         string         `json:"id"`
	Role       string         `json:"role" enum:"user,assistant,tool,system" doc:"system: the server says what became of approvals."`
	Content    string         `json:"content" doc:"Of the role tool a ToolResponse as JSON text."`
	Name       *string        `json:"name" doc:"The tool's name; null but for the role tool."`
	ToolCallID *string        `json:"tool_call_id" doc:"The call that this is the result of; null but for the role tool."`
	ToolCalls  []ChatToolCall `json:"tool_calls" nullable:"true" doc:"The assistant's calls; null when it makes none."`
	Metadata   map[string]any `json:"metadata" doc:"created_at, in the form of a session's times: UTC without a zone."`
}

// ChatToolCall is a call in the history.
type ChatToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type" enum:"function"`
	Function ChatFunction `json:"function"`
}

// ChatFunction names the tool. Arguments is an object, or the raw text as a string when it isn't JSON.
type ChatFunction struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments" doc:"An object; a string, the model's own text, when that isn't one. Events have a string always."`
}

// AbortReply answers POST …/abort.
type AbortReply struct {
	Status    string `json:"status" enum:"ok"`
	SessionID string `json:"session_id"`
}

// ErrorBody is the body of every error answer.
type ErrorBody struct {
	Message   string `json:"message" doc:"For people; it may change. Programs go by code."`
	Code      Code   `json:"code" doc:"What kind of failure it is. Expect codes that are not listed here yet."`
	Hint      string `json:"hint,omitempty" doc:"What the user can do about it."`
	RequestID string `json:"request_id" doc:"As in the header X-Request-Id. Whoever runs the server finds it in the log."`
}
