package schema

import (
	"bytes"
	"encoding/json"
)

// EventType names a kind of event on a turn's stream.
type EventType string

// The types. Those up to EventHeartbeat are the chat API's own; clients ignore types that they don't know.
const (
	EventContent   EventType = "content"
	EventToolCall  EventType = "tool_call"
	EventToolStart EventType = "tool_start"
	EventToolEnd   EventType = "tool_end"
	EventError     EventType = "error"
	EventAbort     EventType = "abort"
	EventDone      EventType = "done"
	EventHeartbeat EventType = "heartbeat"

	EventDeviceProgress EventType = "device_progress"
	EventWaiting        EventType = "waiting"  // the turn stands still until something outside happens
	EventRetry          EventType = "retry"    // discard the partial text of message_id
	EventFailover       EventType = "failover" // another model goes on with the answer
	EventTrimmed        EventType = "trimmed"  // the model reads no longer all of the conversation
	EventTitle          EventType = "title"
	EventHITLRequired   EventType = "hitl_required"
	EventHITLResolved   EventType = "hitl_resolved"
	EventReset          EventType = "reset" // this stream can't be resumed from there: read the history
)

// Notice says what a text of the server's is about.
type Notice string

// NoticeApproval: calls wait for a human's word, or wait no longer.
const NoticeApproval Notice = "approval"

// Event is everything a turn tells its readers: on the stream, in NATS and in tests. Which fields a type uses is said beside
// them; type and session_id are on all. The fields stand in the order that the chat API gives them.
type Event struct {
	Type      EventType `json:"type"`
	Content   string    `json:"content,omitempty"`    // content
	MessageID string    `json:"message_id,omitempty"` // content, tool_call, retry
	// Notice is on content that the server says, not the model. Clients that show what it is about by themselves skip it.
	Notice Notice `json:"notice,omitempty" enum:"approval"` // content
	// Attempt grows with the tries of a model call, from 1. Readers drop what an older attempt still sends.
	Attempt      int           `json:"attempt,omitempty"`                        // content, tool_call, retry
	ToolCall     *ToolCallView `json:"tool_call,omitempty"`                      // tool_call
	ToolName     string        `json:"tool_name,omitempty"`                      // tool_start, tool_end
	PendingTools []PendingTool `json:"pending_tools,omitempty" nullable:"false"` // hitl_required
	// HITLSessionID names the calls of one assistant message that wait together.
	HITLSessionID string `json:"hitl_session_id,omitempty"` // hitl_required, hitl_resolved
	ToolCallID    string `json:"tool_call_id,omitempty"`    // tool_start, tool_end, device_progress, hitl_resolved
	ToolOutput    string `json:"tool_output,omitempty"`     // tool_end: a ToolResponse as JSON text
	*DeviceProgress
	*HITLRequired
	*HITLResolved
	Title   string     `json:"title,omitempty"`    // title
	Error   string     `json:"error,omitempty"`    // error
	LeftOut int        `json:"left_out,omitempty"` // trimmed: earlier messages
	Model   string     `json:"model,omitempty"`    // failover: the one that goes on; error: the one that failed
	Code    Code       `json:"code,omitempty"`     // error, waiting, failover
	Hint    string     `json:"hint,omitempty"`     // error
	Reason  string     `json:"reason,omitempty"`   // retry, waiting, failover, reset, abort
	TurnID  string     `json:"turn_id,omitempty"`  // done
	Usage   *UsageView `json:"usage,omitempty"`    // done
	// StopReason is on done.
	StopReason StopReason `json:"stop_reason,omitempty" enum:"complete,steps,tool_calls,tokens,cost,aborted,error"`
	SessionID  string     `json:"session_id"`
}

// ToolCallView is a tool call as far as the model has written it: the arguments are cumulative.
type ToolCallView struct {
	ID       string       `json:"id"`
	Type     string       `json:"type" enum:"function"`
	Function FunctionView `json:"function"`
}

// FunctionView is the called tool. Complete is true once, on a call's last event.
type FunctionView struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments" doc:"JSON text, as far as it has come: each event has all of it again."`
	Complete  bool   `json:"complete,omitempty" doc:"true once, on a call's last event."`
}

// DeviceState is where a device stands within a tool call.
type DeviceState string

// The states.
const (
	DeviceWaiting    DeviceState = "waiting" // somebody else holds the console
	DeviceConnecting DeviceState = "connecting"
	DeviceRunning    DeviceState = "running"
	DeviceDone       DeviceState = "done"
	DeviceFailed     DeviceState = "failed"
)

// DeviceProgress is the body of a device_progress event. Done and Total count commands.
type DeviceProgress struct {
	DeviceName string      `json:"device_name"`
	State      DeviceState `json:"state" enum:"waiting,connecting,running,done,failed" doc:"waiting: somebody else holds the console."`
	Detail     string      `json:"detail" doc:"For people."`
	Done       int         `json:"done" doc:"Commands of this device that are through."`
	Total      int         `json:"total" doc:"Commands of this device."`
}

// Text encodes v as JSON without escaping <, > and &: the one encoder for what people and models read. It fails only on values
// that JSON can't express, which would be a defect of ours.
func Text(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("schema: value without a JSON form: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// TextIndent is Text with an indent of two spaces, the form of tool results.
func TextIndent(v any) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, Text(v), "", "  "); err != nil {
		panic("schema: own JSON can't be indented: " + err.Error())
	}
	return b.Bytes()
}
