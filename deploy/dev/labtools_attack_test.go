package dev_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// vpcs makes PCs with those names in the user's lab, past the assistant, and gives their ids.
func (u user) vpcs(names ...string) map[string]string {
	u.t.Helper()
	var templates []struct {
		ID   string `json:"template_id"`
		Type string `json:"template_type"`
	}
	u.rest(http.MethodGet, "/v3/templates", "", &templates)
	ids := map[string]string{}
	for _, name := range names {
		for _, template := range templates {
			if template.Type == "vpcs" {
				var made labNode
				u.rest(http.MethodPost, "/v3/projects/"+u.project+"/templates/"+template.ID, `{"x": 0, "y": 0}`, &made)
				u.rename(made.ID, name)
				ids[name] = made.ID
			}
		}
	}
	return ids
}

func (u user) rename(id, name string) {
	u.t.Helper()
	u.rest(http.MethodPut, "/v3/projects/"+u.project+"/nodes/"+id, string(schema.Text(map[string]string{"name": name})), nil)
}

// confirmed confirms what waits and gives all events of the turn.
func (u user) confirmed(s *client.Stream, session string, asked []client.Received) []client.Received {
	u.t.Helper()
	p := last(asked).PendingTools[0]
	for n := range p.ConfirmationsRequired {
		_, err := u.Confirm(u.t.Context(), u.project, session, schema.ConfirmRequest{ToolCallIDs: []string{p.ToolCallID}, SecondConfirmation: n == 1})
		if err != nil {
			u.t.Fatal(err)
		}
	}
	return append(asked, until(u.t, s, isType(schema.EventDone))...)
}

// TestConfirmedNodesAreThoseThatWereShown swaps the names of two nodes, and makes a third anew under its name, while a deletion waits.
func TestConfirmedNodesAreThoseThatWereShown(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.ownLab("Swapped " + session)
	ids := u.vpcs("A", "B", "C")
	s, asked := propose(t, u, session, "delete "+session, call("delete_gns3_node", `{"node_ids": ["A", "C"]}`), text("gone"))
	u.rename(ids["A"], "tmp")
	u.rename(ids["B"], "A")
	u.rename(ids["A"], "B")
	u.rest(http.MethodDelete, "/v3/projects/"+u.project+"/nodes/"+ids["C"], "", nil)
	again := u.vpcs("C")
	r := inOrder(t, u.confirmed(s, session, asked))[0]
	nodes := u.nodes()
	if len(nodes) != 2 || nodes["A"].ID != ids["B"] || nodes["C"].ID != again["C"] || outcomes(r) != "A success, C failed" {
		t.Errorf("%+v\n%+v", nodes, r)
	}
}

// TestOneNodeByManyNames reloads a node that a call names in four ways, and deletes a link that it names in two: each is done once.
func TestOneNodeByManyNames(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.ownLab("Names " + session)
	ids := u.vpcs("A", "B")
	suite.model.On("link "+session, call("create_gns3_link", `{"links": [{"node_id1": "A", "node_id2": "B"}]}`), text("linked"))
	u.say(session, "link "+session)
	for tool, c := range map[string]struct{ args, want string }{
		"reload_gns3_node": {fmt.Sprintf(`{"node_ids": ["A", "a", %q, " A", "B"]}`, ids["A"]), "A success, A (2) failed, A (3) failed, A (4) failed, B success"},
		"delete_gns3_link": {`{"link_ids": ["A - B", "B - A"]}`, "A Ethernet0 - B Ethernet0 success, A Ethernet0 - B Ethernet0 (2) failed"},
	} {
		s, asked := propose(t, u, session, tool+session, call(tool, c.args), text("done"))
		r := inOrder(t, u.confirmed(s, session, asked))[0]
		if outcomes(r) != c.want || !strings.Contains(r.Data[1].Error, "more than once") {
			t.Errorf("%s: %+v", tool, r)
		}
	}
	if changes, err := u.Changes(t.Context(), u.project, session); err != nil || len(changes) != 4 {
		t.Errorf("%+v %v", changes, err)
	}
}

// TestOneNameForTwoNodes gives no node a name that GNS3 would have to change, and a node that is named twice one name.
func TestOneNameForTwoNodes(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.ownLab("One name " + session)
	ids := u.vpcs("A", "B")
	suite.model.On("one name "+session, call("update_gns3_node_name",
		`{"nodes": [{"node_id": "A", "new_name": "X"}, {"node_id": "B", "new_name": "X"}, {"node_id": "a", "new_name": "Y"}]}`), text("named"))
	r := toolResult(t, u.say(session, "one name "+session))
	if outcomes(r) != "X success, B failed, A (2) failed" || !strings.Contains(r.Data[1].Error, "another node") || !strings.Contains(r.Data[2].Error, "more than once") {
		t.Errorf("%+v", r)
	}
	if nodes := u.nodes(); len(nodes) != 2 || nodes["X"].ID != ids["A"] || nodes["B"].ID != ids["B"] {
		t.Errorf("%+v", nodes)
	}
}

// TestLabChangeAfterReset renames a node after it was started and, with a human's word, stopped, and resets the turn to its beginning: nothing is
// done again, though the node has another name by now.
func TestLabChangeAfterReset(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.ownLab("Reset " + session)
	ids := u.vpcs("A")
	hold := make(chan struct{})
	args := fmt.Sprintf(`{"node_ids": [%q]}`, ids["A"])
	s, _ := propose(t, u, session, "reset "+session, call("start_gns3_node", args), call("stop_gns3_node", args),
		call("update_gns3_node_name", fmt.Sprintf(`{"nodes": [{"node_id": %q, "new_name": "Z"}]}`, ids["A"])),
		func(r *scriptmodel.Reply) {
			r.Say("all ")
			if r.Hold(hold) {
				r.Say("done")
			}
		})
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	until(t, s, func(ev client.Received) bool { return ev.Content == "all " })
	c := operatorOf(t, suite.stack)
	run := awaitRun(t, c, listOf(session))
	history := c.GetWorkflowHistory(t.Context(), run.GetWorkflowId(), run.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	var task int64
	for task == 0 {
		ev, err := history.Next()
		if err != nil {
			t.Fatal(err)
		}
		if ev.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			task = ev.GetEventId()
		}
	}
	_, err := c.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: run.GetWorkflowId(), RunId: run.GetRunId()},
		Reason: "test", WorkflowTaskFinishEventId: task, RequestId: uuid.NewString(),
	})
	if err != nil {
		t.Fatal(err)
	}
	close(hold)
	until(t, s, isType(schema.EventDone))
	changes, err := u.Changes(t.Context(), u.project, session)
	if n := u.nodes()["Z"]; err != nil || n.Status != "stopped" || len(changes) != 3 {
		t.Errorf("%+v %+v %v", n, changes, err)
	}
}
