package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The fields that older forms of an item have for the same thing; the first one that says something counts.
var (
	nameFields   = []string{"name", "device_name", "node_name"}
	idFields     = []string{"id", "node_id", "link_id", "template_id"}
	resultFields = []string{"result", "output", "message"}
)

// successWords are the statuses of what went well; others are failures.
var successWords = [...]string{"success", "ok", "completed", "done", "created", "started", "stopped", "suspended", "running", "true"}

// outcomeWords say what an outcome means, in an item that doesn't say it itself.
var outcomeWords = map[string]string{
	OutcomeAborted:  "This was aborted",
	OutcomePartial:  "Only a part of this was done (partial success)",
	OutcomeUnknown:  "The outcome of this is unknown",
	OutcomeRejected: "This was rejected",
	OutcomeExpired:  "The time to decide on this expired",
}

// readItem reads one member of a list of items. Name is empty when the member has none.
func readItem(v any) ToolItem {
	switch v := v.(type) {
	case map[string]any:
		return readObject(v)
	case string:
		if strings.TrimSpace(v) != "" {
			return ToolItem{Status: ItemSuccess, Result: v}
		}
	case nil:
	default:
		return unreadable(string(Text(v)), "This item can't be read: it is neither an object nor a text.")
	}
	return unreadable("", "This item is empty.")
}

// readObject takes the fields of an item out of the object; the result falls back on what is left.
func readObject(o map[string]any) ToolItem {
	if len(o) == 0 {
		return unreadable("", "This item is empty.")
	}
	it := ToolItem{Name: take(o, nameFields), ID: take(o, idFields), Status: ItemSuccess}
	it.Name, it.ID = cmp.Or(it.Name, it.ID), cmp.Or(it.ID, it.Name)
	why, failed := errorText(o["error"])
	delete(o, "error")
	word, well := takeStatus(o)
	outcome := takeOutcome(o, well)
	message := scalar(o["message"])
	it.Result = takeResult(o)
	left := ""
	if len(o) > 0 {
		left = string(Text(o))
	}
	if !well || failed || outcome != "" {
		it.Status, it.Outcome = ItemFailed, cmp.Or(outcome, outcomeOf(word))
		it.Error = reason(it.Outcome, word, why, message)
		if outcome != "" && why != "" {
			it.Error = why // who names the outcome knows what to say
		}
		if why == "" && it.Result != "" && left != "" {
			it.Error += " " + left // such as the commands that were blocked
		}
	}
	it.Result = cmp.Or(it.Result, left)
	return it
}

// reason says why an item failed, and names the outcome.
func reason(outcome, status, why, message string) string {
	why = cmp.Or(why, message)
	say, known := outcomeWords[outcome]
	switch {
	case known && why == "":
		return say + "."
	case known && !strings.Contains(strings.ToLower(why), outcome):
		return say + ": " + why
	case why != "":
		return why
	case status == "" || status == "false":
		return noReason
	default:
		return fmt.Sprintf("The tool gave the status %q and no reason.", CutText(status, 100))
	}
}

// first gives the first of the fields that is a text or a number.
func first(o map[string]any, fields []string) string {
	for _, field := range fields {
		if s := scalar(o[field]); s != "" {
			return s
		}
	}
	return ""
}

// take is first, and removes that field and what says nothing.
func take(o map[string]any, fields []string) string {
	for _, field := range fields {
		s := scalar(o[field])
		if v := o[field]; s != "" || v == nil || v == "" {
			delete(o, field)
		}
		if s != "" {
			return s
		}
	}
	return ""
}

// scalar is the text of a text or a number, and empty for a blank one and for all else.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) == "" {
			return ""
		}
		return v
	case nil, bool, []any, map[string]any:
		return ""
	default:
		return string(Text(v))
	}
}

// takeResult gives the result in its own words, else as JSON.
func takeResult(o map[string]any) string {
	for _, field := range resultFields {
		v, ok := o[field]
		if !ok {
			continue
		}
		delete(o, field)
		switch s, isText := v.(string); {
		case isText && s != "":
			return s
		case !isText && v != nil:
			return string(Text(v))
		}
	}
	return ""
}

// takeStatus gives the status word, and whether all went well, as it did when there is none. A status that says more than that stays.
func takeStatus(o map[string]any) (word string, well bool) {
	success, judged := o["success"].(bool)
	if judged {
		delete(o, "success")
	}
	if o["status"] == nil {
		delete(o, "status")
		return "", success || !judged
	}
	word = cmp.Or(statusWord(o["status"]), OutcomeUnknown)
	well = slices.Contains(successWords[:], word)
	if well && judged && !success {
		word, well = "false", false
	}
	if !well || word == "success" || word == "ok" || word == "true" {
		delete(o, "status")
	}
	return word, well
}

// statusWord brings a status into one form.
func statusWord(v any) string {
	text, ok := v.(string)
	if !ok && v != nil {
		text = string(Text(v))
	}
	return strings.ToLower(strings.TrimSpace(text))
}

// outcomeOf gives the outcome that a status stands for, if it is one.
func outcomeOf(status string) string {
	switch {
	case strings.HasPrefix(status, OutcomePartial):
		return OutcomePartial
	case strings.HasPrefix(status, OutcomeUnknown):
		return OutcomeUnknown
	case outcomeWords[status] != "":
		return status
	default:
		return ""
	}
}

// takeOutcome gives the outcome field. Beside a status that went well it counts only when it is an outcome of ours.
func takeOutcome(o map[string]any, well bool) string {
	outcome, ok := o["outcome"].(string)
	if !ok || (well && outcomeWords[outcome] == "") {
		return ""
	}
	delete(o, "outcome")
	return outcome
}

// errorText gives the words of an error field and whether it stands for a failure: null, false, 0 and what is empty don't.
func errorText(v any) (why string, failed bool) {
	switch v := v.(type) {
	case bool:
		return "", v
	case string:
		why = scalar(v)
		return why, why != ""
	case map[string]any:
		if message := scalar(v["message"]); message != "" && len(v) == 1 {
			return message, true
		}
	}
	why = string(Text(v))
	if slices.Contains([]string{"null", "0", "[]", "{}"}, why) {
		return "", false
	}
	return why, true
}
