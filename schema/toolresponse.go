package schema

import (
	"fmt"
	"time"
)

// ToolResponse is the standard result of every tool (tool response format, version 1.0). Total, Successful and Failed always agree
// with Data; Success is true when nothing failed and there is no global error.
type ToolResponse struct {
	Success    bool       `json:"success"`
	Total      int        `json:"total"`
	Successful int        `json:"successful"`
	Failed     int        `json:"failed"`
	Data       []ToolItem `json:"data"`
	Error      string     `json:"error,omitempty"`
	// Status is set on calls that never ran to an end, such as "aborted".
	Status   string       `json:"status,omitempty"`
	Metadata ToolMetadata `json:"metadata"`
}

// ItemStatus is success or failed; how exactly it failed is Outcome.
type ItemStatus string

// The statuses.
const (
	ItemSuccess ItemStatus = "success"
	ItemFailed  ItemStatus = "failed"
)

// ToolItem is the result for one device, node or link. ID is the node's id, else its name.
type ToolItem struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Status  ItemStatus `json:"status"`
	Outcome string     `json:"outcome,omitempty"` // one of the outcomes, or empty
	Result  string     `json:"result,omitempty"`
	Error   string     `json:"error,omitempty"`
}

// Outcomes say how an item failed, where that matters to a reader.
const (
	OutcomeAborted = "aborted"
	OutcomePartial = "partial"
)

// ToolMetadata describes the run. ExecutionTime is in seconds.
type ToolMetadata struct {
	ToolName      string     `json:"tool_name"`
	Version       string     `json:"version"`
	ExecutionTime float64    `json:"execution_time"`
	Timestamp     string     `json:"timestamp"`
	Error         *ToolError `json:"error,omitempty"`
}

// ToolErrorCode is one of the tool interface's own codes.
type ToolErrorCode string

// The tool interface's codes.
const (
	ToolValidation    ToolErrorCode = "VALIDATION_ERROR"
	ToolExecution     ToolErrorCode = "EXECUTION_ERROR"
	ToolTimeout       ToolErrorCode = "TIMEOUT_ERROR"
	ToolPermission    ToolErrorCode = "PERMISSION_ERROR"
	ToolResource      ToolErrorCode = "RESOURCE_ERROR"
	ToolConfiguration ToolErrorCode = "CONFIGURATION_ERROR"
)

// ToolError is the machine-readable part of a global error.
type ToolError struct {
	Code     ToolErrorCode  `json:"code"`
	Details  map[string]any `json:"details,omitempty"`
	Solution string         `json:"solution,omitempty"`
}

// NewToolResponse counts the items.
func NewToolResponse(tool string, items []ToolItem, took time.Duration, now time.Time) ToolResponse {
	r := ToolResponse{
		Total: len(items),
		Data:  items,
		Metadata: ToolMetadata{
			ToolName:      tool,
			Version:       "1.0",
			ExecutionTime: float64(took.Milliseconds()) / 1000,
			Timestamp:     now.UTC().Format(time.RFC3339Nano),
		},
	}
	if r.Data == nil {
		r.Data = []ToolItem{}
	}
	for _, it := range items {
		if it.Status == ItemSuccess {
			r.Successful++
		}
	}
	r.Failed = r.Total - r.Successful
	r.Success = r.Failed == 0
	return r
}

// FailedToolResponse is the result of a call that failed as a whole.
func FailedToolResponse(tool string, err error, took time.Duration, now time.Time) ToolResponse {
	e := AsError(err)
	r := NewToolResponse(tool, nil, took, now)
	r.Success = false
	r.Error = e.Message
	r.Metadata.Error = &ToolError{
		Code:     toolCode(e.Code),
		Details:  map[string]any{"code": string(e.Code)},
		Solution: e.Hint,
	}
	return r
}

// toolCode maps our codes to the tool interface's.
func toolCode(c Code) ToolErrorCode {
	switch c {
	case CodeToolUnknown, CodeToolArguments, CodeInvalid, CodeMalformed:
		return ToolValidation
	case CodeCommandTimeout, CodeExpired:
		return ToolTimeout
	case CodeRefused, CodeForbidden, CodeUnauthorized, CodeCredentialMissing, CodeProjectClosed:
		return ToolPermission
	case CodeGNS3Unavailable, CodeUnavailable, CodeDeviceUnknown, CodeNotFound, CodeNodeStopped,
		CodeConsoleNone, CodeConsoleRefused, CodeConsoleSilent, CodeConsoleClosed, CodeConsoleBusy:
		return ToolResource
	case CodeModelNotConfigured:
		return ToolConfiguration
	default:
		return ToolExecution
	}
}

// MaxItemText bounds one item's text in events, in history and towards the model, in bytes.
const MaxItemText = 64 << 10

// CutText keeps the first and the last part of a text over max bytes and says how much is left out between them. It never
// cuts inside a character.
func CutText(s string, max int) string {
	if len(s) <= max {
		return s
	}
	const note = 64 // room for the line between
	half := (max - note) / 2
	head, tail := half, len(s)-half
	for head > 0 && !runeStart(s[head]) {
		head--
	}
	for tail < len(s) && !runeStart(s[tail]) {
		tail++
	}
	return s[:head] + fmt.Sprintf("\n… %d bytes left out …\n", tail-head) + s[tail:]
}

func runeStart(b byte) bool { return b&0xC0 != 0x80 }

// Cut bounds every item's text and reports whether anything was left out.
func (r ToolResponse) Cut(max int) (ToolResponse, bool) {
	cut := false
	data := make([]ToolItem, len(r.Data))
	for i, it := range r.Data {
		cut = cut || len(it.Result) > max || len(it.Error) > max
		it.Result, it.Error = CutText(it.Result, max), CutText(it.Error, max)
		data[i] = it
	}
	r.Data = data
	return r, cut
}
