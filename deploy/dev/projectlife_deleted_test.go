package dev_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
)

// recreate makes a project anew under the user's project's id, so that what is kept of the old one can be seen.
func (u user) recreate(server interface{ URL() string }) {
	u.t.Helper()
	u.restAt(server, http.MethodPost, "/v3/projects", fmt.Sprintf(`{"name": %q, "project_id": %q, "auto_close": false}`, "again "+u.project, u.project), nil)
}

// sessions are the names of the user's sessions in the project.
func (u user) sessions() []string {
	u.t.Helper()
	list, err := u.Sessions(u.t.Context(), u.project)
	if err != nil {
		u.t.Fatal(err)
	}
	var names []string
	for _, s := range list {
		names = append(names, s.ThreadID)
	}
	return names
}

// decisions asks what was decided.
func (u user) decisions(query string) answer {
	u.t.Helper()
	return u.ask(http.MethodGet, "/v3/copilot/approvals/history"+query, "", u.bearer()...)
}

// checkForgotten waits until nothing is left of what was said in the project before it was deleted.
func (u user) checkForgotten() {
	u.t.Helper()
	u.recreate(suite.lab)
	eventually(u.t, "its sessions are gone", func() bool { return len(u.sessions()) == 0 })
}

// checkDeletedUnder checks how a turn ended that a change waited in.
func checkDeletedUnder(t *testing.T, s *client.Stream) {
	t.Helper()
	events := until(t, s, isType(schema.EventDone))
	if got := types(events); got != "hitl_resolved tool_end abort done " || last(events).StopReason != schema.StopAborted {
		t.Fatalf("%s", got)
	}
	for _, ev := range events {
		if ev.Type == schema.EventAbort && ev.Reason != "project_deleted" {
			t.Errorf("%+v", ev.Event)
		}
	}
	for _, r := range results(t, events) {
		if r.Success || !strings.Contains(r.Error, "project was deleted") {
			t.Errorf("%+v", r)
		}
	}
}

// TestDeletedProject deletes projects through the gateway and elsewhere, while a change waits and another session is at rest.
func TestDeletedProject(t *testing.T) {
	for name, remove := range map[string]func(user){
		"gateway":   func(u user) { u.rest(http.MethodDelete, "/v3/projects/"+u.project, "", nil) },
		"elsewhere": func(u user) { u.restAt(suite.lab, http.MethodDelete, "/v3/projects/"+u.project, "", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			u, session, quiet := login(t, "admin"), newSession(), newSession()
			u.autoClosing("Deleted " + session)
			suite.model.On("rest in "+quiet, text("said before"))
			u.say(quiet, "rest in "+quiet)
			stream, asked := propose(t, u, session, "delete "+session, call(configTool, configure("R1", "interface Loopback7")), text("done"))
			remove(u)
			checkDeletedUnder(t, stream)
			id := last(asked).PendingTools[0].ToolCallID
			if a := u.decisions("?project_id=" + u.project); !strings.Contains(a.text, id) {
				t.Errorf("the trail is gone with the project: %d %s", a.status, a.text)
			}
			student := login(t, "student")
			if a := student.decisions("?project_id=" + u.project); a.status != http.StatusNotFound {
				t.Errorf("a student sees the trail of a deleted project: %d %s", a.status, a.text)
			}
			student.project = u.project
			student.recreate(suite.lab)
			for _, query := range []string{"", "?project_id=" + u.project} {
				if a := student.decisions(query); a.status != http.StatusOK || strings.Contains(a.text, id) {
					t.Errorf("whoever has a new project with the id sees what was decided in the old one: %d %s", a.status, a.text)
				}
			}
			eventually(t, "its sessions are gone", func() bool { return len(u.sessions()) == 0 })
			if _, err := student.Confirm(t.Context(), student.project, session, schema.ConfirmRequest{ConfirmAll: true}); schema.CodeOf(err) != schema.CodeNotFound {
				t.Errorf("a decision in the new project finds the old one's call: %v", err)
			}
			if a := u.decisions("?project_id=" + u.project); !strings.Contains(a.text, id) {
				t.Error("the trail is gone with a new project of the id")
			}
			if n := sent("Deleted "+session+"/R1", "interface Loopback7"); n != 0 {
				t.Errorf("%d lines were sent", n)
			}
		})
	}
}

// TestDeletedWithoutAnAccount deletes projects of a server that has no GNS3 account of its own: it hears of it as the gateway, and by the login
// of a turn that runs, whether the model talks or a console is at work.
func TestDeletedWithoutAnAccount(t *testing.T) {
	o := options(t.TempDir())
	o.GNS3User, o.GNS3Password = "", ""
	stack := startWith(t, o)
	u := loginAt(t, stack.URL(), "admin")
	t.Run("at rest, by the gateway", func(t *testing.T) {
		u, session := u, newSession()
		u.t, u.project = t, uuid.NewString()
		u.recreate(stack)
		suite.model.On("rest "+session, text("said before"))
		u.say(session, "rest "+session)
		u.restAt(stack, http.MethodDelete, "/v3/projects/"+u.project+"/", "", nil)
		u.checkForgotten()
	})
	for name, step := range map[string]scriptmodel.Step{
		"model":   func(r *scriptmodel.Reply) { r.Say("once upon a time"); r.Hold(nil) },
		"console": call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["ping 10.255.255.254 repeat 1000"]}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			u, session := u, newSession()
			u.t = t
			u.autoClosing("Running " + session)
			suite.model.On("run "+session, step)
			stream := u.post(session, "run "+session)
			until(t, stream, func(ev client.Received) bool {
				return ev.Type == schema.EventContent || ev.Type == schema.EventDeviceProgress
			})
			eventually(t, "the turn listens", func() bool { return suite.lab.Listeners(u.project) == 1 && suite.lab.Listeners("") == 2 }) // the other is the suite's
			u.restAt(suite.lab, http.MethodDelete, "/v3/projects/"+u.project, "", nil)
			events := until(t, stream, isType(schema.EventDone))
			if last(events).StopReason != schema.StopAborted || !strings.HasSuffix(types(events), "abort done ") {
				t.Errorf("%s", types(events))
			}
			u.checkForgotten()
		})
	}
}

// TestAMissingProjectIsNoDeletedOne: another server at the address doesn't know the project, and nobody has said that it was deleted.
func TestAMissingProjectIsNoDeletedOne(t *testing.T) {
	s, session := startLabSite(t), newSession()
	s.project = uuid.NewString()
	s.recreate(s.lab)
	suite.model.On("miss "+session, text("kept"))
	s.say(session, "miss "+session)
	s.down()
	s.again()
	fresh := loginAt(t, s.stack.URL(), "admin")
	fresh.project = s.project
	for _, ask := range []struct{ method, path string }{
		{http.MethodGet, fresh.chatPath("/sessions")}, {http.MethodGet, "/v3/projects/" + s.project}, {http.MethodDelete, "/v3/projects/" + s.project},
	} {
		if a := fresh.askAt(s.stack, ask.method, ask.path, "", fresh.bearer()...); a.status != http.StatusNotFound {
			t.Fatalf("%s %s: %d %s", ask.method, ask.path, a.status, a.text)
		}
	}
	fresh.recreate(s.lab)
	if got := fresh.sessions(); len(got) != 1 || got[0] != session {
		t.Errorf("%q", got)
	}
}

// TestDeletionOutlivesTheProcess that has learned of it and ended before it could act.
func TestDeletionOutlivesTheProcess(t *testing.T) {
	folder := t.TempDir()
	first := startStack(t, t.Context(), folder)
	u, session := loginAt(t, first.URL(), "admin"), newSession()
	u.project = uuid.NewString()
	u.recreate(suite.lab)
	suite.model.On("outlive "+session, text("said before"))
	u.say(session, "outlive "+session)
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(store.Options{URL: filepath.Join(folder, "copilot.db")})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.NoteDeleted(t.Context(), u.project, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again := loginAt(t, startWith(t, options(folder)).URL(), "admin")
	again.project = u.project
	eventually(t, "its sessions are gone", func() bool { return len(again.sessions()) == 0 })
}
