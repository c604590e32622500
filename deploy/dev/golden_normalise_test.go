package dev_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	workflowservice "go.temporal.io/api/workflowservice/v1"
)

// volatile finds what differs from run to run. A value is found by its whole form, so that one in another form stays and is a difference.
var volatile = regexp.MustCompile(`(?P<event>` + uuidForm + `\.\d+n?\b)|(?P<uuid>\b` + uuidForm + `\b)|(?P<call>\bcall_[0-9a-f]{24}\b)` +
	`|(?P<hitl>\bhitl_` + uuidForm + `\b)|(?P<deadline>\b\d\d:\d\d:\d\d UTC\b)|(?P<clock>\*Mar +1 00:\d\d:\d\d\.\d{3})` +
	`|(?P<time>\b\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:?\d\d)?)|(?P<port>127\.0\.0\.1:\d+)` +
	`|"request_id"(?P<blank1>: ?)"(?P<request>[A-Za-z0-9-]{32,36})"` +
	`|(?P<estimate>"input_tokens": ?\d+,\s*"output_tokens": ?\d+,\s*"total_tokens": ?\d+,\s*"llm_calls": ?\d+,\s*"tool_calls": ?\d+,\s*"estimated": ?true)` +
	`|"(?:first_content|duration)_ms": ?(?P<lasted>\d+)` +
	`|"date"(?P<blank4>: ?)"(?P<date>\d{4}-\d\d-\d\d)"|Retry-After: (?P<after>\d+)` +
	`|(?P<counters>"llm_calls_count": ?\d+,\s*"input_tokens": ?\d+,\s*"output_tokens": ?\d+,\s*"total_tokens": ?\d+)` +
	`|"remaining"(?P<blank2>: ?)(?P<remaining>\d+)|\\?"execution_time\\?": (?P<took>[0-9.e-]+)|(?P<blank3>\n +)"id": (?P<number>\d+),`)

// tokens finds the numbers of an estimate, which depend on the prompts' lengths.
var tokens = regexp.MustCompile(`("(?:input|output|total)_tokens": ?)\d+`)

const uuidForm = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

// placeholder finds what stands for such a value in a golden file.
var placeholder = regexp.MustCompile(`<[a-z]+(?: \d+)?>`)

// normaliser numbers values in the order of their appearance: the same value has the same number all over a file.
type normaliser struct {
	t      *testing.T
	known  map[string]string
	counts map[string]int
}

func newNormaliser(t *testing.T) *normaliser {
	return &normaliser{t: t, known: map[string]string{}, counts: map[string]int{}}
}

func (n *normaliser) numbered(kind, value string) string {
	if _, known := n.known[kind+value]; !known {
		n.counts[kind]++
		n.known[kind+value] = fmt.Sprintf("<%s %d>", kind, n.counts[kind])
	}
	return n.known[kind+value]
}

func (n *normaliser) text(s string) string {
	n.t.Helper()
	estimated := strings.Contains(s, `"estimated":true`) // so that a session's counters are estimates, too
	return volatile.ReplaceAllStringFunc(s, func(found string) string {
		m := volatile.FindStringSubmatch(found)
		part := func(name string) string { return m[volatile.SubexpIndex(name)] }
		switch {
		case part("event") != "":
			turn, _, _ := strings.Cut(found, ".")
			return n.numbered("uuid", turn) + "." + n.numbered("seq", found)
		case part("uuid") != "":
			return n.numbered("uuid", found)
		case part("call") != "":
			return n.numbered("call", found)
		case part("hitl") != "":
			return n.numbered("hitl", found)
		case part("deadline") != "":
			return "<deadline>"
		case part("clock") != "":
			return "*<clock>"
		case part("time") != "":
			return n.time(found)
		case part("port") != "":
			return "127.0.0.1:" + n.numbered("port", found)
		case part("request") != "":
			return `"request_id"` + part("blank1") + `"<request>"`
		case part("date") != "":
			if day, err := time.Parse(time.DateOnly, part("date")); err != nil || time.Since(day) > 25*time.Hour || time.Until(day) > 0 {
				n.t.Errorf("%s is not today in UTC", part("date"))
			}
			return `"date"` + part("blank4") + `"<date>"`
		case part("after") != "":
			return "Retry-After: <seconds>"
		case part("remaining") != "":
			return `"remaining"` + part("blank2") + "<seconds>"
		case part("lasted") != "":
			return strings.TrimSuffix(found, part("lasted")) + "<milliseconds>"
		case part("took") != "":
			return strings.TrimSuffix(found, part("took")) + "<seconds>"
		case part("counters") != "" && !estimated:
			return found
		case part("estimate") != "" || part("counters") != "":
			return tokens.ReplaceAllString(found, "$1<tokens>")
		default:
			return part("blank3") + `"id": <number>,`
		}
	})
}

// time checks a moment before it is replaced: the chat API's form has microseconds and no zone, the rest is RFC 3339 in UTC. Both are now, but
// for a deadline.
func (n *normaliser) time(value string) string {
	n.t.Helper()
	kind, moment, err := "instant", time.Time{}, error(nil)
	if strings.HasSuffix(value, "Z") {
		moment, err = time.Parse(time.RFC3339Nano, value)
	} else {
		kind = "time"
		if moment, err = time.Parse("2006-01-02T15:04:05.000000", value); err == nil && moment.Format("2006-01-02T15:04:05.000000") != value {
			err = fmt.Errorf("no microseconds")
		}
	}
	if err != nil {
		n.t.Errorf("the time %s has no form that the API has: %v", value, err)
		return value
	}
	if off := time.Until(moment).Abs(); off > 15*time.Minute {
		n.t.Errorf("the time %s is %v off: not in UTC?", value, off)
	}
	return n.numbered(kind, value)
}

// pendingActivities names the activities that a workflow waits for.
func pendingActivities(d *workflowservice.DescribeWorkflowExecutionResponse) []string {
	var names []string
	for _, a := range d.GetPendingActivities() {
		names = append(names, a.GetActivityType().GetName())
	}
	return names
}
