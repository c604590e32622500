package dev_test

import (
	"fmt"
	"net/http"
	"strings"

	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// nowhere is a project that isn't there.
const nowhere = "00000000-0000-4000-8000-000000000000"

// elsewhere shows the answers to a request in projects where it can't be: one that isn't opened, unless it works there, one that isn't there, and
// one that is no id.
func (g *golden) elsewhere(method, tail, body string, needsOpened bool) {
	g.t.Helper()
	if needsOpened {
		closed := g.in(g.newProject())
		closed.closeProject()
		closed.show("In a project that isn't opened", method, closed.chatPath(tail), body)
	}
	g.show("In a project that isn't there", method, g.in(nowhere).chatPath(tail), body)
	g.show("With something that is no project's id", method, g.in("undefined").chatPath(tail), body)
}

// unnamed shows a session's name that can't be one. The tail has a verb %s in its place.
func (g *golden) unnamed(method, tail, body string) {
	g.t.Helper()
	g.show("With a name that no session can have", method, g.chatPath(fmt.Sprintf(tail, "a.b")), body)
}

func goldenChat() []goldenFile {
	return []goldenFile{
		{"endpoints/stream.txt", "POST …/stream: say something and follow the turn. Each event is shown in a file of its own, whole turns in turns/.", goldenStreamFile},
		{"endpoints/stream-whole.txt", "POST …/stream with stream: false: the turn's messages as one document, once it is over.", goldenWholeFile},
		{"endpoints/inject.txt", "POST …/inject: a turn in fault injection mode.", goldenInjectFile},
	}
}

func goldenStreamFile(g *golden) {
	stream := g.chatPath("/stream")
	g.script("first", "hello", text("Hi", " there"))
	g.frames(g.open("A message in a session that the client names", http.MethodPost, stream, saying("first", "hello")).rest())
	suite.model.On("A scripted title", text("Hi"))
	g.frames(g.open("A message without a session_id: every event has the new session's", http.MethodPost, stream, `{"message": "A scripted title"}`).rest())
	g.script("all", "with all fields", text("Hi"))
	g.frames(g.open("All fields, and one that isn't known, which is passed over", http.MethodPost, stream,
		`{"message": "with all fields", "session_id": "all", "stream": true, "temperature": 0.7, "max_tokens": 100, "mode": "text", "copilot_mode": "teaching_assistant", "extra": 1}`).rest())
	g.script("other", "at the other prefix", text("Hi"))
	g.frames(g.open("At the other prefix", http.MethodPost, "/v3/projects/"+g.project+"/chat/stream", saying("other", "at the other prefix")).rest())

	g.script("key", "once", text("Hi"))
	const key = "Idempotency-Key"
	g.frames(g.open("With an Idempotency-Key", http.MethodPost, stream, saying("key", "once"), key, "k1").rest())
	g.frames(g.open("The same again: the turn is not had twice, its events have the same ids", http.MethodPost, stream, saying("key", "once"), key, "k1").rest())
	g.show("Another body under the key", http.MethodPost, stream, saying("key", "twice"), key, "k1")

	release := make(chan struct{})
	g.script("busy", "take your time", func(r *scriptmodel.Reply) { r.Say("well"); r.Hold(release) })
	busy := g.begin("busy", "take your time")
	busy.until(ofType(schema.EventContent))
	g.show("While the session answers another message", http.MethodPost, stream, saying("busy", "hello"))
	close(release)
	busy.rest()

	g.refusedMessages(stream)
	g.elsewhere(http.MethodPost, "/stream", saying("first", "hello"), true)
	bare := g.at(startGoldenWorld(g.t, func(o *dev.Options) { o.Worker.Models, o.NoDemoModel = nil, true }))
	bare.show("Where no model is configured", http.MethodPost, bare.chatPath("/stream"), saying("first", "hello"))
	g.show("With another method: GNS3 answers what isn't ours", http.MethodPut, stream, saying("first", "hello"))
}

// refusedMessages shows what no turn begins with.
func (g *golden) refusedMessages(path string) {
	g.t.Helper()
	for _, c := range []struct{ title, body string }{
		{"No JSON", `{"message": "hello`},
		{"No message", `{"session_id": "first"}`},
		{"Several faults", `{"message": 7, "temperature": 3, "max_tokens": 0, "mode": "voice", "copilot_mode": "root"}`},
		{"A blank message", `{"message": " \n"}`},
		{"A name that no session can have", `{"message": "hello", "session_id": "a.b"}`},
		{"Over 32 KiB", `{"message": "` + strings.Repeat("x", 32<<10) + `"}`},
	} {
		g.show(c.title, http.MethodPost, path, c.body)
	}
	g.show("Another content type", http.MethodPost, path, "message=hello", "Content-Type", "application/x-www-form-urlencoded")
}

func goldenWholeFile(g *golden) {
	stream := g.chatPath("/stream")
	g.nodes("Cisco 3725")
	g.turn("first", "hello", text("Hi"))
	whole := func(message string) string {
		return fmt.Sprintf(`{"message": %q, "session_id": "first", "stream": false}`, message)
	}
	g.script("first", "look at R1", call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show ip interface brief"]}]}`), text("All is well."))
	g.show("A turn with a tool, in a session that has had another turn", http.MethodPost, stream, whole("look at R1"))
	g.script("first", "fail", func(r *scriptmodel.Reply) {
		r.Fail(http.StatusUnauthorized, `{"error":{"message":"Missing Authentication header"}}`)
	})
	g.show("A turn whose model refuses", http.MethodPost, stream, whole("fail"))
}

func goldenInjectFile(g *golden) {
	inject := g.chatPath("/inject")
	g.script("first", "Inject a network fault for troubleshooting practice", text("Something is broken now."))
	g.frames(g.open("Without a message: any fault", http.MethodPost, inject, `{"session_id": "first"}`).rest())
	g.show("What was said in its place", http.MethodGet, g.chatPath("/sessions/first/history"), "")
	g.show("The session has the mode", http.MethodGet, g.chatPath("/sessions?copilot_mode=troubleshooting_injection"), "")
	g.script("first", "break OSPF", text("Done."))
	g.frames(g.open("With a message", http.MethodPost, inject, saying("first", "break OSPF")).rest())
	for _, c := range []struct{ title, body string }{
		{"No JSON", `{"message": "break`},
		{"A message that is no text", `{"message": 7}`},
		{"A blank message", `{"message": "  "}`},
		{"Over 32 KiB", `{"message": "` + strings.Repeat("x", 32<<10) + `"}`},
	} {
		g.show(c.title, http.MethodPost, inject, c.body)
	}
	g.elsewhere(http.MethodPost, "/inject", `{"session_id": "first"}`, true)
}
