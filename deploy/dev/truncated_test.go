package dev_test

import (
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// TestA19CallsThatTheOutputLimitCuts are never run nor offered. The model is told, and may do better; one that doesn't is stopped.
func TestA19CallsThatTheOutputLimitCuts(t *testing.T) {
	u := login(t, "admin")
	cut := func(tool, arguments string) scriptmodel.Step {
		return func(r *scriptmodel.Reply) {
			r.CallInPieces(tool, func() {}, arguments)
			r.Finish("length")
		}
	}
	half := cut(configTool, `{"device_configs": [{"device_name": "R1", "config_commands": ["interf`)
	t.Run("it does better", func(t *testing.T) {
		u.t = t
		session := newSession()
		suite.model.On("too much at once", half, cut("gns3_topology_reader", ""), call("gns3_topology_reader", `{}`), text("less at once"))
		events := u.say(session, "too much at once")
		if said(events) != "less at once" || strings.Contains(types(events), "hitl_required") {
			t.Fatalf("%s %q", types(events), said(events))
		}
	})
	t.Run("it does it again", func(t *testing.T) {
		u.t = t
		session, asked := newSession(), 0
		again := func(r *scriptmodel.Reply) { asked++; half(r) }
		suite.model.On("again and again", again, again, again, again, again)
		events := u.say(session, "again and again")
		failure := errorOf(events)
		if asked != 3 || failure.Code != schema.CodeModelTruncated || !strings.Contains(failure.Error, "3 times") || strings.Contains(types(events), "hitl_required") {
			t.Fatalf("asked %d times: %s %+v", asked, types(events), failure)
		}
		checkConversation(t, u.history(session), "user: again and again", "assistant: ", "tool", "assistant: ", "tool", "assistant: ", "tool")
		suite.model.On("after that", text("fine"))
		if events := u.say(session, "after that"); said(events) != "fine" {
			t.Errorf("the session isn't usable: %s", types(events))
		}
	})
}
