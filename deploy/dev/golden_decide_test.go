package dev_test

import (
	"fmt"
	"net/http"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

func goldenDecisions() []goldenFile {
	return []goldenFile{
		{"endpoints/hitl-status.txt", "GET …/sessions/{id}/hitl-status: what waits for a human's word.", goldenStatusFile},
		{"endpoints/confirm.txt", "POST …/sessions/{id}/hitl/confirm: let calls run.", goldenConfirmFile},
		{"endpoints/reject.txt", "POST …/sessions/{id}/hitl/reject: don't let calls run.", goldenRejectFile},
		{"endpoints/modify.txt", "POST …/sessions/{id}/hitl/modify: give a call other arguments.", goldenModifyFile},
	}
}

// proposal is a turn that waits for a human's word.
type proposal struct {
	*goldenStream
	asked []frame
}

// proposes begins a turn that waits.
func (g *golden) proposes(session, message string, steps ...scriptmodel.Step) proposal {
	g.t.Helper()
	g.script(session, message, steps...)
	s := g.begin(session, message)
	return proposal{s, s.until(ofType(schema.EventHITLRequired))}
}

// call is the id of the i-th call that waits.
func (p proposal) call(i int) string { return p.asked[len(p.asked)-1].ev.PendingTools[i].ToolCallID }

// abort ends a turn beside the file.
func (g *golden) abort(session string, s *goldenStream) {
	g.t.Helper()
	g.rest(http.MethodPost, g.chatPath("/sessions/"+session+"/abort"), "", nil)
	s.rest()
}

// two proposes a change of each router.
func two(r *scriptmodel.Reply) {
	r.Call(configTool, configure("R1", "interface Loopback1", "description one"))
	r.Call(configTool, configure("R2", "interface Loopback1", "description two"))
}

func goldenStatusFile(g *golden) {
	g.nodes("Cisco 3725", "Cisco 3725")
	status := g.chatPath("/sessions/first/hitl-status")
	g.turn("first", "hello", text("Hi"))
	g.show("When nothing waits", http.MethodGet, status, "")
	p := g.proposes("first", "change both", two, text("done"))
	g.show("When two calls wait", http.MethodGet, status, "")
	g.rest(http.MethodPost, g.chatPath("/sessions/first/hitl/reject"), fmt.Sprintf(`{"tool_call_ids": [%q]}`, p.call(0)), nil)
	g.show("When one of them is decided, in Chinese", http.MethodGet, status, "", "Accept-Language", "zh-CN")
	g.abort("first", p.goldenStream)
	g.show("When the turn is over", http.MethodGet, status, "")
	p = g.proposes("high", "stop routing", call(configTool, configure("R1", "no ip routing")), text("done"))
	g.show("A call of high danger", http.MethodGet, g.chatPath("/sessions/high/hitl-status"), "")
	g.rest(http.MethodPost, g.chatPath("/sessions/high/hitl/confirm"), `{"confirm_all": true}`, nil)
	g.show("The same after its first confirmation", http.MethodGet, g.chatPath("/sessions/high/hitl-status"), "")
	g.abort("high", p.goldenStream)
	g.show("A session that the caller doesn't have", http.MethodGet, g.chatPath("/sessions/nope/hitl-status"), "")
	closed := g.in(g.newProject())
	closed.closeProject()
	closed.show("In a project that isn't opened: what waits there can be seen", http.MethodGet, closed.chatPath("/sessions/first/hitl-status"), "")
	g.unnamed(http.MethodGet, "/sessions/%s/hitl-status", "")
	g.elsewhere(http.MethodGet, "/sessions/first/hitl-status", "", false)
}

func goldenConfirmFile(g *golden) {
	g.nodes("Cisco 3725", "Cisco 3725")
	confirm := g.chatPath("/sessions/first/hitl/confirm")
	const all = `{"confirm_all": true}`
	g.turn("first", "hello", text("Hi"))
	g.show("Before anything has waited in the session", http.MethodPost, confirm, all)

	p := g.proposes("first", "change both", two, text("done"))
	g.refusedDecisions(confirm, p)
	g.show("An id and its hash that is another", http.MethodPost, confirm, fmt.Sprintf(`{"tool_call_ids": [%q], "expected_sha256": {%q: "00"}}`, p.call(0), p.call(0)))
	g.show("One call by its id", http.MethodPost, confirm, fmt.Sprintf(`{"confirm_all": false, "tool_call_ids": [%q]}`, p.call(0)))
	g.show("All that still wait, with null in place of ids", http.MethodPost, confirm, `{"confirm_all": true, "tool_call_ids": null}`)
	p.rest()
	g.show("A call that was confirmed", http.MethodPost, confirm, fmt.Sprintf(`{"tool_call_ids": [%q]}`, p.call(0)))
	g.show("When all is decided", http.MethodPost, confirm, all)

	p = g.proposes("first", "change both again", two, text("done"))
	g.show("In Chinese, with an Idempotency-Key", http.MethodPost, confirm, all, "Accept-Language", "zh-CN,zh;q=0.9", "Idempotency-Key", "k1")
	g.show("The same again", http.MethodPost, confirm, all, "Accept-Language", "zh-CN,zh;q=0.9", "Idempotency-Key", "k1")
	g.show("Another decision under the key", http.MethodPost, confirm, `{"confirm_all": true, "second_confirmation": true}`, "Idempotency-Key", "k1")
	p.rest()

	p = g.proposes("first", "stop routing", call(configTool, configure("R1", "no ip routing")), text("done"))
	g.show("High danger, the first word: it waits for a second one", http.MethodPost, confirm, all)
	g.show("The same again is no second word", http.MethodPost, confirm, all)
	g.show("The second word names its call", http.MethodPost, confirm, fmt.Sprintf(`{"tool_call_ids": [%q], "second_confirmation": true}`, p.call(0)))
	p.rest()
	g.twoSessionsOfOneName("confirm", all)
	g.onSessions(http.MethodPost, "/hitl/confirm", all)
}

// refusedDecisions shows what decides nothing while calls wait.
func (g *golden) refusedDecisions(path string, p proposal) {
	g.t.Helper()
	for _, c := range []struct{ title, body string }{
		{"Nothing is chosen", `{}`},
		{"An unknown id", `{"tool_call_ids": ["call_unknown"]}`},
		{"An unknown id beside a known one", fmt.Sprintf(`{"tool_call_ids": [%q, "call_unknown"]}`, p.call(0))},
		{"A field that isn't known", `{"confirm_al": true}`},
		{"No JSON", `{"tool_call_ids": [`},
	} {
		g.show(c.title, http.MethodPost, path, c.body)
	}
}

// twoSessionsOfOneName shows a decision that could mean either of two users' calls. Who decides is neither of them, but may see the project.
func (g *golden) twoSessionsOfOneName(action, body string) {
	g.t.Helper()
	student := g.by("student")
	var projects []schema.Project
	student.rest(http.MethodGet, "/v3/projects", "", &projects)
	for _, p := range projects {
		if p.Name == "Shared lab" {
			student = student.in(p.ID)
		}
	}
	fellow := student.by("fellow")
	one := student.proposes("same", "student's "+action, call(configTool, configure("R1", "interface Loopback1")), text("done"))
	two := fellow.proposes("same", "fellow's "+action, call(configTool, configure("R2", "interface Loopback2")), text("done"))
	third := g.in(student.project)
	third.show("Two users' sessions of that name wait", http.MethodPost, third.chatPath("/sessions/same/hitl/"+action), body)
	student.abort("same", one.goldenStream)
	fellow.abort("same", two.goldenStream)
}

func goldenRejectFile(g *golden) {
	g.nodes("Cisco 3725", "Cisco 3725")
	reject := g.chatPath("/sessions/first/hitl/reject")
	const all = `{"reject_all": true, "reason": "Not today."}`
	g.turn("first", "hello", text("Hi"))
	g.show("Before anything has waited in the session", http.MethodPost, reject, all)
	p := g.proposes("first", "change both", two, text("I see."))
	g.refusedDecisions(reject, p)
	g.show("One call by its id", http.MethodPost, reject, fmt.Sprintf(`{"tool_call_ids": [%q], "reason": "Not that one."}`, p.call(0)))
	g.show("All that still wait", http.MethodPost, reject, all)
	p.rest()
	g.show("A call that was rejected", http.MethodPost, reject, fmt.Sprintf(`{"tool_call_ids": [%q]}`, p.call(0)))
	g.show("When all is decided", http.MethodPost, reject, all)

	p = g.proposes("first", "change both again", two, text("I see."))
	g.show("In Chinese", http.MethodPost, reject, all, "Accept-Language", "zh")
	p.rest()

	closed := g.in(g.newProject())
	closed.nodes("Cisco 3725", "Cisco 3725")
	p = closed.proposes("first", "change a project that closes", two, text("I see."))
	closed.closeProject()
	closed.show("In a project that isn't opened any more", http.MethodPost, closed.chatPath("/sessions/first/hitl/reject"), all)
	p.rest()
	g.show("A session that the caller doesn't have", http.MethodPost, g.chatPath("/sessions/nope/hitl/reject"), all)
	g.unnamed(http.MethodPost, "/sessions/%s/hitl/reject", all)
	g.elsewhere(http.MethodPost, "/sessions/first/hitl/reject", all, false)
}

func goldenModifyFile(g *golden) {
	g.nodes("Cisco 3725")
	modify := g.chatPath("/sessions/first/hitl/modify")
	better := configure("R1", "interface Loopback1", "description better")
	p := g.proposes("first", "describe it", call(configTool, configure("R1", "interface Loopback1", "description worse")), call(configTool, better), text("done"))
	change := func(id, args string) string {
		return fmt.Sprintf(`{"tool_call_id": %q, "modified_args": %s}`, id, args)
	}
	for _, c := range []struct{ title, body string }{
		{"An unknown id", change("call_unknown", better)},
		{"Arguments that the tool can't have", change(p.call(0), `{"device_configs": 7}`)},
		{"A device that isn't there", change(p.call(0), configure("R9", "interface Loopback1"))},
		{"A line that may never be sent", change(p.call(0), configure("R1", "do debug all"))},
		{"No arguments", fmt.Sprintf(`{"tool_call_id": %q}`, p.call(0))},
		{"A field that isn't known", fmt.Sprintf(`{"tool_call_id": %q, "modified_args": {}, "modified": true}`, p.call(0))},
		{"Looked at were other arguments", fmt.Sprintf(`{"tool_call_id": %q, "modified_args": %s, "expected_sha256": "00"}`, p.call(0), better)},
		{"Another description: the model is told, and its next call with just these arguments runs", change(p.call(0), better)},
	} {
		g.show(c.title, http.MethodPost, modify, c.body)
	}
	g.note("What the turn's stream shows from then on:")
	g.frames(p.rest())
	g.show("A call that was modified", http.MethodPost, modify, change(p.call(0), better))
	p = g.proposes("first", "describe it", call(configTool, configure("R1", "interface Loopback1", "description worse")), text("done"))
	g.show("In Chinese", http.MethodPost, modify, change(p.call(0), better), "Accept-Language", "zh")
	p.rest()
	g.onSessions(http.MethodPost, "/hitl/modify", change("call_unknown", better))
}
