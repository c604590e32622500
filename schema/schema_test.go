package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestEventEncoding(t *testing.T) {
	for want, ev := range map[string]Event{
		`{"type":"content","content":"a <b> & \"c\"\n","message_id":"m","attempt":1,"session_id":"s"}`: {
			Type: EventContent, Content: "a <b> & \"c\"\n", MessageID: "m", Attempt: 1, SessionID: "s"},
		`{"type":"tool_call","tool_call":{"id":"c","type":"function","function":{"name":"n","arguments":"","complete":true}},"session_id":"s"}`: {
			Type: EventToolCall, ToolCall: &ToolCallView{ID: "c", Type: "function", Function: FunctionView{Name: "n", Complete: true}}, SessionID: "s"},
		`{"type":"device_progress","tool_call_id":"c","device_name":"R1","state":"running","detail":"","done":0,"total":2,"session_id":"s"}`: {
			Type: EventDeviceProgress, ToolCallID: "c", DeviceProgress: &DeviceProgress{DeviceName: "R1", State: DeviceRunning, Total: 2}, SessionID: "s"},
		`{"type":"heartbeat","session_id":"s"}`: {Type: EventHeartbeat, SessionID: "s"},
	} {
		text := string(Text(ev))
		if text != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		var back Event
		if err := json.Unmarshal([]byte(text), &back); err != nil || string(Text(back)) != text {
			t.Errorf("%s doesn't come back: %s %v", text, Text(back), err)
		}
	}
}

func TestToolResponseCounts(t *testing.T) {
	r := NewToolResponse("t", []ToolItem{{Status: ItemSuccess}, {Status: ItemFailed}, {Status: "odd"}}, 1500*time.Millisecond, time.Unix(0, 0))
	if r.Total != 3 || r.Successful != 1 || r.Failed != 2 || r.Success || r.Metadata.ExecutionTime != 1.5 {
		t.Fatalf("%+v", r)
	}
	empty := NewToolResponse("t", nil, 0, time.Now())
	if !empty.Success || !strings.Contains(string(Text(empty)), `"data":[]`) {
		t.Fatalf("%s", Text(empty))
	}
	failed := FailedToolResponse("t", Errorf(CodeToolArguments, "bad").WithHint("do this"), 0, time.Now())
	if failed.Success || failed.Error != "bad" || failed.Metadata.Error.Code != ToolValidation || failed.Metadata.Error.Solution != "do this" {
		t.Fatalf("%+v", failed)
	}
	hidden := FailedToolResponse("t", errors.New("open /etc/secret"), 0, time.Now())
	if strings.Contains(string(Text(hidden)), "secret") {
		t.Fatalf("internals shown: %s", Text(hidden))
	}
}

func TestCutText(t *testing.T) {
	for _, s := range []string{strings.Repeat("a", 1000), strings.Repeat("é", 500), strings.Repeat("网络", 200), strings.Repeat("😀", 300)} {
		cut := CutText(s, 200)
		if len(cut) > 200 || !utf8.ValidString(cut) || !strings.Contains(cut, "bytes left out") {
			t.Errorf("%d bytes: %q", len(cut), cut)
		}
		var left int
		head, tail, _ := strings.Cut(cut, "\n… ")
		if _, err := fmt.Sscanf(tail, "%d bytes left out", &left); err != nil {
			t.Fatal(err)
		}
		_, tail, _ = strings.Cut(tail, "…\n")
		if len(head)+left+len(tail) != len(s) || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Errorf("the parts don't add up: %d + %d + %d of %d", len(head), left, len(tail), len(s))
		}
	}
	if CutText("short", 200) != "short" {
		t.Error("a short text was cut")
	}
}

func TestErrors(t *testing.T) {
	e := Errorf(CodeNotFound, "no %s", "thing").WithCause(errors.New("cause"))
	wrapped := fmt.Errorf("outer: %w", e)
	if CodeOf(wrapped) != CodeNotFound || AsError(wrapped).Message != "no thing" || !strings.Contains(wrapped.Error(), "cause") {
		t.Fatalf("%v", wrapped)
	}
	if CodeOf(nil) != "" || AsError(nil) != nil || CodeOf(errors.New("x")) != CodeInternal {
		t.Fatal("codes of what isn't ours")
	}
}

func TestSessionIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "A-b_9": true, strings.Repeat("x", 128): true,
		"": false, strings.Repeat("x", 129): false, "a.b": false, "a b": false, "a/b": false, "a*": false, "é": false, "a\n": false, ">": false,
	} {
		if ValidSessionID(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
	}
}

func TestTimeForm(t *testing.T) {
	text, err := json.Marshal(Time(time.Date(2026, 3, 7, 17, 48, 7, 848519123, time.FixedZone("x", 3600))))
	if err != nil || string(text) != `"2026-03-07T16:48:07.848519"` {
		t.Fatalf("%s %v", text, err)
	}
	var back Time
	if err := json.Unmarshal(text, &back); err != nil || !time.Time(back).Equal(time.Date(2026, 3, 7, 16, 48, 7, 848519000, time.UTC)) {
		t.Fatalf("%v %v", time.Time(back), err)
	}
}
