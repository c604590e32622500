package dev_test

import (
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// abortAt begins a turn, aborts it at the first event that fits, and gives all of its events.
func abortAt(t *testing.T, u user, session, message string, fits func(client.Received) bool) []client.Received {
	t.Helper()
	s := u.post(session, message)
	events := until(t, s, fits)
	for range 2 { // a second abort changes nothing
		if err := u.Abort(t.Context(), u.project, session); err != nil {
			t.Fatal(err)
		}
	}
	return append(events, until(t, s, isType(schema.EventDone))...)
}

func checkAborted(t *testing.T, u user, session string, events []client.Received) {
	t.Helper()
	if done := last(events); done.StopReason != schema.StopAborted || !strings.HasSuffix(types(events), "abort done ") {
		t.Fatalf("%s %+v", types(events), done.Event)
	}
	suite.model.On("and now", text("fine"))
	if next := u.say(session, "and now"); said(next) != "fine" {
		t.Fatalf("the next message: %s", types(next))
	}
}

func TestC21AbortInMidText(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	hungUp := make(chan struct{})
	suite.model.On("talk for ever", func(r *scriptmodel.Reply) {
		r.Say("once upon")
		r.Hold(nil)
		close(hungUp)
	})
	events := abortAt(t, u, session, "talk for ever", isType(schema.EventContent))
	<-hungUp // the model's connection is closed, or the test times out
	checkAborted(t, u, session, events)
	if h := u.history(session); h.Messages[1].Role != "assistant" || h.Messages[1].Content != "once upon" {
		t.Errorf("what was said is not kept: %+v", h.Messages[1])
	}
}

func TestAbortWithAHalfStreamedCall(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("half a call", func(r *scriptmodel.Reply) {
		r.Call(commandsTool, `{"device_configs": [`)
		r.Hold(nil)
	})
	events := abortAt(t, u, session, "half a call", isType(schema.EventToolCall))
	for _, ev := range events {
		if ev.Type == schema.EventToolStart {
			t.Error("a half call was run")
		}
	}
	checkAborted(t, u, session, events)
}

// TestE4AbortInACommand: an abort ends the read of a console that would go on for a minute.
func TestE4AbortInACommand(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("ping long", call(commandsTool, `{"device_configs": [{"device_name": "PC2", "commands": ["ping 10.255.255.254 -c 60"]}]}`))
	events := abortAt(t, u, session, "ping long", func(ev client.Received) bool {
		return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning
	})
	r := toolResult(t, events)
	if r.Status != "aborted" || r.Success {
		t.Errorf("%+v", r)
	}
	checkAborted(t, u, session, events)
	suite.model.On("still there", call(commandsTool, `{"device_configs": [{"device_name": "PC2", "commands": ["show ip"]}]}`), text("ok"))
	if r := toolResult(t, u.say(session, "still there")); !r.Success {
		t.Errorf("the console is not usable after the abort: %+v", r)
	}
}

func TestAbortWithoutATurn(t *testing.T) {
	u := login(t, "admin")
	if err := u.Abort(t.Context(), u.project, "never-seen"); err != nil {
		t.Fatal(err)
	}
	session := newSession()
	suite.model.On("short", text("yes"))
	u.say(session, "short")
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	if events := u.say(session, "short"); last(events).StopReason != schema.StopComplete {
		t.Fatal("an abort between turns stopped the next one")
	}
}
