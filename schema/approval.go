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
	// Reason is why they were aborted, when that wasn't their user's wish.
	Reason string `json:"reason,omitempty"`
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
	ToolArgs    any      `json:"tool_args" doc:"The call's arguments, an object: what modified_args must look like."`
	DangerLevel Danger   `json:"danger_level" enum:"low,medium,high" doc:"high needs two confirmations; low is kept for later."`
	Description string   `json:"description" doc:"In words, in the language of Accept-Language."`
	ArgsSHA256  string   `json:"args_sha256" doc:"Hash of the arguments, for expected_sha256."`
	Reasons     []string `json:"reasons,omitempty" nullable:"false" doc:"Why it isn't run without a word."`
	Preview     *Preview `json:"preview,omitempty"`
	// Remaining is the time to the deadline, in seconds.
	Remaining             int       `json:"remaining" doc:"Seconds to the deadline; 0 once decided."`
	ExpiresAt             time.Time `json:"expires_at" doc:"The deadline, RFC 3339 with a zone."`
	Confirmations         int       `json:"confirmations" doc:"How many it has."`
	ConfirmationsRequired int       `json:"confirmations_required" doc:"1, or 2 at high danger."`
}

// Preview is exactly what a confirmation sends, device by device.
type Preview struct {
	Devices []PreviewDevice `json:"devices" nullable:"false"`
}

// PreviewDevice is a resolved device with its lines in the order of sending, the mode lines included.
type PreviewDevice struct {
	Name  string   `json:"name"`
	ID    string   `json:"id,omitempty" doc:"The node's id; absent when the project has no such device."`
	Lines []string `json:"lines" nullable:"false" doc:"What is typed, in this order, with the lines that enter and leave the configuration; of a change of the lab what is done, in words."`
	// Problem says why the device can't be reached now, when that is known beforehand.
	Problem string `json:"problem,omitempty" doc:"Why the device can't be reached at the moment: it is stopped, or there is none of that name."`
}

// HITLRequired is the body of a hitl_required event, beside pending_tools and hitl_session_id. Timeout is in seconds.
type HITLRequired struct {
	Timeout   int       `json:"timeout" doc:"Seconds from the event to the deadline."`
	ExpiresAt time.Time `json:"expires_at" doc:"The deadline, RFC 3339 with a zone."`
}

// HITLResolved is the body of a hitl_resolved event, beside hitl_session_id, tool_call_id and reason.
type HITLResolved struct {
	Outcome   ApprovalState `json:"outcome" enum:"confirmed,rejected,modified,expired,aborted"`
	DecidedBy string        `json:"decided_by" doc:"The decider's user name; of two confirmations by different people both, with a comma between; empty when it expired or was aborted."`
}

// HITLStatus answers …/hitl-status: idle, or waiting with what waits.
type HITLStatus struct {
	Status        string        `json:"status" enum:"idle,waiting" doc:"idle also of a session that doesn't exist."`
	PendingTools  []PendingTool `json:"pending_tools" nullable:"false"`
	HITLSessionID *string       `json:"hitl_session_id" doc:"Names the calls that wait together; null when none does."`
	SessionID     string        `json:"session_id"`
}

// ConfirmRequest confirms calls: all that wait, or those named. The second word on a high danger names its call and says that it is the
// second. Like every decision it is refused when it has a field that isn't known: a misspelt one would bind nothing.
type ConfirmRequest struct {
	ConfirmAll         bool              `json:"confirm_all,omitempty" doc:"All that wait in the session."`
	ToolCallIDs        []string          `json:"tool_call_ids,omitempty" nullable:"true" doc:"These alone; the others go on waiting."`
	SecondConfirmation bool              `json:"second_confirmation,omitempty" doc:"The second word on a call of high danger, which must be named in tool_call_ids."`
	ExpectedSHA256     map[string]string `json:"expected_sha256,omitempty" doc:"args_sha256 by tool_call_id, as the decider saw them: 409 when that is not what this decides."`
	HITLSessionID      string            `json:"hitl_session_id,omitempty" doc:"Whose calls, when several users have a session of that name."`
}

// RejectRequest rejects calls. The reason goes to the model.
type RejectRequest struct {
	RejectAll      bool              `json:"reject_all,omitempty" doc:"All that wait in the session."`
	ToolCallIDs    []string          `json:"tool_call_ids,omitempty" nullable:"true" doc:"These alone; the others go on waiting."`
	Reason         string            `json:"reason,omitempty" maxLength:"2000" doc:"Told to the model, and kept."`
	ExpectedSHA256 map[string]string `json:"expected_sha256,omitempty" doc:"As for confirm."`
	HITLSessionID  string            `json:"hitl_session_id,omitempty" doc:"As for confirm."`
}

// ModifyRequest gives a call other arguments. The model is told and calls again.
type ModifyRequest struct {
	ToolCallID     string         `json:"tool_call_id"`
	ModifiedArgs   map[string]any `json:"modified_args" doc:"In the shape of the call's tool_args, at most 256 KiB."`
	ExpectedSHA256 string         `json:"expected_sha256,omitempty" doc:"args_sha256 of the call, as the decider saw it."`
	HITLSessionID  string         `json:"hitl_session_id,omitempty" doc:"As for confirm."`
}

// DecisionReply says what the turn made of a decision. Status is confirmed, rejected, modified, pending (a second confirmation is wanted) or
// accepted (nobody has heard it yet; it is kept).
type DecisionReply struct {
	Status              string   `json:"status" enum:"confirmed,rejected,modified,pending,accepted" doc:"pending: a second confirmation is wanted; accepted: kept, and not taken up yet (202)."`
	ConfirmedCount      int      `json:"confirmed_count"`
	ModificationSummary string   `json:"modification_summary,omitempty" doc:"What was changed, in lines that begin with - and +."`
	Message             string   `json:"message" doc:"For people, in the language of Accept-Language."`
	StillPending        []string `json:"still_pending,omitempty" nullable:"false" doc:"Of the calls that were decided, those that want a second confirmation."`
}

// InboxItem is a call that waits, or waited, with where and by whom.
type InboxItem struct {
	PendingTool
	HITLSessionID string         `json:"hitl_session_id" doc:"For decisions: it tells whose session of that name is meant."`
	ProjectID     string         `json:"project_id"`
	SessionID     string         `json:"session_id"`
	UserID        string         `json:"user_id" doc:"Whose turn it is."`
	UserName      string         `json:"user_name" doc:"Whose turn it is, by name; empty for those from before it was kept."`
	State         ApprovalState  `json:"state" enum:"pending,confirmed,rejected,modified,expired,aborted"`
	DecidedBy     string         `json:"decided_by,omitempty" doc:"The decider's user name; absent when nobody decided."`
	DecidedAt     *time.Time     `json:"decided_at,omitempty" doc:"RFC 3339 with a zone."`
	Reason        string         `json:"reason,omitempty"`
	Modification  string         `json:"modification_summary,omitempty"`
	CreatedAt     time.Time      `json:"created_at" doc:"RFC 3339 with a zone."`
	Devices       []DeviceChange `json:"devices,omitempty" nullable:"false" doc:"What was sent to devices; in the history alone."`
}

// DeviceChange is the journal of one push to one device.
type DeviceChange struct {
	ToolCallID string   `json:"tool_call_id"`
	DeviceName string   `json:"device_name"`
	Kind       string   `json:"kind" enum:"device,lab" doc:"device: lines typed on a device; lab: a change of the lab itself, whose one line tells it in words."`
	State      string   `json:"state" enum:"running,done,failed,unknown,nothing" doc:"done: all lines acknowledged; failed: ended early, and how is known; unknown: its sender was lost, and it is not sent again; nothing: never begun."`
	Lines      []string `json:"lines" nullable:"true" doc:"All that were to be sent, or in words what was to be changed in the lab; null in the state nothing."`
	// Begun counts the lines that may have been typed: one more than were acknowledged while the push runs, and when its sender was lost.
	Begun      int        `json:"begun" doc:"Lines that may have been typed: at most one more than acknowledged while the push runs, or when its sender was lost."`
	Acked      int        `json:"acknowledged" doc:"Lines behind which the device's prompt came back."`
	Output     string     `json:"output" doc:"What the device said."`
	Error      string     `json:"error,omitempty"`
	Diff       string     `json:"diff" doc:"Of the running configuration before and after, in unified form; empty when there is none."`
	StartedAt  time.Time  `json:"started_at" doc:"RFC 3339 with a zone."`
	FinishedAt *time.Time `json:"finished_at" doc:"RFC 3339 with a zone; null while it runs."`
}
