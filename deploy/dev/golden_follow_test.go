package dev_test

import (
	"net/http"

	"gns3copilot/schema"
)

func goldenFollowing() []goldenFile {
	return []goldenFile{
		{"endpoints/events.txt", "GET …/sessions/{id}/events: follow a turn again, while it runs or after.", goldenFollowFile},
		{"endpoints/tool-outputs.txt", "GET …/sessions/{id}/tool-outputs/{tool_call_id}: a tool's whole result.", goldenOutputFile},
	}
}

func goldenFollowFile(g *golden) {
	events := g.chatPath("/sessions/first/events")
	g.script("first", "hello", text("Hi", " there"))
	earlier := g.begin("first", "hello").rest()
	g.script("first", "and now", text("Hi", " again"))
	turn := g.begin("first", "and now").rest()
	g.frames(g.open("The session's last turn from its beginning", http.MethodGet, events, "").rest())
	g.frames(g.open("Behind an event", http.MethodGet, events, "", "Last-Event-ID", turn[0].id).rest())
	g.show("Behind the last event: there is nothing more, and no reason to come back", http.MethodGet, events, "", "Last-Event-ID", turn[len(turn)-1].id)
	g.frames(g.open("An earlier turn", http.MethodGet, events+"?turn="+earlier[len(earlier)-1].ev.TurnID, "").rest())
	g.frames(g.open("Behind an event that can't be gone on from: a reset, then the last turn from its beginning", http.MethodGet, events, "",
		"Last-Event-ID", "nonsense").rest())
	g.show("A turn that isn't the session's", http.MethodGet, events+"?turn="+nowhere, "")
	g.onSessions(http.MethodGet, "/events", "")
}

func goldenOutputFile(g *golden) {
	g.nodes("Cisco 3725")
	events := g.turn("first", "look at R1", call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show ip interface brief"]}]}`), text("All is well."))
	id := ""
	for _, ev := range events {
		if ev.Type == schema.EventToolEnd {
			id = ev.ToolCallID
		}
	}
	g.show("A call", http.MethodGet, g.chatPath("/sessions/first/tool-outputs/"+id), "")
	g.show("A call that the session doesn't have", http.MethodGet, g.chatPath("/sessions/first/tool-outputs/call_1"), "")
	g.onSessions(http.MethodGet, "/tool-outputs/"+id, "")
}
