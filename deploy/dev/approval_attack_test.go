package dev_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// nodeID finds a node of the lab.
func (u user) nodeID(name string) string {
	u.t.Helper()
	_, text := u.raw(http.MethodGet, "/v3/projects/"+u.project+"/nodes", "", true)
	var nodes []struct {
		ID   string `json:"node_id"`
		Name string `json:"name"`
	}
	if err := json.Unmarshal([]byte(text), &nodes); err != nil {
		u.t.Fatal(err)
	}
	for _, n := range nodes {
		if n.Name == name {
			return n.ID
		}
	}
	u.t.Fatalf("no node %s in %s", name, text)
	return ""
}

// change changes a node in the lab.
func (u user) change(id, to string) {
	u.t.Helper()
	if code, text := u.raw(http.MethodPut, "/v3/projects/"+u.project+"/nodes/"+id, to, true); code >= 300 {
		u.t.Fatalf("%d %s", code, text)
	}
}

// TestADoubleClickIsNotTwoWords: the same request several times at once is one word on a high danger, whatever it says of itself.
func TestADoubleClickIsNotTwoWords(t *testing.T) {
	u := login(t, "admin")
	for _, body := range []string{`{"confirm_all": true, "second_confirmation": true}`, `{"tool_call_ids": [%q], "second_confirmation": true}`, `{"tool_call_ids": [%q]}`} {
		session := newSession()
		s, asked := propose(t, u, session, "click "+body, call(configTool, configure("R2", "no ip routing")), text("ok"))
		if strings.Contains(body, "%q") {
			body = fmt.Sprintf(body, last(asked).PendingTools[0].ToolCallID)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { u.raw(http.MethodPost, hitl(u, session)+"confirm", body, true) })
		}
		wg.Wait()
		if status, err := u.HITLStatus(t.Context(), u.project, session); err != nil || status.Status != "waiting" {
			t.Errorf("%s: %+v %v", body, status, err)
		}
		if err := u.Abort(t.Context(), u.project, session); err != nil {
			t.Fatal(err)
		}
		until(t, s, isType(schema.EventDone))
	}
	if sent("R2", "no ip routing") != 0 {
		t.Error("it was sent")
	}
}

// TestANameThatIsTakenLater: lines for a device that wasn't there when a human looked go nowhere, also when another has the name by now.
func TestANameThatIsTakenLater(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.ownLab("Ghost " + session)
	s, asked := propose(t, u, session, "ghost", call(configTool, configure("R1", "interface Loopback91", "description ghost")), text("ok"))
	u.addRouter() // which is named R1
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	events := until(t, s, isType(schema.EventDone))
	if r := results(t, events)[last(asked).PendingTools[0].ToolCallID]; r.Success || sent("Ghost "+session+"/R1", "description ghost") != 0 {
		t.Errorf("%+v", r)
	}
}

// TestAMistaggedVPCS: what is a comment elsewhere runs a program on a VPCS, so its tag must not let it pass.
func TestAMistaggedVPCS(t *testing.T) {
	u := login(t, "admin")
	id := u.nodeID("PC1")
	u.change(id, `{"tags": ["device_type:cisco_ios"]}`)
	defer u.change(id, `{"tags": ["device_type:gns3_vpcs_telnet"]}`)
	for _, tool := range []string{commandsTool, "execute_vpcs_commands"} {
		session := newSession()
		suite.model.On("mistag "+tool, call(tool, `{"device_configs": [{"device_name": "PC1", "commands": ["!touch x", "show ip"]}]}`), text("ok"))
		s := u.post(session, "mistag "+tool)
		events := until(t, s, func(ev client.Received) bool {
			return ev.Type == schema.EventHITLRequired || ev.Type == schema.EventDone
		})
		if last(events).Type != schema.EventHITLRequired || last(events).PendingTools[0].DangerLevel != schema.DangerHigh || sent("PC1", "!touch x") != 0 {
			t.Errorf("%s: %s", tool, types(events))
		}
		if err := u.Abort(t.Context(), u.project, session); err != nil {
			t.Fatal(err)
		}
		until(t, s, isType(schema.EventDone))
	}
}

// TestTheDeviceIsRightAboutWhatItIs: a router that the lab calls by another platform's name is judged again by what it says it is.
func TestTheDeviceIsRightAboutWhatItIs(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	id := u.nodeID("R2")
	u.change(id, `{"tags": ["device_type:juniper_junos"]}`)
	defer u.change(id, `{"tags": ["device_type:cisco_ios_telnet"]}`)
	s, asked := propose(t, u, session, "mislabelled", call(configTool, configure("R2", "delete flash:config.old")), text("ok"))
	p := last(asked).PendingTools[0]
	if p.DangerLevel != schema.DangerMedium {
		t.Fatalf("%+v", p)
	}
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	r := results(t, until(t, s, isType(schema.EventDone)))[p.ToolCallID]
	if r.Success || !strings.Contains(r.Data[0].Error, "Nothing was sent") || sent("R2", "delete flash:config.old") != 0 {
		t.Errorf("%+v", r)
	}
}

// TestAConfirmedReload: two words of a human restart a router, whose own [confirm] is answered.
func TestAConfirmedReload(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "restart R2", call(commandsTool, `{"device_configs": [{"device_name": "R2", "commands": ["write memory", "reload"]}]}`), text("ok"))
	p := last(asked).PendingTools[0]
	for _, second := range []bool{false, true} {
		in := schema.ConfirmRequest{ToolCallIDs: []string{p.ToolCallID}, SecondConfirmation: second}
		if _, err := u.Confirm(t.Context(), u.project, session, in); err != nil {
			t.Fatal(err)
		}
	}
	r := results(t, until(t, s, isType(schema.EventDone)))[p.ToolCallID]
	if !r.Success || !strings.Contains(r.Data[0].Result, "restarts") || sent("R2", "reload") != 1 {
		t.Errorf("%+v", r)
	}
	suite.model.On("after the restart", call(commandsTool, `{"device_configs": [{"device_name": "R2", "commands": ["show clock"]}]}`), text("ok"))
	if r := toolResult(t, u.say(newSession(), "after the restart")); !r.Success {
		t.Errorf("%+v", r)
	}
}

// TestAReadOnAnotherKindOfDevice: what only reads on the device that the tag names may do more on the one that answers.
func TestAReadOnAnotherKindOfDevice(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	id := u.nodeID("R2")
	u.change(id, `{"tags": ["device_type:gns3_vpcs_telnet"]}`)
	defer u.change(id, `{"tags": ["device_type:cisco_ios_telnet"]}`)
	suite.model.On("arp of a router", call(commandsTool, `{"device_configs": [{"device_name": "R2", "commands": ["arp"]}]}`), text("ok"))
	r := toolResult(t, u.say(session, "arp of a router"))
	if r.Success || !strings.Contains(r.Data[0].Error, "does more than read") || sent("R2", "arp") != 0 {
		t.Errorf("%+v", r)
	}
}

// TestAnExecCommandInDoubt: a confirmed command whose end was not seen may have run, and nobody is told to try it again.
func TestAnExecCommandInDoubt(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("warm R1", call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show clock"]}]}`), text("ok"))
	s, asked := propose(t, u, session, "exec in doubt", call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["write memory", "clear counters"]}]}`), text("ok"))
	u.say(newSession(), "warm R1")
	if err := suite.lab.SetFault("R1", simlab.Fault{DropAfter: 1}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = suite.lab.SetFault("R1", simlab.Fault{}) }()
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	events := until(t, s, isType(schema.EventDone))
	it := results(t, events)[last(asked).PendingTools[0].ToolCallID].Data[0]
	if sent("R1", "write memory") != 1 || !strings.Contains(it.Error, "it may have") || strings.Contains(it.Error, "try again") {
		t.Errorf("sent %d times: %+v", sent("R1", "write memory"), it)
	}
}

// TestALargeModification: what a human writes stands once in the result, however many devices it is for.
func TestALargeModification(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	many := func(word string) string {
		var configs []any
		for d := range 40 {
			lines := make([]string, 60)
			for i := range lines {
				lines[i] = fmt.Sprintf("description %s %d %s", word, i, strings.Repeat("x", 30))
			}
			configs = append(configs, map[string]any{"device_name": []string{"R1", "R2"}[d%2], "config_commands": lines})
		}
		return string(schema.Text(map[string]any{"device_configs": configs}))
	}
	s, asked := propose(t, u, session, "large modification", call(configTool, many("one")), text("done"))
	id := last(asked).PendingTools[0].ToolCallID
	var args map[string]any
	if err := json.Unmarshal([]byte(many("two")), &args); err != nil {
		t.Fatal(err)
	}
	reply, err := u.Modify(t.Context(), u.project, session, schema.ModifyRequest{ToolCallID: id, ModifiedArgs: args})
	if err != nil || reply.Status != "modified" {
		t.Fatalf("%+v %v", reply, err)
	}
	events := until(t, s, isType(schema.EventDone))
	if size, most := len(schema.Text(results(t, events)[id])), len(many("two"))*2; size > most {
		t.Errorf("the result has %d bytes for arguments of %d", size, len(many("two")))
	}
}

// TestMoreThanAnEventHolds: calls whose arguments don't fit into one event are asked about all the same.
func TestMoreThanAnEventHolds(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "too much to say", func(r *scriptmodel.Reply) {
		for i := range 30 {
			lines := make([]string, 400)
			for k := range lines {
				lines[k] = fmt.Sprintf("description call %d line %d %s", i, k, strings.Repeat("z", 450))
			}
			r.Call(configTool, configure("R1", lines...))
		}
	}, text("done"))
	if n := len(last(asked).PendingTools); n != 30 {
		t.Fatalf("%d calls", n)
	}
	if status, err := u.HITLStatus(t.Context(), u.project, session); err != nil || len(status.PendingTools) != 30 || status.PendingTools[0].Preview == nil {
		t.Errorf("%d wait, %v", len(status.PendingTools), err)
	}
	if _, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{RejectAll: true}); err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))
}

// TestAbortOfASlowDevice: what a device says after more than a heartbeat's time still becomes the result.
func TestAbortOfASlowDevice(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, asked := propose(t, u, session, "slow abort", call(configTool, configure("R1", "interface Loopback88", "description slow abort", "ip address 10.88.8.8 255.255.255.255")), text("ok"))
	slow := func(d time.Duration) {
		if err := suite.lab.SetFault("R1", simlab.Fault{Slow: d}); err != nil {
			t.Fatal(err)
		}
	}
	slow(300 * time.Millisecond)
	defer slow(0)
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	running := func(line int) func(client.Received) bool {
		return func(ev client.Received) bool {
			return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning && ev.DeviceProgress.Done == line
		}
	}
	until(t, s, running(0))
	slow(6 * time.Second) // for the lines after the one that is under way
	until(t, s, running(1))
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	slow(0)
	it := results(t, until(t, s, isType(schema.EventDone)))[last(asked).PendingTools[0].ToolCallID].Data[0]
	if it.Outcome == "unknown" || strings.Contains(it.Error, "lost") {
		t.Errorf("%+v", it)
	}
}
