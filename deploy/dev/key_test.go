package dev_test

import (
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"
)

// TestOneKeyInTwoSessionsAtOnce sends two requests with one Idempotency-Key to two sessions before either is stored. One begins a turn; the
// other is told that its key was used, and must leave what waits in that turn alone.
func TestOneKeyInTwoSessionsAtOnce(t *testing.T) {
	s := startLockedSite(t)
	suite.model.On("configure with one key", call(configTool, configure("R1", "interface Loopback31", "description one key")), text("done"))
	s.lock()
	streams := map[string]*client.Stream{}
	for _, session := range []string{newSession(), newSession()} {
		stream, err := s.Post(s.bounded(), s.project, schema.ChatRequest{Message: "configure with one key", SessionID: session}, "one key")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stream.Close() }()
		streams[session] = stream
	}
	s.awaitMiss()
	s.unlock()

	first := func(ev client.Received) bool {
		return ev.Type == schema.EventHITLRequired || ev.Type == schema.EventDone
	}
	var waiting, refused string
	for session, stream := range streams {
		events := until(t, stream, first)
		if last(events).Type == schema.EventHITLRequired {
			waiting = session
			continue
		}
		refused = session
		for _, ev := range events {
			if ev.Type == schema.EventError && ev.Code != schema.CodeInvalid {
				t.Errorf("the other request is told: %s %s", ev.Code, ev.Error)
			}
		}
	}
	if waiting == "" || refused == "" {
		t.Fatalf("waiting %q, refused %q", waiting, refused)
	}
	reply, err := s.Confirm(t.Context(), s.project, waiting, schema.ConfirmRequest{ConfirmAll: true})
	if err != nil || reply.ConfirmedCount != 1 {
		t.Errorf("%+v %v", reply, err)
	}
	if ev := last(until(t, streams[waiting], isType(schema.EventDone))); ev.StopReason != schema.StopComplete {
		t.Errorf("%+v", ev)
	}
	if h := s.history(refused); len(h.Messages) != 0 {
		t.Errorf("the refused message is in the history: %+v", h.Messages)
	}
}
