package dev_test

import (
	"net/http"
	"strings"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

func goldenSessions() []goldenFile {
	return []goldenFile{
		{"endpoints/sessions.txt", "GET …/sessions: the caller's sessions in the project.", goldenListFile},
		{"endpoints/history.txt", "GET …/sessions/{id}/history: what was said, oldest first.", goldenHistoryFile},
		{"endpoints/rename.txt", "PATCH …/sessions/{id}: a title of the user's own.", goldenRenameFile},
		{"endpoints/delete.txt", "DELETE …/sessions/{id}: remove a session and what was said in it.", goldenDeleteFile},
		{"endpoints/pin.txt", "PUT …/sessions/{id}/pin: put a session before the others.", goldenPinFile},
		{"endpoints/unpin.txt", "DELETE …/sessions/{id}/pin: put a session back among the others.", goldenUnpinFile},
		{"endpoints/abort.txt", "POST …/sessions/{id}/abort: stop the running turn.", goldenAbortFile},
	}
}

func goldenListFile(g *golden) {
	sessions := g.chatPath("/sessions")
	g.show("Without a session", http.MethodGet, sessions, "")
	g.turn("oldest", "hello", text("Hi"))
	g.turn("middle", "hello", text("Hi"))
	g.script("newest", "Inject a network fault for troubleshooting practice", text("Done."))
	g.rest(http.MethodPost, g.chatPath("/inject"), `{"session_id": "newest", "stream": false}`, nil)
	g.rest(http.MethodPut, g.chatPath("/sessions/oldest/pin"), "", nil)
	g.show("Pinned ones first, then the last changed first", http.MethodGet, sessions, "")
	g.show("The first of them: 1 to 1000, 100 when absent", http.MethodGet, sessions+"?limit=1", "")
	g.show("Of one mode", http.MethodGet, sessions+"?copilot_mode=troubleshooting_injection", "")
	g.show("One's own, by one's id", http.MethodGet, sessions+"?limit=1&user_id="+g.id, "")
	g.show("Somebody else's: none", http.MethodGet, sessions+"?user_id=11111111-1111-4111-8111-111111111111", "")
	g.show("A limit that is none", http.MethodGet, sessions+"?limit=0", "")
	g.show("A limit that is too large, and a mode that isn't known", http.MethodGet, sessions+"?limit=1001&copilot_mode=root", "")
	g.elsewhere(http.MethodGet, "/sessions", "", true)
	g.by("student").show("In a project that the caller may not see", http.MethodGet, sessions, "")
}

func goldenHistoryFile(g *golden) {
	history := g.chatPath("/sessions/first/history")
	g.nodes("Cisco 3725")
	g.turn("first", "look at R1", func(r *scriptmodel.Reply) {
		r.Say("I'll look.")
		r.Call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show ip interface brief"]}]}`)
	}, text("All is ", "well."))
	g.turn("first", "use the envelope", call(commandsTool, `{"tool_input": "{\"device_configs\": [{\"device_name\": \"R9\", \"commands\": [\"show version\"]}]}"}`),
		call(commandsTool, `{"device_configs": [`), text("I see."))
	g.show("Two turns: arguments are an object, or the text that can't be one", http.MethodGet, history, "")
	g.show("The newest messages: 1 to 1000, 100 when absent", http.MethodGet, history+"?limit=1", "")
	g.show("A session that the caller doesn't have", http.MethodGet, g.chatPath("/sessions/nope/history"), "")
	g.show("A limit that is none", http.MethodGet, history+"?limit=0", "")
	g.unnamed(http.MethodGet, "/sessions/%s/history", "")
	g.elsewhere(http.MethodGet, "/sessions/first/history", "", true)
}

func goldenRenameFile(g *golden) {
	g.turn("first", "hello", text("Hi"))
	first := g.chatPath("/sessions/first")
	g.show("A new title", http.MethodPatch, first, `{"title": "Ospf – área 0"}`)
	for _, c := range []struct{ title, body string }{
		{"No title", `{}`},
		{"An empty title", `{"title": ""}`},
		{"A title of 256 characters", `{"title": "` + strings.Repeat("x", 256) + `"}`},
		{"A title of blanks", `{"title": "  "}`},
		{"No JSON", `{"title"`},
		{"Over 32 KiB", `{"title": "` + strings.Repeat("x", 32<<10) + `"}`},
	} {
		g.show(c.title, http.MethodPatch, first, c.body)
	}
	g.onSessions(http.MethodPatch, "", `{"title": "Other"}`)
}

// onSessions shows the answers to a request about sessions and in projects that aren't there.
func (g *golden) onSessions(method, tail, body string) {
	g.t.Helper()
	g.show("A session that the caller doesn't have", method, g.chatPath("/sessions/nope"+tail), body)
	g.unnamed(method, "/sessions/%s"+tail, body)
	g.elsewhere(method, "/sessions/first"+tail, body, true)
}

func goldenDeleteFile(g *golden) {
	g.turn("first", "hello", text("Hi"))
	g.show("A session", http.MethodDelete, g.chatPath("/sessions/first"), "")
	g.show("Its history afterwards", http.MethodGet, g.chatPath("/sessions/first/history"), "")
	g.script("running", "hello", func(r *scriptmodel.Reply) { r.Say("once upon"); r.Hold(nil) })
	running := g.begin("running", "hello")
	running.until(ofType(schema.EventContent))
	g.show("A session whose turn runs: it is aborted first", http.MethodDelete, g.chatPath("/sessions/running"), "")
	running.rest()
	g.onSessions(http.MethodDelete, "", "")
}

func goldenPinFile(g *golden) {
	g.turn("first", "hello", text("Hi"))
	g.show("A session", http.MethodPut, g.chatPath("/sessions/first/pin"), "")
	g.show("Once more: nothing changes", http.MethodPut, g.chatPath("/sessions/first/pin"), "")
	g.onSessions(http.MethodPut, "/pin", "")
}

func goldenUnpinFile(g *golden) {
	g.turn("first", "hello", text("Hi"))
	g.rest(http.MethodPut, g.chatPath("/sessions/first/pin"), "", nil)
	g.show("A pinned session", http.MethodDelete, g.chatPath("/sessions/first/pin"), "")
	g.show("Once more: nothing changes", http.MethodDelete, g.chatPath("/sessions/first/pin"), "")
	g.onSessions(http.MethodDelete, "/pin", "")
}

func goldenAbortFile(g *golden) {
	g.script("first", "hello", func(r *scriptmodel.Reply) { r.Say("once upon"); r.Hold(nil) })
	running := g.begin("first", "hello")
	running.until(ofType(schema.EventContent))
	g.show("A running turn", http.MethodPost, g.chatPath("/sessions/first/abort"), "")
	running.rest()
	g.show("When nothing runs", http.MethodPost, g.chatPath("/sessions/first/abort"), "")
	g.show("A session that the caller doesn't have", http.MethodPost, g.chatPath("/sessions/nope/abort"), "")
	closed := g.in(g.newProject())
	closed.closeProject()
	closed.show("In a project that isn't opened: what still runs there can be stopped", http.MethodPost, closed.chatPath("/sessions/first/abort"), "")
	g.unnamed(http.MethodPost, "/sessions/%s/abort", "")
	g.elsewhere(http.MethodPost, "/sessions/first/abort", "", false)
}
