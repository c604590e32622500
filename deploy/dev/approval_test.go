package dev_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

const configTool = "execute_multiple_device_config_commands"

// configure is the arguments of a call that sends lines to one device.
func configure(device string, lines ...string) string {
	b, err := json.Marshal(map[string]any{"device_configs": []any{map[string]any{"device_name": device, "config_commands": lines}}})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// propose begins a turn whose model calls the config tool, and gives the stream at the moment when a human is asked.
func propose(t *testing.T, u user, session, message string, steps ...scriptmodel.Step) (*client.Stream, []client.Received) {
	t.Helper()
	suite.model.On(message, steps...)
	s := u.post(session, message)
	return s, until(t, s, isType(schema.EventHITLRequired))
}

func results(t *testing.T, events []client.Received) map[string]schema.ToolResponse {
	t.Helper()
	all := map[string]schema.ToolResponse{}
	for _, ev := range events {
		if ev.Type != schema.EventToolEnd {
			continue
		}
		var r schema.ToolResponse
		if err := json.Unmarshal([]byte(ev.ToolOutput), &r); err != nil {
			t.Fatal(err)
		}
		if _, twice := all[ev.ToolCallID]; twice {
			t.Errorf("two results of %s", ev.ToolCallID)
		}
		all[ev.ToolCallID] = r
	}
	return all
}

func sent(device, line string) int {
	n := 0
	for _, l := range suite.lab.Lines(device) {
		if strings.TrimSpace(l) == line {
			n++
		}
	}
	return n
}

func TestConfirmedChange(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "describe it", call(configTool, configure("R1", "interface Loopback7", "description confirmed once", "ip address 10.7.7.7 255.255.255.255")), text("done"))
	required := last(asked)
	if len(required.PendingTools) != 1 || required.Timeout != 300 || required.HITLSessionID == "" {
		t.Fatalf("%+v", required.Event)
	}
	p := required.PendingTools[0]
	if got := p.Preview.Devices[0].Lines; p.DangerLevel != schema.DangerMedium || len(got) != 5 || got[0] != "configure terminal" || got[4] != "end" || p.Preview.Devices[0].ID == "" {
		t.Errorf("%+v", p.Preview)
	}
	if n := sent("R1", "description confirmed once"); n != 0 {
		t.Fatalf("%d lines went out before anybody confirmed", n)
	}
	status, err := u.HITLStatus(t.Context(), u.project, session)
	if err != nil || status.Status != "waiting" || status.PendingTools[0].Remaining < 200 || *status.HITLSessionID != required.HITLSessionID {
		t.Fatalf("%+v %v", status, err)
	}
	inbox, err := u.Inbox(t.Context())
	if err != nil || !slices.ContainsFunc(inbox, func(i schema.InboxItem) bool { return i.SessionID == session }) {
		t.Errorf("not in the inbox: %+v %v", inbox, err)
	}
	reply, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true, ExpectedSHA256: map[string]string{p.ToolCallID: p.ArgsSHA256}})
	if err != nil || reply.Status != "confirmed" || reply.ConfirmedCount != 1 {
		t.Fatalf("%+v %v", reply, err)
	}
	events := until(t, s, isType(schema.EventDone))
	r := results(t, events)[p.ToolCallID]
	if !r.Success || !strings.Contains(r.Data[0].Result, "+ description confirmed once") {
		t.Fatalf("%+v", r)
	}
	if n := sent("R1", "description confirmed once"); n != 1 {
		t.Errorf("the line reached the device %d times", n)
	}
	changes, err := u.Changes(t.Context(), u.project, session)
	if err != nil || len(changes) != 1 || changes[0].State != "done" || changes[0].Acked != 3 || !strings.Contains(changes[0].Diff, "10.7.7.7") {
		t.Errorf("%+v %v", changes, err)
	}
	_, err = u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true})
	if schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("a second confirmation: %v", err)
	}
	decided, err := u.Decided(t.Context())
	if err != nil || len(decided) == 0 || decided[0].DecidedBy != "admin" {
		t.Errorf("%+v %v", decided, err)
	}
}

func TestC14RejectedChange(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "reject it", call(configTool, configure("R2", "interface Loopback8")), text("I see"))
	reply, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{RejectAll: true, Reason: "not today"})
	if err != nil || reply.Status != "rejected" {
		t.Fatalf("%+v %v", reply, err)
	}
	events := until(t, s, isType(schema.EventDone))
	r := results(t, events)[last(asked).PendingTools[0].ToolCallID]
	if r.Success || r.Status != "rejected" || !strings.Contains(r.Error, "Nothing was executed") || !strings.Contains(r.Error, "not today") {
		t.Fatalf("%+v", r)
	}
	if sent("R2", "interface Loopback8") != 0 {
		t.Error("a rejected line reached the device")
	}
}

func TestC9ModifiedChange(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	better := configure("R2", "interface Loopback9", "description better")
	s, asked := propose(t, u, session, "modify it", call(configTool, configure("R2", "interface Loopback9", "description worse")),
		call(configTool, better), call(configTool, better), text("done"))
	p := last(asked).PendingTools[0]
	var args map[string]any
	if err := json.Unmarshal([]byte(better), &args); err != nil {
		t.Fatal(err)
	}
	_, err := u.Modify(t.Context(), u.project, session, schema.ModifyRequest{ToolCallID: p.ToolCallID, ModifiedArgs: map[string]any{"device_configs": 7}})
	if schema.CodeOf(err) != schema.CodeInvalid {
		t.Errorf("arguments that don't fit: %v", err)
	}
	reply, err := u.Modify(t.Context(), u.project, session, schema.ModifyRequest{ToolCallID: p.ToolCallID, ModifiedArgs: args})
	if err != nil || reply.Status != "modified" || reply.ModificationSummary != "  - R2: description worse\n  + R2: description better" {
		t.Fatalf("%+v %v", reply, err)
	}
	// The model's next call with just these arguments runs without another word; the one after it waits again.
	events := until(t, s, isType(schema.EventHITLRequired))
	if sent("R2", "description better") != 1 || sent("R2", "description worse") != 0 {
		t.Errorf("sent: %q", suite.lab.Lines("R2"))
	}
	if _, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{RejectAll: true}); err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))
	if r := results(t, events)[p.ToolCallID]; r.Status != "modified" {
		t.Errorf("%+v", r)
	}
	// What was sent is traced to who allowed it.
	decided, err := u.Decided(t.Context())
	if err != nil || !slices.ContainsFunc(decided, func(d schema.InboxItem) bool {
		return d.SessionID == session && d.State == schema.ApprovalConfirmed && d.DecidedBy == "admin" && len(d.Devices) == 1 && strings.Contains(d.Reason, p.ToolCallID)
	}) {
		t.Errorf("%+v %v", decided, err)
	}
}

func TestHighDangerWantsTwoWords(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "dangerous", call(configTool, configure("R2", "no ip routing")), text("ok"))
	p := last(asked).PendingTools[0]
	if p.DangerLevel != schema.DangerHigh || p.ConfirmationsRequired != 2 || len(p.Reasons) == 0 {
		t.Fatalf("%+v", p)
	}
	reply, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true})
	if err != nil || reply.ConfirmedCount != 0 || reply.Status != "pending" || len(reply.StillPending) != 1 {
		t.Fatalf("%+v %v", reply, err)
	}
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ToolCallIDs: []string{p.ToolCallID}}); schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("a second click: %v", err)
	}
	if sent("R2", "no ip routing") != 0 {
		t.Fatal("it was sent after one word")
	}
	if _, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{ToolCallIDs: []string{p.ToolCallID}}); err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))
}

func TestAReadingToolIsGatedToo(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "sly", call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show clock\nreload"]}]}`), text("ok"))
	if p := last(asked).PendingTools[0]; p.DangerLevel != schema.DangerHigh {
		t.Errorf("%+v", p)
	}
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	events := until(t, s, isType(schema.EventDone))
	if !strings.Contains(types(events), "hitl_resolved tool_end abort done") || sent("R1", "reload") != 0 {
		t.Errorf("%s", types(events))
	}
	if status, err := u.HITLStatus(t.Context(), u.project, session); err != nil || status.Status != "idle" {
		t.Errorf("%+v %v", status, err)
	}
}

func TestC1C2C3C5PartialDecisions(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "three", func(r *scriptmodel.Reply) {
		r.Call(configTool, configure("R1", "interface Loopback21"))
		r.Call(commandsTool, `{"device_configs": [{"device_name": "R2", "commands": ["show clock"]}]}`)
		r.Call(configTool, configure("R1", "interface Loopback22"))
		r.Call(configTool, configure("R2", "interface Loopback23"))
	}, text("ok"))
	tools := last(asked).PendingTools
	if len(tools) != 3 {
		t.Fatalf("%d wait", len(tools))
	}
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ToolCallIDs: []string{"call_unknown"}}); schema.CodeOf(err) != schema.CodeMalformed {
		t.Errorf("an unknown id: %v", err)
	}
	wrong := schema.ConfirmRequest{ConfirmAll: true, ExpectedSHA256: map[string]string{tools[0].ToolCallID: "0000"}}
	if _, err := u.Confirm(t.Context(), u.project, session, wrong); schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("other arguments: %v", err)
	}
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ToolCallIDs: []string{tools[2].ToolCallID}}); err != nil {
		t.Fatal(err)
	}
	status, err := u.HITLStatus(t.Context(), u.project, session)
	if err != nil || len(status.PendingTools) != 2 {
		t.Fatalf("%+v %v", status, err)
	}
	if _, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{ToolCallIDs: []string{tools[0].ToolCallID}}); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	events := append(asked, until(t, s, isType(schema.EventDone))...)
	all := results(t, events)
	if len(all) != 4 || all[tools[0].ToolCallID].Status != "rejected" || !all[tools[1].ToolCallID].Success || !all[tools[2].ToolCallID].Success {
		t.Errorf("%+v", all)
	}
	if sent("R1", "interface Loopback21") != 0 || sent("R1", "interface Loopback22") != 1 || sent("R2", "interface Loopback23") != 1 {
		t.Error("other lines were sent than were confirmed")
	}
}

func TestC6ManyWordsAtOnce(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, _ := propose(t, u, session, "race", call(configTool, configure("R1", "interface Loopback31", "description raced")), text("ok"))
	var wg sync.WaitGroup
	var mu sync.Mutex
	confirmed, rejected := 0, 0
	for i := range 20 {
		wg.Go(func() {
			var reply schema.DecisionReply
			var err error
			if i%2 == 0 {
				reply, err = u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true})
			} else {
				reply, err = u.Reject(t.Context(), u.project, session, schema.RejectRequest{RejectAll: true})
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && reply.Status == "confirmed":
				confirmed++
			case err == nil && reply.Status == "rejected":
				rejected++
			case schema.CodeOf(err) != schema.CodeConflict:
				t.Errorf("%+v %v", reply, err)
			}
		})
	}
	wg.Wait()
	until(t, s, isType(schema.EventDone))
	if confirmed+rejected != 1 || sent("R1", "description raced") != confirmed {
		t.Errorf("%d confirmed, %d rejected, sent %d times", confirmed, rejected, sent("R1", "description raced"))
	}
}

func TestC16NobodyDecides(t *testing.T) {
	data := t.TempDir()
	o := options(data)
	o.Limits.ApprovalWait = time.Second
	s := startWith(t, o)
	u, session := loginAt(t, s.URL(), "admin"), newSession()
	stream, asked := propose(t, u, session, "too late", call(configTool, configure("R1", "interface Loopback41")), text("ok"))
	events := until(t, stream, isType(schema.EventDone))
	r := results(t, events)[last(asked).PendingTools[0].ToolCallID]
	if r.Status != "expired" || !strings.Contains(r.Error, "Nothing was executed") || last(events).StopReason != schema.StopComplete {
		t.Errorf("%+v", r)
	}
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("a late word: %v", err)
	}
	if sent("R1", "interface Loopback41") != 0 {
		t.Error("an expired line reached the device")
	}
}

func TestFirstRejectedLineStopsTheDevice(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "bad line", call(configTool, configure("R2", "interface Loopback51", "ip addres 1.1.1.1", "description never sent")), text("ok"))
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	r := results(t, until(t, s, isType(schema.EventDone)))[last(asked).PendingTools[0].ToolCallID]
	if r.Success || !strings.Contains(r.Data[0].Error, "line 2 of 3") || !strings.Contains(r.Data[0].Error, "1 of 3 lines were acknowledged") {
		t.Errorf("%+v", r)
	}
	if sent("R2", "description never sent") != 0 {
		t.Error("a line behind the rejected one was sent")
	}
	suite.model.On("look after", call(commandsTool, `{"device_configs": [{"device_name": "R2", "commands": ["show clock"]}]}`), text("ok"))
	if r := toolResult(t, u.say(newSession(), "look after")); !r.Success {
		t.Errorf("the console isn't at its base prompt: %+v", r)
	}
}

func TestAnotherUserOfTheProjectDecidesNothing(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, _ := propose(t, u, session, "guarded", call(configTool, configure("R1", "interface Loopback61")), text("ok"))
	student := login(t, "student")
	if _, err := student.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); schema.CodeOf(err) != schema.CodeNotFound {
		t.Errorf("in a foreign project: %v", err)
	}
	if _, err := student.Confirm(t.Context(), student.project, session, schema.ConfirmRequest{ConfirmAll: true}); schema.CodeOf(err) != schema.CodeNotFound {
		t.Errorf("in the own project: %v", err)
	}
	if inbox, err := student.Inbox(t.Context()); err != nil || len(inbox) != 0 {
		t.Errorf("%+v %v", inbox, err)
	}
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))
}

func TestVPCSChangesWaitAndReadsDoNot(t *testing.T) {
	u := login(t, "admin")
	suite.model.On("vpcs reads", call("execute_vpcs_commands", `{"device_configs": [{"device_name": "PC1", "commands": ["show ip"]}]}`), text("ok"))
	if r := toolResult(t, u.say(newSession(), "vpcs reads")); !r.Success {
		t.Errorf("%+v", r)
	}
	session := newSession()
	s, asked := propose(t, u, session, "vpcs changes", call("execute_vpcs_commands", `{"device_configs": [{"device_name": "PC1", "commands": ["set pcname PC1"]}]}`), text("ok"))
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	if r := results(t, until(t, s, isType(schema.EventDone)))[last(asked).PendingTools[0].ToolCallID]; !r.Success || sent("PC1", "set pcname PC1") != 1 {
		t.Errorf("%+v", r)
	}
}
