package dev_test

import (
	"net/http"
	"time"

	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// goldenTurns has a file for each kind of turn: the request, its whole stream, and what the history has of it.
func goldenTurns() []goldenFile {
	return []goldenFile{
		{"turns/plain.txt", "A turn of text alone.", func(g *golden) { g.wholeTurn("hello", text("Hi", " there", ".")) }},
		{"turns/tool.txt", "A turn with one tool.", func(g *golden) {
			g.nodes("Cisco 3725")
			g.wholeTurn("look at R1", func(r *scriptmodel.Reply) { r.Say("I'll look."); r.Call(commandsTool, showR1) }, text("All is ", "well."))
		}},
		{"turns/two-calls.txt", "A turn with two calls in one message, which run side by side; here the second one's events stand behind the first one's.", func(g *golden) {
			g.nodes("Cisco 3725", "Cisco 3725")
			g.wholeTurn("look at both", func(r *scriptmodel.Reply) { r.Call(commandsTool, showR1); r.Call(commandsTool, showR2) }, text("All is well."))
		}},
		{"turns/two-devices.txt", "A turn with one call for two devices, which are asked side by side; here the second one's events stand behind the first one's.", func(g *golden) {
			g.nodes("Cisco 3725", "VPCS")
			g.wholeTurn("look at both", call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show ip interface brief"]},
				{"device_name": "PC1", "commands": ["arp"]}]}`), text("All is well."))
		}},
		{"turns/error.txt", "A turn whose model refuses.", func(g *golden) { g.wholeTurn("hello", refuses) }},
		{"turns/retry.txt", "A turn whose model breaks off in mid-text, and is asked again.", func(g *golden) { g.wholeTurn("hello", breaksOffOnce()) }},
		{"turns/abort-text.txt", "A turn that is aborted in mid-text.", func(g *golden) {
			g.turnWith("hello", holds)(ofType(schema.EventContent), "abort", "")
		}},
		{"turns/abort-tool.txt", "A turn that is aborted while its tool is at work.", func(g *golden) {
			g.nodes("VPCS")
			g.turnWith("ping long", call(commandsTool, `{"device_configs": [{"device_name": "PC1", "commands": ["ping 10.255.255.254 -c 60"]}]}`))(
				func(ev schema.Event) bool {
					return ev.DeviceProgress != nil && ev.DeviceProgress.State == schema.DeviceRunning
				}, "abort", "")
		}},
		{"turns/abort-waiting.txt", "A turn that is aborted while two calls wait for a human's word: each gets its end.", func(g *golden) {
			g.nodes("Cisco 3725", "Cisco 3725")
			g.turnWith("change both", two)(ofType(schema.EventHITLRequired), "abort", "")
		}},
		{"turns/confirmed.txt", "A turn whose change is confirmed.", func(g *golden) {
			g.nodes("Cisco 3725")
			g.turnWith("describe it", call(configTool, configure("R1", "interface Loopback1", "description one")), text("It is done."))(
				ofType(schema.EventHITLRequired), "hitl/confirm", `{"confirm_all": true}`)
		}},
		{"turns/rejected.txt", "A turn whose change is rejected.", func(g *golden) {
			g.nodes("Cisco 3725")
			g.turnWith("describe it", call(configTool, configure("R1", "interface Loopback1", "description one")), text("I see."))(
				ofType(schema.EventHITLRequired), "hitl/reject", `{"reject_all": true, "reason": "Not today."}`)
		}},
		{"turns/expired.txt", "A turn whose change nobody decides about, on a server that waits for a second only.", expiredTurn},
	}
}

// wholeTurn shows a turn that nobody meddles with.
func (g *golden) wholeTurn(message string, steps ...scriptmodel.Step) {
	g.t.Helper()
	g.script("first", message, steps...)
	g.frames(g.open("The turn", http.MethodPost, g.chatPath("/stream"), saying("first", message)).rest())
	g.afterwards()
}

// turnWith shows a turn that another request meddles with, at the first event that fits.
func (g *golden) turnWith(message string, steps ...scriptmodel.Step) func(fits func(schema.Event) bool, action, body string) {
	return func(fits func(schema.Event) bool, action, body string) {
		g.t.Helper()
		g.script("first", message, steps...)
		s := g.open("The turn", http.MethodPost, g.chatPath("/stream"), saying("first", message))
		g.frames(s.until(fits))
		g.show("Meanwhile", http.MethodPost, g.chatPath("/sessions/first/"+action), body)
		g.note("The turn's stream goes on:")
		g.frames(s.rest())
		g.show("The history afterwards", http.MethodGet, g.chatPath("/sessions/first/history"), "")
	}
}

// afterwards shows what the session has of the turn.
func (g *golden) afterwards() {
	g.t.Helper()
	g.show("The history afterwards", http.MethodGet, g.chatPath("/sessions/first/history"), "")
	g.show("The session afterwards", http.MethodGet, g.chatPath("/sessions"), "")
}

func expiredTurn(g *golden) {
	g = g.at(startGoldenWorld(g.t, func(o *dev.Options) { o.Limits.ApprovalWait = time.Second }))
	g.nodes("Cisco 3725")
	g.script("first", "describe it", call(configTool, configure("R1", "interface Loopback1")), text("I see."))
	s := g.open("The turn", http.MethodPost, g.chatPath("/stream"), saying("first", "describe it"))
	frames := s.rest()
	g.frames(frames)
	g.show("A confirmation then", http.MethodPost, g.chatPath("/sessions/first/hitl/confirm"), `{"confirm_all": true}`)
	for _, f := range frames {
		if f.ev.Type == schema.EventHITLRequired {
			g.show("One by its id", http.MethodPost, g.chatPath("/sessions/first/hitl/confirm"), `{"tool_call_ids": ["`+f.ev.PendingTools[0].ToolCallID+`"]}`)
		}
	}
}
