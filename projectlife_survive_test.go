package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"

	"github.com/coder/websocket"
)

// gns3 asks the lab's server as its administrator.
func (s *site) gns3(method, path, body string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.lab.URL()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.client.Token())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		s.t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
}

// leavePage lets a browser tab on the project come and go. Those that don't have another listener are closed then.
func (s *site) leavePage(project string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	address := "ws" + strings.TrimPrefix(s.lab.URL(), "http") + "/v3/projects/" + project + "/notifications/ws?token=" + s.client.Token()
	conn, resp, err := websocket.Dial(ctx, address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.Body != nil {
		_ = resp.Body.Close()
	}
	if _, _, err := conn.Read(ctx); err != nil {
		s.t.Fatal(err)
	}
	if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		s.t.Fatal(err)
	}
}

// survivesThePage lets the last page leave the project, waits until GNS3 has closed another that was left after it, and checks that the
// project is still opened.
func (s *site) survivesThePage(what string) {
	s.t.Helper()
	const other = "5d4b0f3e-8f6b-4a53-9d1c-0a9b7a1c9f60"
	s.gns3(http.MethodPost, "/v3/projects", `{"name": "control", "project_id": "`+other+`"}`)
	opened := func(id string) bool {
		p, err := s.client.Project(s.t.Context(), id)
		if err != nil {
			s.t.Fatal(err)
		}
		return p.Opened()
	}
	s.leavePage(s.project)
	s.leavePage(other)
	s.until(func() bool { return !opened(other) })
	if !opened(s.project) {
		s.t.Fatalf("the lab was closed under the turn: %s", what)
	}
	s.gns3(http.MethodDelete, "/v3/projects/"+other, "")
}

// TestLabSurvivesItsPageWhateverIsKilled kills one process after the other while an approval waits, and lets a page leave the lab each time.
func TestLabSurvivesItsPageWhateverIsKilled(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	s.gns3(http.MethodPut, "/v3/projects/"+s.project, `{"auto_close": true}`)
	held := func(by int) { t.Helper(); s.until(func() bool { return s.lab.Listeners(s.project) == by }) }
	p := s.propose("held", "R1")
	held(2)
	s.survivesThePage("all processes run")
	s.first.Kill()
	held(1)
	s.survivesThePage("the worker is dead")
	s.newWorker()
	held(2)
	s.killAPI()
	held(2)
	s.survivesThePage("worker and API are new")
	s.nats.Kill()
	s.natsAgain()
	s.survivesThePage("NATS has lost the token")
	p.confirm()
	if _, journal := p.finish(schema.ApprovalConfirmed); journal["R1"].State != "done" {
		t.Errorf("%s", describe(journal))
	}
	held(0)
}

// TestLabSurvivesTheLossOfAllLogins kills everything but Temporal and the database while an approval waits, and NATS has the owner's login no
// more. The API that comes after has an account of its own to listen with.
func TestLabSurvivesTheLossOfAllLogins(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	s.gns3(http.MethodPut, "/v3/projects/"+s.project, `{"auto_close": true}`)
	held := func(by int) { t.Helper(); s.until(func() bool { return s.lab.Listeners(s.project) == by }) }
	p := s.propose("lost", "R1")
	held(2)
	s.account = []string{"--gns3-user", "admin", "--gns3-password", "admin"}
	s.first.Kill()
	s.nats.Kill()
	s.server.Kill()
	held(0)
	s.natsAgain()
	s.newWorker()
	s.startAPI(strings.TrimPrefix(s.api, "http://"))
	held(1)
	s.survivesThePage("nobody has the owner's login")
	p.confirm()
	if _, journal := p.finish(schema.ApprovalConfirmed); journal["R1"].State != "done" {
		t.Errorf("%s", describe(journal))
	}
	held(0)
}
