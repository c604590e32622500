package dev_test

import (
	"net/http"

	"gns3copilot/activities/price"
	"gns3copilot/deploy/dev"
	"gns3copilot/schema"
)

func goldenBooks() []goldenFile {
	return []goldenFile{
		{"endpoints/changes.txt", "GET …/sessions/{id}/changes: what was sent to devices.", goldenChangesFile},
		{"endpoints/approvals.txt", "GET /v3/copilot/approvals: all that waits in the caller's projects.", goldenInboxFile},
		{"endpoints/approvals-history.txt", "GET /v3/copilot/approvals/history: what was proposed, decided, and came of it.", goldenDecidedFile},
		{"endpoints/usage.txt", "GET /v3/copilot/usage: what the caller's turns have used.", goldenUsageFile},
	}
}

func goldenChangesFile(g *golden) {
	g.nodes("Cisco 3725")
	changes := g.chatPath("/sessions/first/changes")
	g.turn("first", "hello", text("Hi"))
	g.show("When nothing was sent", http.MethodGet, changes, "")
	g.confirmed("first", "describe it", configure("R1", "interface Loopback1", "description one", "ip address 10.1.1.1 255.255.255.255"))
	g.confirmed("first", "and wrongly", configure("R1", "interface Loopback1", "ip addres 10.1.1.1", "description two"))
	g.show("A push that went well, and one whose second line the device refused", http.MethodGet, changes, "")
	g.onSessions(http.MethodGet, "/changes", "")
}

// confirmed has a change proposed, confirmed and carried out.
func (g *golden) confirmed(session, message, arguments string) {
	g.t.Helper()
	p := g.proposes(session, message, call(configTool, arguments), text("done"))
	g.rest(http.MethodPost, g.chatPath("/sessions/"+session+"/hitl/confirm"), `{"confirm_all": true}`, nil)
	p.rest()
}

// onProjects shows which projects the list may be of.
func (g *golden) onProjects(path string) {
	g.t.Helper()
	g.show("Of a project that isn't there", http.MethodGet, path+"?project_id="+nowhere, "")
	g.by("student").show("Of a project that the caller may not see", http.MethodGet, path+"?project_id="+g.project, "")
	g.show("Of something that is no project's id", http.MethodGet, path+"?project_id=undefined", "")
}

func goldenInboxFile(g *golden) {
	const inbox = "/v3/copilot/approvals"
	g.show("When nothing waits", http.MethodGet, inbox+"?project_id="+g.project, "")
	g.nodes("Cisco 3725")
	p := g.proposes("first", "describe it", call(configTool, configure("R1", "interface Loopback1", "description one")), text("done"))
	g.show("A call waits in a project", http.MethodGet, inbox+"?project_id="+g.project, "")
	g.show("The same among all projects that the caller may see", http.MethodGet, inbox, "")
	g.abort("first", p.goldenStream)
	g.onProjects(inbox)
}

func goldenDecidedFile(g *golden) {
	decided := "/v3/copilot/approvals/history"
	ofProject := decided + "?project_id=" + g.project
	g.show("When nothing was decided", http.MethodGet, ofProject, "")
	g.nodes("Cisco 3725", "Cisco 3725")
	worse, better := configure("R1", "interface Loopback1", "description worse"), configure("R1", "interface Loopback1", "description better")
	p := g.proposes("first", "confirm one, reject one", two, text("done"))
	g.rest(http.MethodPost, g.chatPath("/sessions/first/hitl/reject"), `{"tool_call_ids": ["`+p.call(1)+`"], "reason": "Not that one."}`, nil)
	g.rest(http.MethodPost, g.chatPath("/sessions/first/hitl/confirm"), `{"confirm_all": true}`, nil)
	p.rest()
	p = g.proposes("first", "modify one", call(configTool, worse), call(configTool, better), text("done"))
	g.rest(http.MethodPost, g.chatPath("/sessions/first/hitl/modify"), `{"tool_call_id": "`+p.call(0)+`", "modified_args": `+better+`}`, nil)
	p.rest()
	p = g.proposes("first", "abort one", call(configTool, worse), text("done"))
	g.abort("first", p.goldenStream)
	g.show("Of a project, newest first: aborted, run under a modification, modified, confirmed, rejected", http.MethodGet, ofProject, "")
	g.show("The newest of them: 1 to 1000, 100 when absent", http.MethodGet, ofProject+"&limit=1", "")
	g.show("A limit that is none", http.MethodGet, ofProject+"&limit=0", "")
	fellow := g.by("fellow")
	fellow.project = fellow.newProject()
	fellow.nodes("Cisco 3725")
	p = fellow.proposes("first", "reject it", call(configTool, worse), text("done"))
	fellow.rest(http.MethodPost, fellow.chatPath("/sessions/first/hitl/reject"), `{"reject_all": true}`, nil)
	p.rest()
	fellow.show("Of all projects that another user may see, the newest", http.MethodGet, decided+"?limit=1", "")
	g.onProjects(decided)
}

// goldenUsageFile has a stack of its own: a day's sums are of all that a user does.
func goldenUsageFile(g *golden) {
	perMillion, err := price.PerMillion(1, 2)
	if err != nil {
		g.t.Fatal(err)
	}
	w := startGoldenWorld(g.t, func(o *dev.Options) {
		o.Limits.Turn = schema.TurnLimits{ToolCalls: 200, Tokens: 2_000_000, CostMicroUSD: 500_000, DayTokens: 700}
		o.Worker.Models[0].Price = &perMillion
	})
	g = g.at(w)
	const usage = "/v3/copilot/usage"
	g.show("When nothing was used", http.MethodGet, usage, "")
	g.turn("first", "hello", text("Hi"))
	g.show("After a turn: its answer and its session's title", http.MethodGet, usage, "")
	g.turn("second", "hello again", text("Hi again"))
	g.show("Of one of two sessions; day is of all", http.MethodGet, usage+"?session_id=first", "")
	g.show("Of a project where nothing was used, on two days, and one session at most", http.MethodGet, usage+"?days=2&limit=1&project_id="+g.newProject(), "")
	student := g.by("student")
	student.show("Of another user", http.MethodGet, usage+"?user_id="+g.id, "")
	student.project = student.newProject()
	student.turn("first", "hello", text("Hi"))
	g.show("Of another user, as an administrator: sums without sessions", http.MethodGet, usage+"?user_id="+student.id, "")
	g.turn("second", "hello again", text("Hi again"))
	g.show("A message when a limit of the day is reached", http.MethodPost, g.chatPath("/stream"), saying("first", "hello"))
	g.show("Days that are none", http.MethodGet, usage+"?days=0", "")
	g.onProjects(usage)
}
