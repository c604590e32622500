//go:build record

package dev_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	temporal "go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"
)

// TestRecordHistories runs a turn of each kind on a real server and keeps its history for the replay tests.
func TestRecordHistories(t *testing.T) {
	dir := "../../workflows/testdata/histories"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	u := login(t, "admin")
	show := `{"device_configs": [{"device_name": "R1", "commands": ["show version"]}]}`
	suite.model.On("plain", text("hello"))
	suite.model.On("tool", call(commandsTool, show), text("done"))
	suite.model.On("two tools", func(r *scriptmodel.Reply) { r.Call(commandsTool, show); r.Call("gns3_topology_reader", `{}`) }, text("done"))
	suite.model.On("refused", call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["debug all"]}]}`), text("I see"))
	suite.model.On("model error", func(r *scriptmodel.Reply) { r.Fail(401, `{"error":{"message":"no"}}`) })
	suite.model.On("abort text", func(r *scriptmodel.Reply) { r.Say("x"); r.Hold(nil) })
	suite.model.On("abort command", call(commandsTool, `{"device_configs": [{"device_name": "PC1", "commands": ["ping 10.255.255.254 -c 60"]}]}`))
	for name, message := range map[string]string{
		"plain": "plain", "tool": "tool", "two-tools": "two tools", "refused": "refused", "model-error": "model error",
	} {
		session := newSession()
		u.say(session, message)
		record(t, suite.stack.TemporalAddress(), session, filepath.Join(dir, name+".json"))
	}
	for name, at := range map[string]func(client.Received) bool{
		"abort-text": isType(schema.EventContent),
		"abort-command": func(ev client.Received) bool {
			return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning
		},
	} {
		session := newSession()
		message := map[string]string{"abort-text": "abort text", "abort-command": "abort command"}[name]
		abortAt(t, u, session, message, at)
		record(t, suite.stack.TemporalAddress(), session, filepath.Join(dir, name+".json"))
	}
	recordApprovals(t, u, dir)
	spoil(t, dir)
}

// recordApprovals runs a turn for each thing that can become of a call that waits.
func recordApprovals(t *testing.T, u user, dir string) {
	t.Helper()
	change := configure("R1", "interface Loopback90", "description recorded")
	other := configure("R1", "interface Loopback90", "description otherwise")
	var args map[string]any
	if err := json.Unmarshal([]byte(other), &args); err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func(session string, asked client.Received) error{
		"approval-confirmed": func(session string, _ client.Received) error {
			_, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true})
			return err
		},
		"approval-rejected": func(session string, _ client.Received) error {
			_, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{RejectAll: true, Reason: "no"})
			return err
		},
		"approval-modified": func(session string, asked client.Received) error {
			_, err := u.Modify(t.Context(), u.project, session, schema.ModifyRequest{ToolCallID: asked.PendingTools[0].ToolCallID, ModifiedArgs: args})
			return err
		},
		"approval-aborted": func(session string, _ client.Received) error { return u.Abort(t.Context(), u.project, session) },
	} {
		session := newSession()
		second := text("done")
		if name == "approval-modified" {
			second = call(configTool, other)
		}
		s, asked := propose(t, u, session, name, call(configTool, change), second, text("done"))
		if err := end(session, last(asked)); err != nil {
			t.Fatal(err)
		}
		until(t, s, isType(schema.EventDone))
		record(t, suite.stack.TemporalAddress(), session, filepath.Join(dir, name+".json"))
	}
	hurried := options(t.TempDir())
	hurried.Limits.ApprovalWait = time.Second
	stack := startWith(t, hurried)
	late, session := loginAt(t, stack.URL(), "admin"), newSession()
	s, _ := propose(t, late, session, "approval-expired", call(configTool, change), text("done"))
	until(t, s, isType(schema.EventDone))
	record(t, stack.TemporalAddress(), session, filepath.Join(dir, "approval-expired.json"))
}

// record writes the history of the session's turn.
func record(t *testing.T, temporalAddress, session, path string) {
	t.Helper()
	c, err := temporal.DialContext(t.Context(), temporal.Options{HostPort: temporalAddress})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	runs, err := c.ListWorkflow(t.Context(), listOf(session))
	if err != nil || len(runs.GetExecutions()) != 1 {
		t.Fatalf("%v %v", runs, err)
	}
	id := runs.GetExecutions()[0].GetExecution()
	if err := c.GetWorkflow(t.Context(), id.GetWorkflowId(), id.GetRunId()).Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	write(t, path, runHistory(t, c, id.GetWorkflowId(), id.GetRunId()))
}

func write(t *testing.T, path string, history *historypb.History) {
	t.Helper()
	b, err := protojson.MarshalOptions{Indent: " "}.Marshal(history)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// spoil makes histories that our code can't have made, out of one that it did.
func spoil(t *testing.T, dir string) {
	t.Helper()
	for name, change := range map[string]func(*historypb.HistoryEvent){
		"bad-another-activity": func(ev *historypb.HistoryEvent) {
			if a := ev.GetActivityTaskScheduledEventAttributes(); a != nil && a.GetActivityType().GetName() == schema.ActivityRunTool {
				a.ActivityType.Name = schema.ActivityCallModel
			}
		},
		"bad-timer": func(ev *historypb.HistoryEvent) {
			if a := ev.GetActivityTaskScheduledEventAttributes(); a != nil && a.GetActivityType().GetName() == schema.ActivityRunTool {
				ev.EventType = enumspb.EVENT_TYPE_TIMER_STARTED
				ev.Attributes = &historypb.HistoryEvent_TimerStartedEventAttributes{TimerStartedEventAttributes: &historypb.TimerStartedEventAttributes{TimerId: "1"}}
			}
		},
	} {
		b, err := os.ReadFile(filepath.Join(dir, "tool.json"))
		if err != nil {
			t.Fatal(err)
		}
		var history historypb.History
		if err := protojson.Unmarshal(b, &history); err != nil {
			t.Fatal(err)
		}
		for _, ev := range history.Events {
			change(ev)
		}
		write(t, filepath.Join(dir, name+".json"), &history)
	}
}
