package dev_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// ownLab makes the user work in a new, empty project.
func (u *user) ownLab(name string) {
	u.t.Helper()
	var p schema.Project
	u.rest(http.MethodPost, "/v3/projects", fmt.Sprintf(`{"name": %q}`, name), &p)
	u.project = p.ID
}

// labNode is a node as the GNS3 server has it.
type labNode struct {
	ID     string `json:"node_id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

func (u user) nodes() map[string]labNode {
	u.t.Helper()
	var list []labNode
	u.rest(http.MethodGet, "/v3/projects/"+u.project+"/nodes", "", &list)
	byName := map[string]labNode{}
	for _, n := range list {
		byName[n.Name] = n
	}
	return byName
}

func (u user) count(what string) int {
	u.t.Helper()
	var list []json.RawMessage
	u.rest(http.MethodGet, "/v3/projects/"+u.project+"/"+what, "", &list)
	return len(list)
}

// calls is an answer of several tool calls, given as tool and arguments in turn.
func calls(list ...string) scriptmodel.Step {
	return func(r *scriptmodel.Reply) {
		for i := 0; i < len(list); i += 2 {
			r.Call(list[i], list[i+1])
		}
	}
}

// inOrder gives the results of a message's calls, in the calls' order.
func inOrder(t *testing.T, events []client.Received) []schema.ToolResponse {
	t.Helper()
	byCall := results(t, events)
	var list []schema.ToolResponse
	for _, ev := range events {
		if ev.Type == schema.EventToolCall && ev.ToolCall.Function.Complete {
			list = append(list, byCall[ev.ToolCall.ID])
		}
	}
	return list
}

// outcomes gives each item's name with its status or outcome, and what it says.
func outcomes(r schema.ToolResponse) string {
	var all []string
	for _, it := range r.Data {
		state := string(it.Status)
		if it.Outcome != "" {
			state = it.Outcome
		}
		all = append(all, it.Name+" "+state)
	}
	return strings.Join(all, ", ")
}

// build makes two linked PCs in the user's lab, and starts them.
func (u user) build(session string) []schema.ToolResponse {
	u.t.Helper()
	suite.model.On("build "+session, calls(
		"create_gns3_node", `{"tool_input": "{\"nodes\": [{\"template_id\": \"VPCS\", \"name\": \"A\"}, {\"template_id\": \"vpcs\", \"name\": \"B\", \"x\": 40, \"y\": -7}]}"}`,
		"create_gns3_link", `{"links": [{"node_id1": "A", "node_id2": "B", "port2": "Ethernet0"}]}`,
		"start_gns3_node", `{"node_names": ["A", "b"]}`,
		"execute_multiple_device_commands", `{"device_configs": [{"device_name": "A", "commands": ["show ip"]}]}`,
	), text("built"))
	return inOrder(u.t, u.say(session, "build "+session))
}

// TestALabIsBuiltInOneAnswer has nodes made, linked, started and asked by calls of one message, each of which needs what the one before it made.
func TestALabIsBuiltInOneAnswer(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.ownLab("Built " + session)
	got := u.build(session)
	for i, want := range []string{"A success, B success", "A Ethernet0 - B Ethernet0 success", "A success, B success", "A success"} {
		if outcomes(got[i]) != want {
			t.Errorf("%d: %s, want %s: %+v", i, outcomes(got[i]), want, got[i])
		}
	}
	if r := got[2].Data[0].Result; !strings.Contains(r, "its console answers") {
		t.Errorf("the start didn't wait: %s", r)
	}
	nodes := u.nodes()
	if len(nodes) != 2 || nodes["A"].Status != "started" || nodes["B"].Status != "started" || u.count("links") != 1 {
		t.Errorf("%+v", nodes)
	}
	changes, err := u.Changes(t.Context(), u.project, session)
	if err != nil || len(changes) != 5 {
		t.Fatalf("%+v %v", changes, err)
	}
	if c := changes[0]; c.DeviceName != "A" || c.Kind != "lab" || c.State != "done" || c.Acked != 1 || len(c.Lines) != 1 || !strings.Contains(c.Lines[0], "create a node from VPCS") {
		t.Errorf("%+v", c)
	}
}

// TestLabChangesOneByOne has each item of a call its own result.
func TestLabChangesOneByOne(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.ownLab("Parts " + session)
	u.build(session)
	suite.model.On("parts "+session, calls(
		"create_gns3_node", `{"nodes": [{"template_id": "VPCS", "name": "A"}, {"template_id": "no such"}, {"template_id": "VPCS"}]}`,
		"start_gns3_node", `{"node_ids": ["A", "nobody"]}`,
		"create_gns3_link", `{"links": [{"node_id1": "A", "port1": "e0", "node_id2": "B"}, {"node_id1": "A", "port1": "e7", "node_id2": "B"}]}`,
		"update_gns3_node_name", `{"nodes": [{"node_id": "A", "new_name": "B"}]}`,
		"start_gns3_node", `{"node_ids": []}`,
		"create_gns3_node", `{"project_id": "00000000-0000-0000-0000-000000000000", "nodes": [{"template_id": "VPCS"}]}`,
	), text("parts"))
	got := inOrder(t, u.say(session, "parts "+session))
	for i, want := range []string{
		"A failed, new node 2 failed, PC1 success", "A success, nobody failed", "A e0 - B failed, A e7 - B failed", "A failed", "", "",
	} {
		if outcomes(got[i]) != want || got[i].Success {
			t.Errorf("%d: %s, want %s: %+v", i, outcomes(got[i]), want, got[i])
		}
	}
	for i, want := range []string{"already", "nobody", "link already", "another node"} {
		if !slices.ContainsFunc(got[i].Data, func(it schema.ToolItem) bool { return strings.Contains(it.Error, want) }) {
			t.Errorf("%d doesn't say %q: %+v", i, want, got[i])
		}
	}
	if nodes := u.nodes(); len(nodes) != 3 {
		t.Errorf("%+v", nodes)
	}
}

// decideLab begins a turn with a gated call, sees that nothing happens before it is confirmed, confirms it and gives its result.
func (u user) decideLab(session, tool, args string, untouched func() bool) schema.ToolResponse {
	u.t.Helper()
	s, asked := propose(u.t, u, session, tool+" "+session, call(tool, args), text("done"))
	p := last(asked).PendingTools[0]
	if !untouched() {
		u.t.Fatalf("%s: something happened before anybody confirmed", tool)
	}
	if len(p.Preview.Devices) == 0 || p.Preview.Devices[0].Lines[0] == "" || len(p.Reasons) == 0 {
		u.t.Errorf("%s is shown as %+v %v", tool, p.Preview, p.Reasons)
	}
	for n := range p.ConfirmationsRequired {
		_, err := u.Confirm(u.t.Context(), u.project, session, schema.ConfirmRequest{ToolCallIDs: []string{p.ToolCallID}, SecondConfirmation: n == 1})
		if err != nil {
			u.t.Fatal(err)
		}
	}
	return results(u.t, until(u.t, s, isType(schema.EventDone)))[p.ToolCallID]
}

// TestGatedLabChanges confirms each kind of change that needs a human's word.
func TestGatedLabChanges(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.ownLab("Gated " + session)
	u.build(session)
	as := func(name, status string) func() bool {
		return func() bool { return u.nodes()[name].Status == status }
	}
	check := func(what string, r schema.ToolResponse, want string, ok bool) {
		t.Helper()
		if outcomes(r) != want || !ok {
			t.Errorf("%s: %s, want %s (%v): %+v", what, outcomes(r), want, ok, r)
		}
	}
	suite.model.On("router "+session, calls("create_gns3_node", `{"nodes": [{"template_id": "Cisco 3725", "name": "R"}]}`, "start_gns3_node", `{"node_ids": ["R"]}`), text("made"))
	check("start", inOrder(t, u.say(session, "router "+session))[1], "R success", as("R", "started")())
	// GNS3 takes the request for a VPCS, too, and does nothing.
	suspended := u.decideLab(session, "suspend_gns3_node", `{"node_ids": ["R", "A"]}`, as("R", "started"))
	check("suspend", suspended, "R success, A failed", as("R", "suspended")() && as("A", "started")())
	check("reload", u.decideLab(session, "reload_gns3_node", `{"node_ids": ["B"]}`, as("B", "started")), "B success", as("B", "started")())
	check("stop", u.decideLab(session, "stop_gns3_node", `{"node_ids": ["A", "B", "R"]}`, as("B", "started")),
		"A success, B success, R success", as("B", "stopped")() && as("R", "stopped")())

	suite.model.On("keep "+session, calls("create_gns3_snapshot", `{"name": "before"}`, "list_gns3_snapshots", ""), text("kept"))
	kept := inOrder(t, u.say(session, "keep "+session))
	check("snapshot", kept[0], "before success", true)
	check("snapshots", kept[1], "before success", true)

	links := func(n int) func() bool { return func() bool { return u.count("links") == n } }
	check("delete link", u.decideLab(session, "delete_gns3_link", `{"links": [{"node_id1": "B", "node_id2": "A"}]}`, links(1)), "A Ethernet0 - B Ethernet0 success", links(0)())
	check("delete", u.decideLab(session, "delete_gns3_node", `{"node_ids": ["B"]}`, as("B", "stopped")), "B success", as("B", "")())
	check("restore", u.decideLab(session, "restore_gns3_snapshot", `{"snapshot_id": "before"}`, links(0)), "before success", links(1)() && as("B", "stopped")())
}

// TestLabChangesThatNobodyAllows rejects one, lets one be refused for its mode, and offers none that can't be done.
func TestLabChangesThatNobodyAllows(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.ownLab("Refused " + session)
	u.build(session)
	s, asked := propose(t, u, session, "reject "+session, call("delete_gns3_node", `{"node_ids": ["A"]}`), text("I see"))
	if p := last(asked).PendingTools[0]; p.DangerLevel != schema.DangerHigh || p.Preview.Devices[0].ID != u.nodes()["A"].ID {
		t.Errorf("%+v", p)
	}
	if _, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{RejectAll: true}); err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))

	suite.model.On("hopeless "+session, calls("stop_gns3_node", `{"node_ids": ["nobody"]}`), text("I see"))
	r := inOrder(t, u.say(session, "hopeless "+session))[0]
	if r.Success || !strings.Contains(r.Error, "nobody") {
		t.Errorf("%+v", r)
	}
	suite.model.On("teach "+session, calls("stop_gns3_node", `{"node_ids": ["A"]}`), text("I see"))
	events := u.request(schema.ChatRequest{Message: "teach " + session, SessionID: session, CopilotMode: schema.ModeTeaching})
	if r := inOrder(t, events)[0]; !strings.Contains(r.Error, "not available in the mode") {
		t.Errorf("%+v", r)
	}
	if nodes := u.nodes(); len(nodes) != 2 || nodes["A"].Status != "started" {
		t.Errorf("%+v", nodes)
	}
	changes, err := u.Changes(t.Context(), u.project, session)
	if err != nil || len(changes) != 5 {
		t.Errorf("%+v %v", changes, err)
	}
}

// TestLabChangesNeedTheRights lets GNS3 refuse what its user may not, each node on its own, and nothing is in doubt then.
func TestLabChangesNeedTheRights(t *testing.T) {
	u, session := inRole(t, simlab.RoleAuditor, time.Hour), newSession()
	before := u.nodes()
	suite.model.On("may not "+session, calls(
		"create_gns3_node", `{"nodes": [{"template_id": "VPCS", "name": "Forbidden"}]}`,
		"start_gns3_node", `{"node_ids": ["PC1", "PC2"]}`,
		"update_gns3_node_name", `{"nodes": [{"node_id": "PC1", "new_name": "Forbidden"}]}`,
		"start_gns3_capture", `{"link_ids": ["R1 - R2"]}`,
	), text("I see"))
	for i, r := range inOrder(t, u.say(session, "may not "+session)) {
		for _, it := range r.Data {
			if it.Status != schema.ItemFailed || it.Outcome != "" || !strings.Contains(it.Error, "Permission denied (privilege ") {
				t.Errorf("%d: %+v", i, it)
			}
		}
		if r.Total == 0 {
			t.Errorf("%d: %+v", i, r)
		}
	}
	stopped := u.decideLab(session, "stop_gns3_node", `{"node_ids": ["PC1"]}`, func() bool { return true })
	if it := stopped.Data[0]; !strings.Contains(it.Error, "Node.PowerMgmt") {
		t.Errorf("%+v", it)
	}
	if after := u.nodes(); !maps.Equal(before, after) {
		t.Errorf("%+v, %+v", before, after)
	}
}

// TestPacketsOfALink captures a ping and reads it, as far as there is a tshark; what can't be read says why in any case.
func TestPacketsOfALink(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.ownLab("Packets " + session)
	u.build(session)
	suite.model.On("capture "+session,
		calls("packet_analysis", `{"link_id": "A - nobody"}`, "packet_analysis", `{"link_id": "A - B", "tshark_args": "-w /tmp/x"}`, "packet_analysis", `{"tshark_args": "-V"}`,
			"start_gns3_capture", `{"link_id": "A - B"}`, "execute_vpcs_commands", `{"device_configs": [{"device_name": "A", "commands": ["ip 10.0.0.1/24"]}]}`),
		calls("execute_vpcs_commands", `{"device_configs": [{"device_name": "A", "commands": ["ping 10.0.0.2 -c 1"]}]}`),
		calls("start_gns3_capture", `{"links": [{"node_id1": "A", "node_id2": "B"}]}`, "packet_analysis", `{"link_id": "B - A", "tshark_args": "-Y arp -T fields -e arp.opcode"}`,
			"packet_analysis", `{"query": "arp.opcode"}`, "stop_gns3_capture", `{"link_ids": ["B Ethernet0 - A Ethernet0"]}`),
		text("read"))
	stream := u.post(session, "capture "+session)
	events := until(t, stream, isType(schema.EventHITLRequired))
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	got := inOrder(t, append(events, until(t, stream, isType(schema.EventDone))...))
	for i, want := range []string{"nobody", "-w", "link_id is required"} {
		if got[i].Success || !strings.Contains(got[i].Error, want) {
			t.Errorf("%d: %+v", i, got[i])
		}
	}
	if !got[3].Success || !got[9].Success || !strings.Contains(got[6].Data[0].Error, "captured already") {
		t.Errorf("%+v %+v %+v", got[3], got[6], got[9])
	}
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("there is no tshark to read the capture with")
	}
	if !strings.Contains(outcomes(got[7]), "success") || !strings.Contains(outcomes(got[8]), "arp.opcode success") {
		t.Errorf("%+v\n%+v", got[7], got[8])
	}
}
