//go:build lab

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	"github.com/coder/websocket"
	"github.com/google/uuid"
)

const vpcsTool = "execute_vpcs_commands"

// ownProject is the lab with a project of the test's own, which GNS3 closes by itself: PC1 and PC2, started. It is gone after the test.
func (l *lab) ownProject(t *testing.T) *lab {
	t.Helper()
	own := *l
	own.project, own.ids, own.consoles = uuid.NewString(), map[string]string{}, map[string]string{}
	own.create(t)
	t.Cleanup(func() {
		status, err := own.as(context.WithoutCancel(t.Context()), own.api.Token(), http.MethodDelete, own.path(""), nil, nil)
		if err != nil || status != http.StatusNoContent && status != http.StatusNotFound {
			t.Errorf("project not deleted: %d %v", status, err)
		}
	})
	for i, name := range []string{"PC1", "PC2"} {
		var node struct {
			ID string `json:"node_id"`
		}
		own.rest(t, http.MethodPost, "/nodes", map[string]any{"name": name, "node_type": "vpcs", "compute_id": "local", "x": 100 * i, "y": 0, "properties": map[string]any{}}, &node)
		own.ids[name] = node.ID
	}
	own.rest(t, http.MethodPost, "/nodes/start", nil, nil)
	return &own
}

// create makes the project, which must not be there.
func (l *lab) create(t *testing.T) {
	t.Helper()
	l.must(t, l.api.Token(), http.MethodPost, "/v3/projects", map[string]any{"name": "life-" + uuid.NewString(), "project_id": l.project}, nil)
}

func (l *lab) path(tail string) string { return "/v3/projects/" + l.project + tail }

// rest asks for something in the project, through the gateway.
func (l *lab) rest(t *testing.T, method, tail string, body, out any) {
	t.Helper()
	l.must(t, l.api.Token(), method, l.path(tail), body, out)
}

// direct asks the GNS3 server itself.
func (l *lab) direct(t *testing.T, method, tail string) {
	t.Helper()
	if err := l.call(t.Context(), method, l.path(tail), nil); err != nil {
		t.Fatal(err)
	}
}

func (l *lab) opened(t *testing.T) bool {
	t.Helper()
	p, err := l.api.Project(t.Context(), l.project)
	if err != nil {
		t.Fatal(err)
	}
	return p.Opened()
}

// page listens to the project as the web UI does, until leave is called.
func (l *lab) page(t *testing.T) (leave func()) {
	t.Helper()
	conn, resp, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(l.gns3, "http")+l.path("/notifications/ws?token=")+l.api.Token(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body != nil {
		_ = resp.Body.Close()
	}
	if _, _, err := conn.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick, over := time.NewTicker(100*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-over:
			t.Fatal("it never happens that " + what)
		}
	}
}

// vpcsCall is the arguments of a call of either VPCS tool: the same commands on each PC, with its number in them.
func vpcsCall(t *testing.T, command string, numbers ...int) string {
	t.Helper()
	var configs []map[string]any
	for _, n := range numbers {
		configs = append(configs, map[string]any{"device_name": fmt.Sprintf("PC%d", n), "commands": []string{strings.ReplaceAll(command, "N", fmt.Sprint(n))}})
	}
	b, err := json.Marshal(map[string]any{"device_configs": configs})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// proposal begins a turn that waits for a word on new addresses for both PCs, and shows them when it has it.
func (l *lab) proposal(t *testing.T) (stream *client.Stream, session string) {
	t.Helper()
	message := t.Name() + uuid.NewString()
	l.model.On(message, func(r *scriptmodel.Reply) { r.Call(vpcsTool, vpcsCall(t, "ip 10.88.0.N/24", 1, 2)) },
		func(r *scriptmodel.Reply) { r.Call(tool, vpcsCall(t, "show ip", 1, 2)) }, func(r *scriptmodel.Reply) { r.Say("done") })
	stream, session = l.post(t, message)
	until(t, stream, func(ev timed) bool { return ev.Type == schema.EventHITLRequired })
	return stream, session
}

// done reads the rest of a turn, and gives its results in their order.
func done(t *testing.T, stream *client.Stream) (events []timed, results []schema.ToolResponse) {
	t.Helper()
	events = until(t, stream, func(ev timed) bool { return ev.Type == schema.EventDone })
	for _, ev := range events {
		if ev.Type != schema.EventToolEnd {
			continue
		}
		var r schema.ToolResponse
		if err := json.Unmarshal([]byte(ev.ToolOutput), &r); err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	return events, results
}

// confirm decides as somebody at another terminal does.
func (l *lab) confirm(t *testing.T, session string) {
	t.Helper()
	if _, err := l.api.Confirm(t.Context(), l.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
}

// events attaches to the session's last turn again.
func (l *lab) events(t *testing.T, session string) *client.Stream {
	t.Helper()
	stream, err := l.api.Events(t.Context(), l.project, session, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	return stream
}

// checkAddresses checks that each PC has been given its own address, and shows it.
func checkAddresses(t *testing.T, results []schema.ToolResponse) {
	t.Helper()
	if len(results) != 2 || !results[0].Success || !results[1].Success {
		t.Fatalf("%+v", results)
	}
	for i, item := range results[1].Data {
		if !strings.Contains(item.Result, fmt.Sprintf("10.88.0.%d/24", i+1)) {
			t.Errorf("%s: %s", item.Name, item.Result)
		}
	}
}

// TestPageClosedWhileAnApprovalWaits closes the only page on a project under a waiting approval. A project that no turn holds, left later, tells when
// GNS3's own time is over.
func TestPageClosedWhileAnApprovalWaits(t *testing.T) {
	l := open(t)
	held, control := l.ownProject(t), l.ownProject(t)
	leave, leaveControl := held.page(t), control.page(t)
	stream, session := held.proposal(t)
	_ = stream.Close()
	leave()
	leaveControl()
	eventually(t, "the project without a turn closes", func() bool { return !control.opened(t) })
	if !held.opened(t) {
		t.Fatal("the project was closed under the turn")
	}
	held.confirm(t, session)
	_, results := done(t, held.events(t, session))
	checkAddresses(t, results)

	// The end of the turn closes nothing. From then on the project's life is its pages' again: it closes behind the next.
	control.direct(t, http.MethodPost, "/open")
	control.page(t)()
	eventually(t, "the other project closes", func() bool { return !control.opened(t) })
	if !held.opened(t) {
		t.Error("the end of the turn closed the project")
	}
	held.page(t)()
	eventually(t, "the project closes behind its last page", func() bool { return !held.opened(t) })
}

// TestProjectClosedByAPerson: GNS3 closes it although the turn listens, and the approval can still be rejected, or confirmed once it is open again.
func TestProjectClosedByAPerson(t *testing.T) {
	l := open(t).ownProject(t)
	closed := func() (*client.Stream, string) {
		t.Helper()
		stream, session := l.proposal(t)
		l.direct(t, http.MethodPost, "/close")
		if l.opened(t) {
			t.Fatal("it is open")
		}
		_, err := l.api.Confirm(t.Context(), l.project, session, schema.ConfirmRequest{ConfirmAll: true})
		if schema.CodeOf(err) != schema.CodeProjectClosed {
			t.Fatalf("a confirmation: %v", err)
		}
		if status, err := l.api.HITLStatus(t.Context(), l.project, session); err != nil || status.Status != "waiting" {
			t.Fatalf("%+v %v", status, err)
		}
		return stream, session
	}
	stream, session := closed()
	if _, err := l.api.Reject(t.Context(), l.project, session, schema.RejectRequest{RejectAll: true}); err != nil {
		t.Fatal(err)
	}
	events, results := done(t, stream)
	if len(results) != 2 || !strings.HasPrefix(results[1].Error, "The project was closed") || events[len(events)-1].StopReason != schema.StopComplete {
		t.Errorf("%+v", results)
	}
	l.direct(t, http.MethodPost, "/open")
	l.direct(t, http.MethodPost, "/nodes/start")
	stream, session = closed()
	l.direct(t, http.MethodPost, "/open")
	l.direct(t, http.MethodPost, "/nodes/start")
	l.confirm(t, session)
	_, results = done(t, stream)
	checkAddresses(t, results)
}

// TestProjectDeletedByAPerson ends its waiting turn and removes its chats, wherever it was deleted.
func TestProjectDeletedByAPerson(t *testing.T) {
	for name, remove := range map[string]func(*lab){
		"through us":     func(l *lab) { l.rest(t, http.MethodDelete, "", nil, nil) },
		"at GNS3 itself": func(l *lab) { l.direct(t, http.MethodDelete, "") },
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t).ownProject(t)
			stream, _ := l.proposal(t)
			remove(l)
			events, results := done(t, stream)
			if last := events[len(events)-1]; last.StopReason != schema.StopAborted {
				t.Errorf("%+v", last.Event)
			}
			abort := slices.IndexFunc(events, func(ev timed) bool { return ev.Type == schema.EventAbort })
			if abort < 0 || events[abort].Reason != string(schema.AbortProjectDeleted) {
				t.Errorf("no reason in %d events", len(events))
			}
			if len(results) != 1 || !strings.Contains(results[0].Error, "the project was deleted") {
				t.Errorf("%+v", results)
			}
			l.create(t)
			eventually(t, "its chats are gone", func() bool {
				sessions, err := l.api.Sessions(t.Context(), l.project)
				if err != nil {
					t.Fatal(err)
				}
				return len(sessions) == 0
			})
		})
	}
}

// TestNodesSwapTheirConsolePorts between the proposal and its confirmation, after a look at both of them.
func TestNodesSwapTheirConsolePorts(t *testing.T) {
	l := open(t).ownProject(t)
	message := "look at both " + uuid.NewString()
	l.model.On(message, func(r *scriptmodel.Reply) { r.Call(tool, vpcsCall(t, "show ip", 1, 2)) }, func(r *scriptmodel.Reply) { r.Say("ok") })
	if r, _ := result(t, l.turn(t, message)); !r.Success {
		t.Fatalf("%+v", r)
	}
	stream, session := l.proposal(t)
	port := func(node string) (n struct {
		Console int `json:"console"`
	}) {
		l.rest(t, http.MethodGet, "/nodes/"+l.ids[node], nil, &n)
		return n
	}
	one, two := port("PC1"), port("PC2")
	l.rest(t, http.MethodPost, "/nodes/stop", nil, nil)
	// GNS3 gives the lowest free port to a node that wants a console.
	for _, step := range [][2]string{{"PC1", "none"}, {"PC2", "none"}, {"PC2", "telnet"}, {"PC1", "telnet"}} {
		l.rest(t, http.MethodPut, "/nodes/"+l.ids[step[0]], map[string]any{"console_type": step[1]}, nil)
	}
	l.rest(t, http.MethodPost, "/nodes/start", nil, nil)
	if port("PC1") != two || port("PC2") != one {
		t.Fatalf("the ports were not swapped: %v %v %v %v", one, two, port("PC1"), port("PC2"))
	}
	l.confirm(t, session)
	_, results := done(t, stream)
	checkAddresses(t, results)
	for i, console := range []int{two.Console, one.Console} {
		name := fmt.Sprintf("PC%d", i+1)
		l.consoles[name] = fmt.Sprintf("127.0.0.1:%d", console)
		if text, want := l.rawCommand(t, name, "show ip"), fmt.Sprintf("10.88.0.%d/24", i+1); !strings.Contains(text, want) {
			t.Errorf("%s: want %s in %s", name, want, text)
		}
	}
}

// TestExportHasNoChat: what is said stays out of the project's archive, whatever is included in it.
func TestExportHasNoChat(t *testing.T) {
	l := open(t).ownProject(t)
	asked, answered := "asked-"+uuid.NewString(), "answered-"+uuid.NewString()
	l.model.On(asked, func(r *scriptmodel.Reply) { r.Call(tool, vpcsCall(t, "show ip", 1)) }, func(r *scriptmodel.Reply) { r.Say(answered) })
	l.turn(t, asked)
	// This one belongs to the project, and shows that the archive can be searched.
	public := "public-" + uuid.NewString()
	l.rest(t, http.MethodPost, "/nodes/stop", nil, nil)
	l.rest(t, http.MethodPut, "/nodes/"+l.ids["PC1"], map[string]any{"name": public}, nil)
	l.rest(t, http.MethodPost, "/snapshots", map[string]any{"name": "before"}, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		l.stack.URL()+l.path("/export?include_snapshots=true&include_images=true&compression=none"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+l.api.Token())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	archive, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %v", resp.Status, err)
	}
	for marker, want := range map[string]bool{public: true, asked: false, answered: false, "copilot": false} {
		if bytes.Contains(archive, []byte(marker)) != want {
			t.Errorf("%q in the archive of %d bytes: %v", marker, len(archive), !want)
		}
	}
}
