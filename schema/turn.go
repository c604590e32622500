package schema

import "time"

// TurnRef names a turn everywhere: in payloads, subjects and queries.
type TurnRef struct {
	TurnID string `json:"turn_id"`
	// SessionKey is the session row's own id; SessionID is the client's name for it, unique per user and project.
	SessionKey string `json:"session_key"`
	SessionID  string `json:"session_id"`
	ProjectID  string `json:"project_id"`
	UserID     string `json:"user_id"`
}

// Ref names the turn that a payload is about.
func (r TurnRef) Ref() TurnRef { return r }

// TurnInput starts ChatTurn. Limits and mode are fixed here, so that a later configuration never changes a running turn.
type TurnInput struct {
	TurnRef
	// UserName is the owner's, for whoever is asked to allow what the turn wants to do.
	UserName string `json:"user_name,omitempty"`
	Message  string `json:"message"`
	// BodySHA256 is of what the client sent, to tell a repeated request from another one.
	BodySHA256 string `json:"body_sha256"`
	Mode       Mode   `json:"mode"`
	// Models are the ids of the model configurations that may answer, in the order in which they are tried; ServerModels stands for those
	// that the worker was started with. Empty is the same as that alone.
	Models      []string `json:"models,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	// Steps is the budget of model calls; the turn stops when fewer than StopBelow are left.
	Steps     int `json:"steps"`
	StopBelow int `json:"stop_below"`
	// CredentialWait bounds the wait for the owner's token, in seconds.
	CredentialWait int `json:"credential_wait"`
	// ApprovalWait is how long a human has to decide, in seconds.
	ApprovalWait int `json:"approval_wait"`
	// Limits bound what the turn may use.
	Limits TurnLimits `json:"limits,omitzero"`
}

// ServerModels stands for the models that workers are started with, in a list of configurations' ids.
const ServerModels = "server"

// TurnOutput is the workflow's result: counts only.
type TurnOutput struct {
	State      TurnState  `json:"state"`
	StopReason StopReason `json:"stop_reason"`
	Steps      int        `json:"steps"`
	Usage      Usage      `json:"usage"`
}

// BeginTurnInput stores the turn and the user's message.
type BeginTurnInput struct {
	TurnInput
	RunID string `json:"run_id"`
}

// BeginTurnOutput says whether the session still lacks a title of its own.
type BeginTurnOutput struct {
	WantTitle bool `json:"want_title"`
}

// CallModelInput asks for the assistant's message of one step, counted from 1.
type CallModelInput struct {
	TurnRef
	Step        int      `json:"step"`
	Mode        Mode     `json:"mode"`
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	// ReloadTopology is set after a tool that changed the lab.
	ReloadTopology bool `json:"reload_topology,omitempty"`
	// Models are the turn's; Model is the place, from 0, of the one to ask, where ServerModels counts as many as there are.
	Models []string `json:"models,omitempty"`
	Model  int      `json:"model,omitempty"`
	// Failed is why the model before was given up.
	Failed *Failure `json:"failed,omitempty"`
	// Trim says how often the conversation was too long for the model, and is to be made shorter still.
	Trim int `json:"trim,omitempty"`
	// Run counts the activities that were begun for the step before this one. Each is tried up to MaxRuns times.
	Run int `json:"run,omitempty"`
}

// CallModelOutput tells what the stored message holds, without its text.
type CallModelOutput struct {
	MessageID    string `json:"message_id"`
	ContentBytes int    `json:"content_bytes"`
	Calls        []Call `json:"calls,omitempty"`
	Usage        Usage  `json:"usage"`
	// Day is what the user had used that day when the call ended.
	Day *DaySum `json:"day,omitempty"`
	// Aborted is true when the abort came in the middle; what had been said is stored.
	Aborted bool `json:"aborted,omitempty"`
	// Truncated is true when the output limit cut the last of the calls.
	Truncated bool `json:"truncated,omitempty"`
}

// Call is one tool call of an assistant message. The arguments are in the database, known here by their hash.
type Call struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	ArgsSHA256 string `json:"args_sha256"`
}

// TitleInput asks for the session's title, made from the turn's message.
type TitleInput struct {
	TurnRef
	Models []string `json:"models,omitempty"`
}

// GateInput asks what may become of the calls of a step.
type GateInput struct {
	TurnRef
	Step  int    `json:"step"`
	Mode  Mode   `json:"mode"`
	Calls []Call `json:"calls"`
	// ExpiresAt is the deadline of what needs a human's word, ApprovalWait the seconds until then.
	ExpiresAt    time.Time `json:"expires_at"`
	ApprovalWait int       `json:"approval_wait"`
	// Grants are hashes of arguments that a human has written: one call with just these needs no further word.
	Grants []string `json:"grants,omitempty"`
}

// GateOutput has one verdict for each call, in the calls' order.
type GateOutput struct {
	Verdicts []Verdict `json:"verdicts"`
	// ExpiresAt is the deadline that people were told, which an earlier run of the gate may have set.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// Verdict is the policy's word on one call.
type Verdict struct {
	Call
	// Run is false for a refused call, whose result the gate has already stored, and for one that waits for a human's word.
	Run bool `json:"run"`
	// Approve is true for a call that waits.
	Approve bool `json:"approve,omitempty"`
	// State is what had become of a call that waits, when the gate is run again after its decision.
	State ApprovalState `json:"state,omitempty"`
	// Granted is true for a call that a human has written: it uses up the grant.
	Granted bool `json:"granted,omitempty"`
	// Devices are the devices that a change goes to, one activity for each; of a change of the lab its items, one activity for all.
	Devices []string `json:"devices,omitempty"`
	// Order is what calls of a step meet at besides their devices: those that have a place in common run in the model's order.
	Order []string `json:"order,omitempty"`
	// After is true for a call that waits for all before it that change the lab without anybody's word.
	After bool `json:"after,omitempty"`
	// Queue is the task queue of the worker that can run it.
	Queue string `json:"queue,omitempty"`
	// Summary is what operators read in Temporal's UI: names and counts, no arguments.
	Summary string `json:"summary,omitempty"`
	// ChangesLab is true for a change of the lab itself, not of what is on a device. The topology is read again afterwards.
	ChangesLab bool `json:"changes_lab,omitempty"`
}

// RunToolInput runs one call, on one device when Device isn't empty.
type RunToolInput struct {
	TurnRef
	Step   int    `json:"step"`
	Mode   Mode   `json:"mode"`
	Call   Call   `json:"call"`
	Device string `json:"device,omitempty"`
}

// RunToolOutput counts the items of the stored result.
type RunToolOutput struct {
	Successful int  `json:"successful"`
	Failed     int  `json:"failed"`
	Bytes      int  `json:"bytes"`
	Aborted    bool `json:"aborted,omitempty"`
}

// Closing says why calls get a result although they didn't run to their end.
type Closing string

// The reasons.
const (
	ClosingAborted Closing = "aborted"
	ClosingFailed  Closing = "failed"
)

// AbortRequest is the payload of an abort: why, for the turn's readers. Without a reason its user wants it.
type AbortRequest struct {
	Reason AbortReason `json:"reason,omitempty"`
}

// AbortReason says who or what has ended a turn.
type AbortReason string

// The reasons.
const (
	AbortUser           AbortReason = "user"
	AbortProjectDeleted AbortReason = "project_deleted"
)

// CloseCallsInput gives every call of a step that has no result one that says why.
type CloseCallsInput struct {
	TurnRef
	Step    int      `json:"step"`
	Calls   []Call   `json:"calls"`
	Closing Closing  `json:"closing"`
	Failure *Failure `json:"failure,omitempty"`
}

// Failure is a domain error as a payload.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Model is the name of the configuration whose model has failed.
	Model string `json:"model,omitempty"`
	// Attempts is how often the model was asked in vain.
	Attempts int `json:"attempts,omitempty"`
	// Next is what may cure the failure of a model call.
	Next Next `json:"next,omitempty"`
}

// Next is another way to get a step's message.
type Next string

// The ways.
const (
	NextModel Next = "model" // ask the next of the turn's models
	NextTrim  Next = "trim"  // send less of the conversation
)

// CheckCredentialInput marks the turn as waiting for its owner's token.
type CheckCredentialInput struct {
	TurnRef
	// Wait tells one wait of the turn from the next.
	Wait int `json:"wait,omitempty"`
}

// CheckCredentialOutput says whether the token came while the turn was being marked.
type CheckCredentialOutput struct {
	Present bool `json:"present"`
}

// FinishTurnInput closes the turn's books.
type FinishTurnInput struct {
	TurnRef
	State      TurnState  `json:"state"`
	StopReason StopReason `json:"stop_reason"`
	Steps      int        `json:"steps"`
	Usage      Usage      `json:"usage"`
	Failure    *Failure   `json:"failure,omitempty"`
	// Limit is the limit that ended the turn.
	Limit *LimitReached `json:"limit,omitempty"`
	// AbortReason is why the turn was aborted.
	AbortReason AbortReason `json:"abort_reason,omitempty"`
}

// TurnStatus answers the turn-state query.
type TurnStatus struct {
	TurnID string    `json:"turn_id"`
	State  TurnState `json:"state"`
	Step   int       `json:"step"`
	Doing  string    `json:"doing"`
}

// PushInput runs one confirmed call on one device, at most once.
type PushInput struct {
	TurnRef
	Step   int    `json:"step"`
	Mode   Mode   `json:"mode"`
	Call   Call   `json:"call"`
	Device string `json:"device"`
}

// PushOutput counts the lines that the device has acknowledged.
type PushOutput struct {
	Acked   int  `json:"acked"`
	Lines   int  `json:"lines"`
	Aborted bool `json:"aborted,omitempty"`
}

// ChangeLabInput makes the changes of one call to the lab, each at most once.
type ChangeLabInput struct {
	TurnRef
	Step int  `json:"step"`
	Mode Mode `json:"mode"`
	Call Call `json:"call"`
	// Items are the names of the changes, in the order of the request.
	Items []string `json:"items"`
	// Confirmed is true when a human was shown what is changed.
	Confirmed bool `json:"confirmed,omitempty"`
	// Aborted says that the turn is, and Failure what else kept the call from its end, when what is known is to be collected.
	Aborted bool     `json:"aborted,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// RunTool names the call as the other tools' activities do.
func (in ChangeLabInput) RunTool() RunToolInput {
	return RunToolInput{TurnRef: in.TurnRef, Step: in.Step, Mode: in.Mode, Call: in.Call}
}

// OrderLab is where all calls that change the lab meet.
const OrderLab = "the lab"

// CollectInput makes a call's result of what its devices' journals say.
type CollectInput struct {
	TurnRef
	Step    int      `json:"step"`
	Call    Call     `json:"call"`
	Devices []string `json:"devices"`
	Aborted bool     `json:"aborted,omitempty"`
}
