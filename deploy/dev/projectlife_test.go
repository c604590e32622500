package dev_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"

	"github.com/coder/websocket"
)

// rest asks the GNS3 server through the gateway, and reads the answer when into isn't nil.
func (u user) rest(method, path, body string, into any) {
	u.t.Helper()
	u.restAt(suite.stack, method, path, body, into)
}

// restAt is rest at another server.
func (u user) restAt(server interface{ URL() string }, method, path, body string, into any) {
	u.t.Helper()
	a := u.askAt(server, method, path, body, u.bearer()...)
	if a.status/100 != 2 {
		u.t.Fatalf("%s %s: %d %s", method, path, a.status, a.text)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(a.text), into); err != nil {
			u.t.Fatal(err)
		}
	}
}

// autoClosing makes the user work in a new project with a started router R1, which GNS3 closes when nobody listens any more.
func (u *user) autoClosing(name string) {
	u.t.Helper()
	var p schema.Project
	u.rest(http.MethodPost, "/v3/projects", fmt.Sprintf(`{"name": %q}`, name), &p)
	u.project = p.ID
	u.addRouter()
}

// addRouter adds a started router to the user's project: R1, then R2 and so on.
func (u user) addRouter() {
	u.t.Helper()
	var templates []struct {
		ID   string `json:"template_id"`
		Name string `json:"name"`
	}
	u.rest(http.MethodGet, "/v3/templates", "", &templates)
	for _, t := range templates {
		if t.Name == "Cisco 3725" {
			u.rest(http.MethodPost, "/v3/projects/"+u.project+"/templates/"+t.ID, `{"x": 0, "y": 0}`, nil)
		}
	}
	u.rest(http.MethodPost, "/v3/projects/"+u.project+"/nodes/start", "{}", nil)
}

// tab is a browser tab on a project, as the GNS3 server sees it.
type tab struct {
	t    *testing.T
	conn *websocket.Conn
}

func (u user) openTab(project string) tab {
	u.t.Helper()
	address := "ws" + strings.TrimPrefix(suite.stack.URL(), "http") + "/v3/projects/" + project + "/notifications/ws?token=" + u.Token()
	conn, resp, err := websocket.Dial(u.bounded(), address, nil)
	if err != nil {
		u.t.Fatal(err)
	}
	if resp.Body != nil {
		_ = resp.Body.Close()
	}
	u.t.Cleanup(func() { _ = conn.CloseNow() })
	if _, first, err := conn.Read(u.bounded()); err != nil || !strings.Contains(string(first), "ping") {
		u.t.Fatalf("%s %v", first, err)
	}
	return tab{u.t, conn}
}

func (p tab) close() {
	p.t.Helper()
	if err := p.conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		p.t.Fatal(err)
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick, over := time.NewTicker(20*time.Millisecond), time.After(30*time.Second)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-over:
			t.Fatal("it never happens that " + what)
		}
	}
}

func (u user) opened(project string) bool {
	u.t.Helper()
	p, err := u.Project(u.t.Context(), project)
	if err != nil {
		u.t.Fatal(err)
	}
	return p.Opened()
}

// TestPageClosedWhileAnApprovalWaits closes the only tab on a lab in mid-turn. Another lab, which no turn holds, shows when GNS3 has had the
// time to close this one.
func TestPageClosedWhileAnApprovalWaits(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	other := u
	other.autoClosing("Nobody's " + session)
	u.autoClosing("Held " + session)
	watched, control := u.openTab(u.project), u.openTab(other.project)
	line := "description " + session
	stream, _ := propose(t, u, session, "hold "+session, call(configTool, configure("R1", "interface Loopback7", line)), text("done"))
	eventually(t, "the turn listens", func() bool { return suite.lab.Listeners(u.project) == 2 })

	_ = stream.Close()
	watched.close()
	eventually(t, "the tab has left", func() bool { return suite.lab.Listeners(u.project) == 1 })
	control.close()
	eventually(t, "the other lab closes", func() bool { return !u.opened(other.project) })
	if !u.opened(u.project) {
		t.Fatal("the lab was closed under the waiting approval")
	}

	elsewhere := login(t, "admin")
	elsewhere.project = u.project
	if _, err := elsewhere.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the turn ends and its listener leaves", func() bool { return suite.lab.Listeners(u.project) == 0 })
	if n := sent("Held "+session+"/R1", line); n != 1 {
		t.Errorf("the line was sent %d times", n)
	}
	if !u.opened(u.project) {
		t.Error("the end of a turn has closed the lab")
	}

	// From here on the lab's life is its pages' again.
	u.openTab(u.project).close()
	eventually(t, "the lab closes behind its last page", func() bool { return !u.opened(u.project) })
}

// TestAbortedTurnIsLetGo also begins a turn that no page watches: its listener is the only one.
func TestAbortedTurnIsLetGo(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.autoClosing("Aborted " + session)
	propose(t, u, session, "abort "+session, call(configTool, configure("R1", "interface Loopback7")), text("done"))
	eventually(t, "the turn listens", func() bool { return suite.lab.Listeners(u.project) == 1 })
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its listener leaves", func() bool { return suite.lab.Listeners(u.project) == 0 })
}
