package schema

// Names that Temporal stores. They are part of every recorded history, so they are only ever added to.
const (
	WorkflowChatTurn  = "ChatTurn"
	WorkflowTestModel = "TestModel"

	ActivityBeginTurn       = "BeginTurn"
	ActivityCallModel       = "CallModel"
	ActivityMakeTitle       = "MakeTitle"
	ActivityTryModel        = "TryModel"
	ActivityGate            = "Gate"
	ActivityRunTool         = "RunTool"
	ActivityCloseCalls      = "CloseCalls"
	ActivityCheckCredential = "CheckCredential"
	ActivityFinishTurn      = "FinishTurn"

	ActivityPushDevice     = "PushDevice"
	ActivitySettlePush     = "SettlePush"
	ActivityCollectPushes  = "CollectPushes"
	ActivityChangeLab      = "ChangeLab"
	ActivitySettleLab      = "SettleLab"
	ActivityRecordDecision = "RecordDecision"
	ActivityEndApprovals   = "EndApprovals"

	SignalDecide     = "decide"
	SignalAbort      = "abort"
	SignalCredential = "credential"

	QueryTurnState = "turn-state"

	// TaskQueue is for workflows, model calls and the store; TaskQueueDevices for whatever opens a console, so that
	// those workers can run near the lab.
	TaskQueue        = "copilot"
	TaskQueueDevices = "copilot-devices"

	// MemoTurnID is the memo field with the turn's id: how a start whose answer got lost recognises its own run.
	MemoTurnID = "turn_id"
	// MemoBody is the memo field with the hash of the request's body.
	MemoBody = "body_sha256"
)

// How often a model call, and a tool that only reads, are tried when they fail; and how often work is begun in all, since a worker that
// was killed is no failure of the model's.
const (
	ModelAttempts = 3
	ToolAttempts  = 3
	MaxRuns       = 10
)

// Search attributes, all keywords. An unregistered one refuses the start of a workflow, so readiness checks them.
const (
	SearchProjectID = "CopilotProjectId"
	SearchSessionID = "CopilotSessionId"
	SearchUserID    = "CopilotUserId"
	SearchTurnState = "CopilotTurnState"
)

// SearchAttributes lists what must be registered in Temporal's namespace.
func SearchAttributes() []string {
	return []string{SearchProjectID, SearchSessionID, SearchUserID, SearchTurnState}
}

// WorkflowID is the id of the turn that a session runs: one at a time, which Temporal itself enforces.
func WorkflowID(sessionKey string) string { return "chat-turn-" + sessionKey }

// ModelTestID is the workflow id of the try of a model configuration: one at a time.
func ModelTestID(configID string) string { return "model-test-" + configID }

// Mode is what the assistant may do in a turn.
type Mode string

// The modes, as the chat API names them. ModeTeaching is the API's default; a server made from flags defaults to ModeAutomation.
const (
	ModeTeaching   Mode = "teaching_assistant"
	ModeAutomation Mode = "lab_automation_assistant"
	ModeInjection  Mode = "troubleshooting_injection"
)

// Valid reports whether the mode is one of ours.
func (m Mode) Valid() bool { return m == ModeTeaching || m == ModeAutomation || m == ModeInjection }

// TurnState is where a turn stands, as the turn's row, the workflow's query and its search attribute tell.
type TurnState string

// The states. A turn is over in TurnDone, TurnFailed and TurnAborted.
const (
	TurnRunning           TurnState = "running"
	TurnWaitingCredential TurnState = "waiting_credential"
	TurnWaitingApproval   TurnState = "waiting_approval"
	TurnDone              TurnState = "done"
	TurnFailed            TurnState = "failed"
	TurnAborted           TurnState = "aborted"
)

// Over reports whether nothing more happens in the turn.
func (s TurnState) Over() bool { return s == TurnDone || s == TurnFailed || s == TurnAborted }

// StopReason says why a turn ended; it is part of the done event.
type StopReason string

// The reasons.
const (
	StopComplete  StopReason = "complete"
	StopSteps     StopReason = "steps"
	StopToolCalls StopReason = "tool_calls"
	StopTokens    StopReason = "tokens"
	StopCost      StopReason = "cost"
	StopAborted   StopReason = "aborted"
	StopError     StopReason = "error"
)
