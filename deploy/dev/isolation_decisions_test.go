package dev_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gns3copilot/schema"
)

// checkDecisions is about what the matrix leaves out: whoever may see a project may see what waits there for a word and say it, whose
// session it ever is, and gets to know no more of the session than the calls that are asked about.
func (w *world) checkDecisions(t *testing.T) {
	for _, c := range []struct {
		caller  *person
		project string
	}{{w.fellow, w.student.shared}, {w.boss, w.student.shared}, {w.boss, w.student.home}} {
		t.Run(fmt.Sprint(c.caller.name, " in ", c.project), func(t *testing.T) { w.checkDecider(t, c.caller, c.project) })
	}
	// Without a project's name these are the calls of all projects that the caller takes part in, and of no other; an administrator's are all.
	for _, p := range w.people() {
		for _, list := range []string{"/v3/copilot/approvals", "/v3/copilot/approvals/history?limit=1000"} {
			projects := slices.Sorted(maps.Keys(w.items(t, p, list)))
			want := slices.Sorted(slices.Values([]string{p.home, p.shared}))
			if p == w.boss {
				want = slices.Sorted(slices.Values([]string{w.student.home, w.fellow.home, w.boss.home, w.student.shared}))
			}
			if !slices.Equal(projects, want) {
				t.Errorf("%s lists calls of %v to %s, want %v", list, projects, p.name, want)
			}
		}
	}
}

// items are the approvals of a list, by project.
func (w *world) items(t *testing.T, p *person, path string) map[string][]schema.InboxItem {
	t.Helper()
	var all []schema.InboxItem
	status, body := w.raw(p, http.MethodGet, path, "")
	if err := json.Unmarshal([]byte(body), &all); status != http.StatusOK || err != nil {
		t.Fatalf("%s: %d %s", path, status, body)
	}
	items := map[string][]schema.InboxItem{}
	for _, item := range all {
		items[item.ProjectID] = append(items[item.ProjectID], item)
	}
	return items
}

// checkDecider lets somebody decide in the student's sessions.
func (w *world) checkDecider(t *testing.T, p *person, project string) {
	owner, u := w.student, p.in(project)
	plants := owner.plants[project]
	path := u.chatPath("/sessions/" + plants[waiting].session + "/hitl-status")
	mine, theirs := w.ask(owner, http.MethodGet, path, nil, ""), w.ask(p, http.MethodGet, path, nil, "")
	if now := remaining.ReplaceAllString(mine.body, ""); mine.status != http.StatusOK || !strings.Contains(now, owner.marker) ||
		now != remaining.ReplaceAllString(theirs.body, "") {
		t.Errorf("hitl-status: the owner sees %d %s, the other %d %s", mine.status, mine.body, theirs.status, theirs.body)
	}
	for kind, list := range map[sessionKind]string{waiting: "", decided: "/history"} {
		items := w.items(t, p, "/v3/copilot/approvals"+list+"?limit=1000&project_id="+project)
		if len(items) != 1 || !slices.ContainsFunc(items[project], func(i schema.InboxItem) bool {
			return i.SessionID == plants[kind].session && i.ToolCallID == plants[kind].ids["tool_call_id"] && i.UserName == owner.name
		}) {
			t.Errorf("approvals%s doesn't have the call of %s's: %+v", list, owner.name, items)
		}
	}
	for _, action := range []string{"confirm", "reject", "modify"} {
		w.checkWord(t, p, project, action)
	}
}

// checkWord lets somebody say a word on a call of the student's: it counts, under the name of who said it, and once.
func (w *world) checkWord(t *testing.T, p *person, project, action string) {
	t.Helper()
	s := w.spare(w.student, project, waiting)
	delete(w.student.spares, project+string(waiting))
	op := operation{recipe: recipes()["POST /sessions/{session_id}/hitl/"+action], method: http.MethodPost, path: prefixes()[0] + "/sessions/{session_id}/hitl/" + action,
		params: []param{{"project_id", "path"}, {"session_id", "path"}}}
	v := map[string]string{"project_id": project, "session_id": s.session, "tool_call_id": s.ids["tool_call_id"]}
	if a := w.send(p, op, v); a.status != http.StatusOK {
		t.Errorf("%s: %d %s", action, a.status, a.body)
	}
	done := map[string]schema.ApprovalState{"confirm": schema.ApprovalConfirmed, "reject": schema.ApprovalRejected, "modify": schema.ApprovalModified}[action]
	items := w.items(t, w.student, "/v3/copilot/approvals/history?limit=1000&project_id="+project)[project]
	if !slices.ContainsFunc(items, func(i schema.InboxItem) bool {
		return i.ToolCallID == s.ids["tool_call_id"] && i.State == done && i.DecidedBy == p.name
	}) {
		t.Errorf("%s by %s isn't in the history", action, p.name)
	}
	// Who comes second is told so, and nothing else.
	for _, session := range []planted{s, w.student.plants[project][decided]} {
		v["session_id"], v["tool_call_id"] = session.session, session.ids["tool_call_id"]
		if a := w.send(p, op, v); a.status != http.StatusConflict || strings.Contains(a.body, w.student.marker) {
			t.Errorf("a second %s: %d %s", action, a.status, a.body)
		}
	}
	for _, tail := range []string{"/events", "/changes", "/tool-outputs/" + s.ids["tool_call_id"]} {
		u := p.in(project)
		if status, body := w.raw(p, http.MethodGet, u.chatPath("/sessions/"+s.session+tail), ""); status != http.StatusNotFound {
			t.Errorf("%s after a %s: %d %s", tail, action, status, body)
		}
	}
	if h := p.in(project).history(s.session); len(h.Messages) > 0 {
		t.Errorf("history after a %s: %+v", action, h)
	}
}
