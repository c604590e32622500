package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of what is read as items. A result beyond them is one failed item that says so and has the result as text.
const (
	maxResultBytes = 16 << 20
	maxResultItems = 10000
	maxQuotings    = 4 // a JSON text may itself be a JSON string, and so on
)

// NormalizeToolResponse brings a result of any form into the standard one. A text (string, []byte or json.RawMessage) is read as
// JSON, then as a Python literal, and else is one item with the text as its result, failed when it begins with "Error: ", the form of
// an exception. Any other value is taken as its JSON, and an error is a call that failed as a whole.
//
// A list is the items. An object with "data" is a standard result; one with nodes, created_nodes, devices, results, items, links or
// templates wraps items, and several of them follow each other in this order; one that has nothing but "error" is a global error; any
// other is one item. No item of the input is left out: one that can't be read is a failed item that says so. Counts and success are never
// taken from the input. A result that reports a failure and has no items gets a global error. Other fields beside the items go to
// Metadata.Extra.
//
// An item without any name or id is named after the tool, with its position when there are several. An empty tool, a zero took and a
// zero now are filled from the result's own metadata, which the arguments otherwise replace.
func NormalizeToolResponse(tool string, raw any, took time.Duration, now time.Time) ToolResponse {
	r := reading{extra: map[string]any{}}
	switch raw := raw.(type) {
	case error:
		return FailedToolResponse(tool, raw, took, now)
	case string:
		r.text(raw)
	case []byte:
		r.text(string(raw))
	case json.RawMessage:
		r.text(string(raw))
	default:
		text, err := json.Marshal(raw)
		if err != nil {
			r.items = append(r.items, unreadable("", "The tool gave a value that has no form as text."))
			break
		}
		r.text(string(text))
	}
	return r.response(tool, took, now)
}

// reading is what is known of a result so far.
type reading struct {
	items  []ToolItem
	err    string
	detail *ToolError
	status string
	extra  map[string]any
}

func unreadable(text, why string) ToolItem {
	return ToolItem{Status: ItemFailed, Result: text, Error: why}
}

const noReason = "The tool reported a failure and gave no reason."

// errorPrefix is how older tools begin the text of an exception.
const errorPrefix = "Error: "

// text reads a whole result that comes as text, or a text in the place of items.
func (r *reading) text(s string) {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	value, err := parseResult(s)
	switch text, plain := value.(string); {
	case err != nil:
		r.items = append(r.items, unreadable(s, AsError(err).Message))
	case !plain:
		r.value(value)
	case strings.HasPrefix(text, errorPrefix):
		r.items = append(r.items, unreadable(text, strings.TrimPrefix(text, errorPrefix)))
	default:
		r.items = append(r.items, ToolItem{Status: ItemSuccess, Result: text})
	}
}

// parseResult gives a list, an object, nil, or the text itself when it is nothing else. It fails when the bounds don't let it look.
func parseResult(s string) (any, error) {
	for range maxQuotings {
		trimmed := strings.TrimSpace(s)
		if trimmed == "" {
			return nil, nil
		}
		if len(s) > maxResultBytes && strings.IndexByte(`{[("'`, trimmed[0]) >= 0 {
			return nil, Errorf(CodeTooLarge, "This result of %d bytes is too large to be read as items; it is given as text.", len(s))
		}
		value, err := parseJSON(s)
		if err != nil {
			value, err = parseLiteral(s)
		}
		if errors.Is(err, errDeep) || deeper(value, maxDepth) {
			return nil, Errorf(CodeTooLarge, "This result is nested too deep to be read as items; it is given as text.")
		}
		if err != nil {
			return s, nil
		}
		switch v := value.(type) {
		case nil, []any, map[string]any:
			return v, nil
		case string:
			s = v
		default:
			return s, nil // a number, or a word such as True
		}
	}
	return s, nil
}

// parseJSON keeps numbers as they are written.
func parseJSON(s string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more behind the value")
	}
	return v, nil
}

// deeper tells whether more than so many lists and objects lie within each other.
func deeper(v any, than int) bool {
	var inner []any
	switch v := v.(type) {
	case []any:
		inner = v
	case map[string]any:
		inner = slices.Collect(maps.Values(v))
	default:
		return false
	}
	return than == 0 || slices.ContainsFunc(inner, func(v any) bool { return deeper(v, than-1) })
}

// value reads a result, or what stands in the place of items.
func (r *reading) value(v any) {
	switch v := v.(type) {
	case nil:
	case []any:
		r.list(v)
	case map[string]any:
		r.object(v)
	case string:
		r.text(v)
	default:
		r.items = append(r.items, ToolItem{Status: ItemSuccess, Result: string(Text(v))})
	}
}

func (r *reading) list(list []any) {
	if len(r.items)+len(list) > maxResultItems {
		r.items = append(r.items, unreadable(string(Text(list)), fmt.Sprintf("These are %d items, too many to be read one by one.", len(list))))
		return
	}
	for _, v := range list {
		r.items = append(r.items, readItem(v))
	}
}

// wrappers are the fields that hold items when there is no "data".
var wrappers = [...]string{"nodes", "created_nodes", "devices", "results", "items", "links", "templates"}

func (r *reading) object(o map[string]any) {
	if len(o) == 0 {
		return
	}
	if _, ok := o["data"]; ok {
		r.wrapper(o, "data")
		return
	}
	if text, ok := o["error"].(string); ok && len(o) == 1 && strings.TrimSpace(text) == "" {
		r.err = noReason
		return
	}
	wraps := slices.DeleteFunc(slices.Clone(wrappers[:]), func(key string) bool { return !holdsItems(o, key) })
	if len(wraps) > 0 || onlyError(o) {
		r.wrapper(o, wraps...)
		return
	}
	r.ending(o)
	r.items = append(r.items, readItem(o))
}

// holdsItems tells a wrapper's field from one of the same name that is a count or a text.
func holdsItems(o map[string]any, key string) bool {
	v, ok := o[key]
	switch v.(type) {
	case nil, []any, map[string]any:
		return ok
	default:
		return false
	}
}

// counts are the fields that are counted again.
var counts = [...]string{"success", "total", "total_nodes", "successful", "successful_nodes", "failed", "failed_nodes"}

// onlyError tells whether an object has an error and else only what normalising makes anew.
func onlyError(o map[string]any) bool {
	if _, ok := o["error"]; !ok {
		return false
	}
	for key := range o {
		if key != "error" && key != "metadata" && !slices.Contains(counts[:], key) {
			return false
		}
	}
	return true
}

// wrapper reads the items in these fields of an object, and what stands beside them.
func (r *reading) wrapper(o map[string]any, fields ...string) {
	for _, field := range fields {
		r.members(o[field])
		delete(o, field)
	}
	r.globalError(o)
	if r.ending(o) {
		delete(o, "status")
	}
	if own, ok := o["metadata"].(map[string]any); ok {
		delete(o, "metadata")
		maps.Copy(r.extra, own)
		if detail, ok := own["error"].(map[string]any); ok && r.detail == nil {
			r.detail = toolError(detail)
		}
	}
	for _, key := range counts {
		delete(o, key)
	}
	delete(o, "error")
	maps.Copy(r.extra, o)
}

// members reads a wrapper's field. An object of objects has the items' names as its keys.
func (r *reading) members(v any) {
	byName, ok := v.(map[string]any)
	if !ok {
		r.value(v)
		return
	}
	for _, v := range byName {
		if _, ok := v.(map[string]any); !ok {
			r.object(byName)
			return
		}
	}
	var list []any
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		item := byName[name].(map[string]any)
		if len(item) > 0 && first(item, nameFields) == "" {
			item["name"] = name
		}
		list = append(list, item)
	}
	r.list(list)
}

// ending keeps the status of a call that never ran to an end, and tells whether it is one.
func (r *reading) ending(o map[string]any) bool {
	switch word := statusWord(o["status"]); word {
	case OutcomeAborted, OutcomeRejected, OutcomeExpired, string(ApprovalModified):
		r.status = word
		return true
	default:
		return false
	}
}

func (r *reading) globalError(o map[string]any) {
	why, failed := errorText(o["error"])
	if object, ok := o["error"].(map[string]any); ok {
		r.detail = toolError(object)
		if message := scalar(object["message"]); r.detail != nil && message != "" {
			why = message
		}
	}
	if why == "" && len(r.items) == 0 && r.err == "" && (failed || reportsFailure(o)) {
		if why = scalar(o["message"]); why == "" {
			why = noReason
		}
	}
	if why != "" {
		r.err = why
	}
}

// reportsFailure tells whether a wrapper calls itself failed.
func reportsFailure(o map[string]any) bool {
	word := statusWord(o["status"])
	return o["success"] == false || slices.Contains([]string{"failed", "failure", "error", "false"}, word) || outcomeOf(word) != ""
}

// toolError reads the machine-readable part of an error. It gives nil when there is no code.
func toolError(o map[string]any) *ToolError {
	code, _ := o["code"].(string)
	if code == "" {
		return nil
	}
	details, _ := o["details"].(map[string]any)
	solution, _ := o["solution"].(string)
	return &ToolError{Code: ToolErrorCode(code), Details: details, Solution: solution}
}

// response names what has no name and counts.
func (r *reading) response(tool string, took time.Duration, now time.Time) ToolResponse {
	if tool == "" {
		tool, _ = r.extra["tool_name"].(string)
	}
	for i := range r.items {
		it := &r.items[i]
		if it.Name != "" {
			continue
		}
		it.Name = tool
		if tool == "" {
			it.Name = "item"
		}
		if len(r.items) > 1 {
			it.Name += fmt.Sprintf(" %d", i+1)
		}
		it.ID = it.Name
	}
	out := NewToolResponse(tool, r.items, took, now)
	out.Error, out.Status = r.err, r.status
	out.Success = out.Success && r.err == ""
	r.describe(&out.Metadata, took, now)
	return out
}

// describe fills the metadata that the caller doesn't know better.
func (r *reading) describe(m *ToolMetadata, took time.Duration, now time.Time) {
	if took == 0 {
		seconds, _ := r.extra["execution_time"].(json.Number)
		if s, err := seconds.Float64(); err == nil {
			m.ExecutionTime = s
		}
	}
	if now.IsZero() {
		m.Timestamp, _ = r.extra["timestamp"].(string)
	}
	m.Error = r.detail
	for _, known := range metadataNames {
		delete(r.extra, known)
	}
	if len(r.extra) > 0 {
		m.Extra = r.extra
	}
}
