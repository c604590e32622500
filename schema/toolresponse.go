package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// ToolResponse is the standard result of every tool (tool response format, version 1.0). Total, Successful and Failed always agree
// with Data; Success is true when nothing failed and there is no global error.
type ToolResponse struct {
	Success    bool       `json:"success"`
	Total      int        `json:"total"`
	Successful int        `json:"successful"`
	Failed     int        `json:"failed"`
	Data       []ToolItem `json:"data" nullable:"false"`
	Error      string     `json:"error,omitempty"`
	// Status is set on calls that never ran to an end, such as "aborted".
	Status   string       `json:"status,omitempty" doc:"What became of a call that didn't run to an end: aborted, rejected, modified or expired."`
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
	ID      string     `json:"id" doc:"The node's id, else its name."`
	Name    string     `json:"name"`
	Status  ItemStatus `json:"status" enum:"success,failed"`
	Outcome string     `json:"outcome,omitempty" enum:"aborted,partial,unknown,nothing,rejected,modified,expired" doc:"How it failed, where that matters."`
	Result  string     `json:"result,omitempty"`
	Error   string     `json:"error,omitempty"`
}

// Outcomes say how an item failed, where that matters to a reader.
const (
	OutcomeAborted  = "aborted"
	OutcomePartial  = "partial"
	OutcomeUnknown  = "unknown"
	OutcomeRejected = "rejected"
	OutcomeExpired  = "expired"
)

// ToolMetadata describes the run. ExecutionTime is in seconds. In JSON, Extra's fields stand beside the others, which it can't replace.
type ToolMetadata struct {
	ToolName      string     `json:"tool_name"`
	Version       string     `json:"version"`
	ExecutionTime float64    `json:"execution_time"`
	Timestamp     string     `json:"timestamp"`
	Error         *ToolError `json:"error,omitempty"`
	// Extra is what a foreign result says besides its items.
	Extra map[string]any `json:"-"`
}

// metadataNames are the names that ToolMetadata has fields for.
var metadataNames = [...]string{"tool_name", "version", "execution_time", "timestamp", "error"}

// MarshalJSON writes the extra fields beside the known ones.
func (m ToolMetadata) MarshalJSON() ([]byte, error) {
	type plain ToolMetadata
	known := Text(plain(m))
	extra := maps.Clone(m.Extra)
	for _, name := range metadataNames {
		delete(extra, name)
	}
	if len(extra) == 0 {
		return known, nil
	}
	return slices.Concat(bytes.TrimSuffix(known, []byte("}")), []byte(","), bytes.TrimPrefix(Text(extra), []byte("{"))), nil
}

// UnmarshalJSON reads the known fields, and the others into Extra, with numbers as json.Number.
func (m *ToolMetadata) UnmarshalJSON(text []byte) error {
	type plain ToolMetadata
	var known plain
	if err := json.Unmarshal(text, &known); err != nil {
		return err
	}
	v, err := parseJSON(string(text))
	if err != nil {
		return err
	}
	extra, _ := v.(map[string]any)
	for _, name := range metadataNames {
		delete(extra, name)
	}
	if known.Extra = extra; len(extra) == 0 {
		known.Extra = nil
	}
	*m = ToolMetadata(known)
	return nil
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
	Code     ToolErrorCode  `json:"code" enum:"VALIDATION_ERROR,EXECUTION_ERROR,TIMEOUT_ERROR,PERMISSION_ERROR,RESOURCE_ERROR,CONFIGURATION_ERROR"`
	Details  map[string]any `json:"details,omitempty" doc:"code: which failure it was in detail, such as console_busy."`
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

// Cut bounds every item's text, the global error and the extra metadata, and reports whether anything was left out.
func (r ToolResponse) Cut(max int) (ToolResponse, bool) {
	cut := false
	data := make([]ToolItem, len(r.Data))
	for i, it := range r.Data {
		cut = cut || len(it.Result) > max || len(it.Error) > max
		it.Result, it.Error = CutText(it.Result, max), CutText(it.Error, max)
		data[i] = it
	}
	r.Data = data
	cut = cut || len(r.Error) > max
	r.Error = CutText(r.Error, max)
	if r.Metadata.Extra != nil {
		if extra := string(Text(r.Metadata.Extra)); len(extra) > max {
			r.Metadata.Extra, cut = map[string]any{"extra": CutText(extra, max)}, true
		}
	}
	return r, cut
}

// ToolReadOutput is the tool that reads what was left out of a result.
const ToolReadOutput = "read_tool_output"

// HowToRead tells the model how to get at the whole of a call's result.
func HowToRead(callID string) string {
	return ToolReadOutput + " reads all of this result: its id is " + callID
}

// WithExtra adds a field to the metadata.
func (r ToolResponse) WithExtra(name string, value any) ToolResponse {
	extra := maps.Clone(r.Metadata.Extra)
	if extra == nil {
		extra = map[string]any{}
	}
	extra[name] = value
	r.Metadata.Extra = extra
	return r
}
