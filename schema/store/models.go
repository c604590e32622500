package store

import (
	"time"

	"gns3copilot/schema"

	"github.com/google/uuid"
)

// Session is a conversation. Its columns up to Pinned are the chat API's table; ThreadID is the client's name for it, unique per
// user and project, and Key is what we call it inside.
type Session struct {
	ID            int64  `gorm:"primaryKey;autoIncrement"`
	ThreadID      string `gorm:"not null;uniqueIndex:idx_user_project_thread,priority:3"`
	UserID        string `gorm:"not null;uniqueIndex:idx_user_project_thread,priority:1;index:idx_user_project,priority:1"`
	ProjectID     string `gorm:"not null;uniqueIndex:idx_user_project_thread,priority:2;index:idx_user_project,priority:2"`
	Title         string `gorm:"not null"`
	MessageCount  int    `gorm:"not null"`
	LLMCallsCount int    `gorm:"column:llm_calls_count;not null"`
	InputTokens   int    `gorm:"not null"`
	OutputTokens  int    `gorm:"not null"`
	TotalTokens   int    `gorm:"not null"`
	LastMessageAt *time.Time
	CreatedAt     time.Time       `gorm:"not null"`
	UpdatedAt     time.Time       `gorm:"not null;index:idx_pinned_updated,priority:2,sort:desc"`
	Metadata      SessionMetadata `gorm:"type:text;serializer:json;not null"`
	Stats         SessionStats    `gorm:"type:text;serializer:json;not null"`
	Pinned        bool            `gorm:"not null;index:idx_pinned_updated,priority:1,sort:desc"`
	Key           string          `gorm:"not null;uniqueIndex"`
	TurnCount     int             `gorm:"not null"`
	LastTurnID    string          `gorm:"not null"`
}

// TableName is the chat API's name for the table.
func (Session) TableName() string { return "chat_sessions" }

// TitleSource says where a session's title comes from.
type TitleSource string

// The sources. A title set by a person is never overwritten; a fallback is replaced when a better one comes.
const (
	TitleNone     TitleSource = ""
	TitleUser     TitleSource = "user"
	TitleAuto     TitleSource = "auto"
	TitleFallback TitleSource = "fallback"
)

// SessionMetadata is a session's metadata column.
type SessionMetadata struct {
	CopilotMode schema.Mode `json:"copilot_mode"`
	TitleSource TitleSource `json:"title_source,omitempty"`
}

// SessionStats is a session's stats column: tool calls by tool name, and the last overrides a client asked for.
type SessionStats struct {
	ToolCalls   map[string]int `json:"tool_calls,omitempty"`
	Temperature *float64       `json:"temperature,omitempty"`
	MaxTokens   int            `json:"max_tokens,omitempty"`
}

// Turn is one user message and everything that was done about it.
type Turn struct {
	ID         string `gorm:"primaryKey"`
	SessionKey string `gorm:"not null;uniqueIndex:idx_session_number,priority:1"`
	// Number counts the session's turns from 1.
	Number     int    `gorm:"not null;uniqueIndex:idx_session_number,priority:2"`
	UserID     string `gorm:"not null;index:idx_turn_owner,priority:1"`
	UserName   string `gorm:"not null;default:''"`
	ProjectID  string `gorm:"not null;index:idx_turn_owner,priority:2"`
	RunID      string `gorm:"not null"`
	Mode       schema.Mode
	State      schema.TurnState  `gorm:"not null;index"`
	StopReason schema.StopReason `gorm:"not null"`
	Steps      int               `gorm:"not null"`
	// ClaimStep and ClaimAttempt fence off what older attempts of a step's model call still want to store.
	ClaimStep    int `gorm:"not null"`
	ClaimAttempt int `gorm:"not null"`
	// BodySHA256 tells whether a repeated Idempotency-Key comes with the same body.
	BodySHA256 string `gorm:"column:body_sha256;not null"`
	// Topology is the lab as the model was shown it, read once and again after a change.
	Topology string `gorm:"not null"`
	// Title is the one made beside the first answer, until FinishTurn takes it over.
	Title        string `gorm:"not null"`
	InputTokens  int    `gorm:"not null"`
	OutputTokens int    `gorm:"not null"`
	ErrorCode    string `gorm:"not null"`
	ErrorText    string `gorm:"not null"`
	StartedAt    time.Time
	FinishedAt   *time.Time
}

// Message is one message of a conversation in the OpenAI format. Within a turn the place is (step, ordinal): the user's message is
// (0, 0), the assistant's of step n is (n, 0) and the results of its calls are (n, 1), (n, 2) …
type Message struct {
	ID         string `gorm:"primaryKey"`
	SessionKey string `gorm:"not null;index:idx_message_order,priority:1"`
	TurnNumber int    `gorm:"not null;index:idx_message_order,priority:2"`
	TurnID     string `gorm:"not null;uniqueIndex:idx_message_place,priority:1"`
	Step       int    `gorm:"not null;uniqueIndex:idx_message_place,priority:2;index:idx_message_order,priority:3"`
	Ordinal    int    `gorm:"not null;uniqueIndex:idx_message_place,priority:3;index:idx_message_order,priority:4"`
	Role       string `gorm:"not null"`
	Content    string `gorm:"not null"`
	Name       string `gorm:"not null"`
	ToolCallID string `gorm:"not null;index"`
	// ToolCalls are an assistant's calls; Extra is what the provider wants back unchanged, ExtraFrom who that is.
	ToolCalls []ToolCall `gorm:"type:text;serializer:json"`
	Extra     string     `gorm:"not null"`
	ExtraFrom string     `gorm:"not null;default:''"`
	// Truncated is true when the output limit cut the last of the calls.
	Truncated bool `gorm:"not null;default:false"`
	// Whole is the uncut content of a tool message, empty when Content is whole.
	Whole     string    `gorm:"not null"`
	CreatedAt time.Time `gorm:"not null"`
}

// TableName keeps the name beside chat_sessions.
func (Message) TableName() string { return "chat_messages" }

// The roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// ToolCall is one call of an assistant message. Arguments is the text as the model wrote it, valid JSON or not.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	SHA256    string `json:"sha256"`
	Extra     string `json:"extra,omitempty"`
}

// The namespace of the ids made from names, so that two first messages of one session meet at the same workflow id.
var namespace = uuid.MustParse("6f1b5f0e-3f5c-4b0e-9a51-6f0c5d1f7a41")

// SessionKey is the row's own id of a user's session in a project.
func SessionKey(userID, projectID, sessionID string) string {
	return deriveID("session", userID, projectID, sessionID)
}

// TurnID is the id of the turn that an Idempotency-Key stands for.
func TurnID(userID, projectID, idempotencyKey string) string {
	return deriveID("turn", userID, projectID, idempotencyKey)
}

func deriveID(parts ...string) string {
	var b []byte
	for _, p := range parts {
		// NUL can't be part of any of them, so no two lists of parts run together to the same bytes.
		b = append(append(b, p...), 0)
	}
	return uuid.NewSHA1(namespace, b).String()
}
