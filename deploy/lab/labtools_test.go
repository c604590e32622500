//go:build lab

package lab

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// builder is a conversation in a new project of its own.
type builder struct {
	*lab
	t                *testing.T
	project, session string
}

func (l *lab) newProject(t *testing.T) builder {
	t.Helper()
	b := builder{lab: l, t: t, session: uuid.NewString()}
	var p schema.Project
	b.gateway(http.MethodPost, "/v3/projects", `{"name": "built-`+b.session+`"}`, &p)
	b.project = p.ID
	t.Cleanup(func() {
		if err := l.call(context.Background(), http.MethodDelete, "/v3/projects/"+p.ID, nil); err != nil {
			t.Error(err)
		}
	})
	return b
}

// gateway asks the GNS3 server through ours.
func (b builder) gateway(method, path, body string, into any) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.stack.URL()+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.api.Token())
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		b.t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		b.t.Fatal(err)
	}
}

// does has the model make these calls, given as tool and arguments in turn, in one answer; what waits is confirmed. It gives the results in the
// calls' order.
func (b builder) does(calls ...string) []schema.ToolResponse {
	b.t.Helper()
	message := "do " + uuid.NewString()
	b.model.On(message, func(r *scriptmodel.Reply) {
		for i := 0; i < len(calls); i += 2 {
			r.Call(calls[i], calls[i+1])
		}
	}, func(r *scriptmodel.Reply) { r.Say("done") })
	var order []string
	byCall := map[string]schema.ToolResponse{}
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
	defer cancel()
	err := b.api.Turn(ctx, b.project, schema.ChatRequest{Message: message, SessionID: b.session}, "", func(ev client.Received) error {
		switch ev.Type {
		case schema.EventToolCall:
			if ev.ToolCall.Function.Complete {
				order = append(order, ev.ToolCall.ID)
			}
		case schema.EventHITLRequired:
			return b.confirm(ctx, ev.PendingTools)
		case schema.EventToolEnd:
			var r schema.ToolResponse
			if err := json.Unmarshal([]byte(ev.ToolOutput), &r); err != nil {
				return err
			}
			byCall[ev.ToolCallID] = r
		}
		return nil
	}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	var results []schema.ToolResponse
	for _, id := range order {
		results = append(results, byCall[id])
	}
	return results
}

func (b builder) confirm(ctx context.Context, waiting []schema.PendingTool) error {
	for _, p := range waiting {
		for n := range p.ConfirmationsRequired {
			in := schema.ConfirmRequest{ToolCallIDs: []string{p.ToolCallID}, SecondConfirmation: n == 1}
			if _, err := b.api.Confirm(ctx, b.project, b.session, in); err != nil {
				return err
			}
		}
	}
	return nil
}

// succeeds wants each item of each result to have succeeded.
func succeeds(t *testing.T, what string, results []schema.ToolResponse, calls int) {
	t.Helper()
	if len(results) != calls {
		t.Fatalf("%s: %d results", what, len(results))
	}
	for i, r := range results {
		if !r.Success || r.Total == 0 {
			t.Errorf("%s, call %d: %+v", what, i+1, r)
		}
	}
}

// TestALabIsBuiltCapturedAndTakenDown does with the real server what a person asks for in the page: it builds a lab in one answer, pings across it
// under a capture, reads the packets, saves it, breaks it, puts it back and takes it down.
func TestALabIsBuiltCapturedAndTakenDown(t *testing.T) {
	b := open(t).newProject(t)
	built := b.does(
		"get_gns3_templates", "",
		"create_gns3_node", `{"nodes": [{"template_id": "VPCS", "name": "Left"}, {"template_id": "VPCS", "name": "Right", "x": 200, "y": 0}]}`,
		"create_gns3_link", `{"links": [{"node_id1": "Left", "node_id2": "Right"}]}`,
		"start_gns3_node", `{"node_ids": ["Left", "Right"]}`,
		"start_gns3_capture", `{"link_ids": ["Left - Right"]}`)
	succeeds(t, "build", built, 5)
	for _, it := range built[3].Data {
		if !strings.Contains(it.Result, "its console answers") {
			t.Errorf("%+v", it)
		}
	}
	succeeds(t, "addresses", b.does("execute_vpcs_commands",
		`{"device_configs": [{"device_name": "Left", "commands": ["ip 10.66.0.1/24"]}, {"device_name": "Right", "commands": ["ip 10.66.0.2/24"]}]}`), 1)
	pinged := b.does("execute_multiple_device_commands", `{"device_configs": [{"device_name": "Left", "commands": ["ping 10.66.0.2 -c 2"]}]}`)
	if succeeds(t, "ping", pinged, 1); !strings.Contains(pinged[0].Data[0].Result, "84 bytes from 10.66.0.2") {
		t.Errorf("%+v", pinged[0])
	}
	packets := b.does("packet_analysis", `{"link_id": "Left - Right", "tshark_args": "-Y icmp -T fields -e ip.src -e icmp.type"}`)
	if succeeds(t, "packets", packets, 1); !strings.Contains(packets[0].Data[0].Result, "10.66.0.2\t0") {
		t.Errorf("%+v", packets[0])
	}
	succeeds(t, "stop", b.does("stop_gns3_capture", `{"link_ids": ["Left - Right"]}`, "stop_gns3_node", `{"node_ids": ["Left", "Right"]}`), 2)
	succeeds(t, "snapshot", b.does("create_gns3_snapshot", `{"name": "whole"}`, "list_gns3_snapshots", "",
		"delete_gns3_link", `{"link_ids": ["Right - Left"]}`, "delete_gns3_node", `{"node_ids": ["Right"]}`, "update_gns3_node_name", `{"nodes": [{"node_id": "Left", "new_name": "Alone"}]}`), 5)
	if names := b.nodeNames(); names != "Alone" {
		t.Errorf("%s", names)
	}
	succeeds(t, "restore", b.does("restore_gns3_snapshot", `{"snapshot_id": "whole"}`), 1)
	if names := b.nodeNames(); names != "Left Right" && names != "Right Left" {
		t.Errorf("%s", names)
	}
	changes, err := b.api.Changes(t.Context(), b.project, b.session)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if c.State != "done" || len(c.Lines) == 0 {
			t.Errorf("%+v", c)
		}
	}
}

func (b builder) nodeNames() string {
	b.t.Helper()
	var nodes []struct{ Name string }
	b.gateway(http.MethodGet, "/v3/projects/"+b.project+"/nodes", "", &nodes)
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	return strings.Join(names, " ")
}

// TestWhatRealNodesDoNot shows the failures that GNS3 hides: a VPCS can't be suspended, and a name that is taken is another one's.
func TestWhatRealNodesDoNot(t *testing.T) {
	b := open(t).newProject(t)
	succeeds(t, "build", b.does("create_gns3_node", `{"nodes": [{"template_id": "VPCS", "name": "Left"}]}`, "start_gns3_node", `{"node_ids": ["Left"]}`), 2)
	r := b.does("suspend_gns3_node", `{"node_ids": ["Left"]}`, "create_gns3_node", `{"nodes": [{"template_id": "VPCS", "name": "Left"}]}`,
		"update_gns3_node_name", `{"nodes": [{"node_id": "Left", "new_name": "Running"}]}`)
	for i, want := range []string{"Left is started", "There is a node Left already", ""} {
		if it := r[i].Data[0]; it.Status != schema.ItemFailed || !strings.Contains(it.Error, want) {
			t.Errorf("%d: %+v", i, it)
		}
	}
	if names := b.nodeNames(); names != "Left" {
		t.Errorf("%s", names)
	}
}
