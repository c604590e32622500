package schema

import "time"

// Danger is how much a call can break. A high one needs a second confirmation.
type Danger string

// The levels; low is kept for later policies.
const (
	DangerLow    Danger = "low"
	DangerMedium Danger = "medium"
	DangerHigh   Danger = "high"
)

// ApprovalState is what became of a call that needs a human's word. The five ends are different outcomes and never blurred.
type ApprovalState string

// The states.
const (
	ApprovalPending   ApprovalState = "pending"
	ApprovalConfirmed ApprovalState = "confirmed"
	ApprovalRejected  ApprovalState = "rejected"
	ApprovalModified  ApprovalState = "modified"
	ApprovalExpired   ApprovalState = "expired"
	ApprovalAborted   ApprovalState = "aborted"
)

// DecisionAction is what a human says.
type DecisionAction string

// The actions.
const (
	DecideConfirm DecisionAction = "confirm"
	DecideReject  DecisionAction = "reject"
	DecideModify  DecisionAction = "modify"
)

// Decision is the signal that brings a human's word to the turn. Who said it, why and the modified arguments are in the database
// under ID. DecidedAt is the API's stamp: the workflow takes a stamp after the deadline for expired.
type Decision struct {
	ID        string    `json:"id"`
	DecidedAt time.Time `json:"decided_at"`
}

// RecordDecisionInput applies a decision to the approvals of a step.
type RecordDecisionInput struct {
	TurnRef
	Step     int      `json:"step"`
	Decision Decision `json:"decision"`
}

// RecordDecisionOutput tells what became of each call that the decision names, in the calls' order.
type RecordDecisionOutput struct {
	Calls []DecidedCall `json:"calls"`
	// Refused says why a modification can't be taken; then nothing has changed.
	Refused string `json:"refused,omitempty"`
}

// DecidedCall is a call's state after a decision: still pending after the first confirmation of a high danger.
type DecidedCall struct {
	ID    string        `json:"id"`
	State ApprovalState `json:"state"`
	// Applied is false when the decision changed nothing: another came first, or it was too late.
	Applied bool `json:"applied,omitempty"`
	// Grant lets one later call run: see the function Grant.
	Grant string `json:"grant,omitempty"`
}

// Grant names the calls of a tool with just these arguments, of which a modification lets one run.
func Grant(tool, argsSHA256 string) string { return tool + "/" + argsSHA256 }

// ExpireInput ends what is still pending of a step: its deadline has passed, or the turn was aborted.
type ExpireInput struct {
	TurnRef
	Step  int           `json:"step"`
	Calls []string      `json:"calls"`
	State ApprovalState `json:"state"`
}

// ExpireOutput names the calls that were still pending, and what had become of the others.
type ExpireOutput struct {
	Ended   []string      `json:"ended"`
	Decided []DecidedCall `json:"decided,omitempty"`
}

// PendingTool is a call that waits for a human's word, with all that is needed to give it.
type PendingTool struct {
	ToolCallID  string   `json:"tool_call_id"`
	ToolName    string   `json:"tool_name"`
	ToolArgs    any      `json:"tool_args"`
	DangerLevel Danger   `json:"danger_level"`
	Description string   `json:"description"`
	ArgsSHA256  string   `json:"args_sha256"`
	Reasons     []string `json:"reasons,omitempty"`
	Preview     *Preview `json:"preview,omitempty"`
	// Remaining is the time to the deadline, in seconds.
	Remaining             int       `json:"remaining"`
	ExpiresAt             time.Time `json:"expires_at"`
	Confirmations         int       `json:"confirmations"`
	ConfirmationsRequired int       `json:"confirmations_required"`
}

// Preview is exactly what a confirmation sends, device by device.
type Preview struct {
	Devices []PreviewDevice `json:"devices"`
}

// PreviewDevice is a resolved device with its lines in the order of sending, the mode lines included.
type PreviewDevice struct {
	Name  string   `json:"name"`
	ID    string   `json:"id,omitempty"`
	Lines []string `json:"lines"`
	// Problem says why the device can't be reached now, when that is known beforehand.
	Problem string `json:"problem,omitempty"`
}

// HITLRequired is the body of a hitl_required event, beside pending_tools and hitl_session_id. Timeout is in seconds.
type HITLRequired struct {
	Timeout   int       `json:"timeout"`
	ExpiresAt time.Time `json:"expires_at"`
}

// HITLResolved is the body of a hitl_resolved event, beside hitl_session_id, tool_call_id and reason.
type HITLResolved struct {
	Outcome   ApprovalState `json:"outcome"`
	DecidedBy string        `json:"decided_by"`
}

// HITLStatus answers …/hitl-status: idle, or waiting with what waits.
type HITLStatus struct {
	Status        string        `json:"status"`
	PendingTools  []PendingTool `json:"pending_tools"`
	HITLSessionID *string       `json:"hitl_session_id"`
	SessionID     string        `json:"session_id"`
}

// ConfirmRequest confirms calls: all that wait, or those named. The second word on a high danger names its call and says that it is the
// second. Like every decision it is refused when it has a field that isn't known: a misspelt one would bind nothing.
type ConfirmRequest struct {
	ConfirmAll         bool              `json:"confirm_all,omitempty"`
	ToolCallIDs        []string          `json:"tool_call_ids,omitempty" nullable:"true"`
	SecondConfirmation bool              `json:"second_confirmation,omitempty"`
	ExpectedSHA256     map[string]string `json:"expected_sha256,omitempty" doc:"args_sha256 by tool_call_id, as the decider saw them."`
	HITLSessionID      string            `json:"hitl_session_id,omitempty"`
}

// RejectRequest rejects calls. The reason goes to the model.
type RejectRequest struct {
	RejectAll      bool              `json:"reject_all,omitempty"`
	ToolCallIDs    []string          `json:"tool_call_ids,omitempty" nullable:"true"`
	Reason         string            `json:"reason,omitempty" maxLength:"2000"`
	ExpectedSHA256 map[string]string `json:"expected_sha256,omitempty"`
	HITLSessionID  string            `json:"hitl_session_id,omitempty"`
}

// ModifyRequest gives a call other arguments. The model is told and calls again.
type ModifyRequest struct {
	ToolCallID     string         `json:"tool_call_id"`
	ModifiedArgs   map[string]any `json:"modified_args"`
	ExpectedSHA256 string         `json:"expected_sha256,omitempty"`
	HITLSessionID  string         `json:"hitl_session_id,omitempty"`
}

// DecisionReply says what the turn made of a decision. Status is confirmed, rejected, modified, pending (a second confirmation is wanted) or
// accepted (nobody has heard it yet; it is kept).
type DecisionReply struct {
	Status              string   `json:"status"`
	ConfirmedCount      int      `json:"confirmed_count"`
	ModificationSummary string   `json:"modification_summary,omitempty"`
	Message             string   `json:"message"`
	StillPending        []string `json:"still_pending,omitempty"`
}

// InboxItem is a call that waits, or waited, with where and by whom.
type InboxItem struct {
	PendingTool
	HITLSessionID string         `json:"hitl_session_id"`
	ProjectID     string         `json:"project_id"`
	SessionID     string         `json:"session_id"`
	UserID        string         `json:"user_id"` // whose turn it is
	State         ApprovalState  `json:"state"`
	DecidedBy     string         `json:"decided_by,omitempty"`
	DecidedAt     *time.Time     `json:"decided_at,omitempty"`
	Reason        string         `json:"reason,omitempty"`
	Modification  string         `json:"modification_summary,omitempty"`
	CreatedAt     time.Time      `json:"created_at"`
	Devices       []DeviceChange `json:"devices,omitempty"` // what the devices said
}

// DeviceChange is the journal of one push to one device.
type DeviceChange struct {
	ToolCallID string   `json:"tool_call_id"`
	DeviceName string   `json:"device_name"`
	State      string   `json:"state"` // running, done, failed, unknown, nothing
	Lines      []string `json:"lines"`
	// Begun counts the lines that may have been typed: one more than were acknowledged while the push runs, and when its sender was lost.
	Begun      int        `json:"begun"`
	Acked      int        `json:"acknowledged"`
	Output     string     `json:"output"`
	Error      string     `json:"error,omitempty"`
	Diff       string     `json:"diff"`
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
}
