package dev_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// The tests of this file are named after published reports of what went wrong elsewhere.

// TestC4ForeignAndDecidedIDs: an id that means nothing here changes nothing.
func TestC4ForeignAndDecidedIDs(t *testing.T) {
	u, session, other := login(t, "admin"), newSession(), newSession()
	s1, asked := propose(t, u, session, "c4 one", call(configTool, configure("R1", "interface Loopback71")), text("ok"))
	s2, foreign := propose(t, u, other, "c4 two", call(configTool, configure("R2", "interface Loopback72")), text("ok"))
	own, theirs := last(asked).PendingTools[0].ToolCallID, last(foreign).PendingTools[0].ToolCallID
	for _, id := range []string{"call_random", theirs} {
		if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ToolCallIDs: []string{id}}); schema.CodeOf(err) != schema.CodeMalformed {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{}); schema.CodeOf(err) != schema.CodeMalformed {
		t.Errorf("no criteria: %v", err)
	}
	if _, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{ToolCallIDs: []string{own}}); err != nil {
		t.Fatal(err)
	}
	until(t, s1, isType(schema.EventDone))
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ToolCallIDs: []string{own}}); schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("a decided id: %v", err)
	}
	if status, err := u.HITLStatus(t.Context(), u.project, other); err != nil || len(status.PendingTools) != 1 {
		t.Errorf("the other session: %+v %v", status, err)
	}
	if err := u.Abort(t.Context(), u.project, other); err != nil {
		t.Fatal(err)
	}
	until(t, s2, isType(schema.EventDone))
}

// TestC11ClientGone: the client leaves in the moment when a human is asked; the question stays, and can be answered.
func TestC11ClientGone(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, _ := propose(t, u, session, "c11", call(configTool, configure("R1", "interface Loopback73")), text("ok"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	events := u.collect(session, "")
	if last(events).StopReason != schema.StopComplete || sent("R1", "interface Loopback73") != 1 {
		t.Errorf("%s", types(events))
	}
}

// TestC12MessageWhilePending: a message meanwhile is refused, and neither answers the question nor loses it.
func TestC12MessageWhilePending(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, _ := propose(t, u, session, "c12", call(configTool, configure("R1", "interface Loopback74")), text("ok"))
	if _, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: "yes, do it", SessionID: session}, ""); schema.CodeOf(err) != schema.CodeTurnRunning {
		t.Errorf("%v", err)
	}
	if status, err := u.HITLStatus(t.Context(), u.project, session); err != nil || len(status.PendingTools) != 1 {
		t.Errorf("%+v %v", status, err)
	}
	if _, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{RejectAll: true}); err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))
	if sent("R1", "interface Loopback74") != 0 {
		t.Error("a message was taken for a confirmation")
	}
}

// TestC18ManyWait: however many sessions wait, a new one is answered, and nothing is held for them.
func TestC18ManyWait(t *testing.T) {
	many := 200
	if testing.Short() {
		many = 20
	}
	u := login(t, "admin")
	suite.model.On("c18", call(configTool, configure("R1", "interface Loopback75")), text("ok"))
	var sessions []string
	for range many {
		session := newSession()
		s := u.post(session, "c18")
		until(t, s, isType(schema.EventHITLRequired))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, session)
	}
	suite.model.On("c18 new", text("here"))
	if events := u.say(newSession(), "c18 new"); said(events) != "here" {
		t.Errorf("%s", types(events))
	}
	var wg sync.WaitGroup
	for _, session := range sessions {
		wg.Go(func() {
			if err := u.Abort(t.Context(), u.project, session); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if sent("R1", "interface Loopback75") != 0 {
		t.Error("something was sent")
	}
}

// TestC19AbortOfWhatWasConfirmed: stop works on a confirmed push too. What was acknowledged stands, the rest isn't sent.
func TestC19AbortOfWhatWasConfirmed(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	var lines []string
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("ip route 10.199.%d.%d 255.255.255.255 10.0.12.2", i/250, i%250))
	}
	s, _ := propose(t, u, session, "c19", call(configTool, configure("R1", lines...)), text("never said"))
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	until(t, s, func(ev client.Received) bool {
		return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning && ev.Done >= 10
	})
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	events := until(t, s, isType(schema.EventDone))
	changes, err := u.Changes(t.Context(), u.project, session)
	if err != nil || len(changes) != 1 {
		t.Fatalf("%+v %v", changes, err)
	}
	c := changes[0]
	reached := 0
	for _, l := range lines {
		if n := sent("R1", l); n > 1 {
			t.Errorf("%q was sent %d times", l, n)
		} else {
			reached += n
		}
	}
	if last(events).StopReason != schema.StopAborted || c.Acked < 10 || c.Acked == len(lines) || reached < c.Acked || reached > c.Acked+1 {
		t.Errorf("%s: %d acknowledged, %d reached the device: %s", types(events), c.Acked, reached, c.Error)
	}
	suite.model.On("c19 after", call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show clock"]}]}`), text("ok"))
	if r := toolResult(t, u.say(newSession(), "c19 after")); !r.Success {
		t.Errorf("the console isn't at its base prompt: %+v", r)
	}
}

// TestC22E15TheVeryFirstTwo: two messages that both begin a session: one is answered, the other told.
func TestC22E15TheVeryFirstTwo(t *testing.T) {
	u := login(t, "admin")
	release := make(chan struct{})
	suite.model.On("c22", func(r *scriptmodel.Reply) { r.Say("one"); r.Hold(release) })
	session := newSession()
	var wg sync.WaitGroup
	streams, refused := make(chan *client.Stream, 2), make(chan error, 2)
	for range 2 {
		wg.Go(func() {
			s, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: "c22", SessionID: session}, "")
			if err != nil {
				refused <- err
				return
			}
			streams <- s
		})
	}
	wg.Wait()
	if len(streams) != 1 || len(refused) != 1 || schema.CodeOf(<-refused) != schema.CodeTurnRunning {
		t.Fatalf("%d answered", len(streams))
	}
	close(release)
	s := <-streams
	defer s.Close()
	until(t, s, isType(schema.EventDone))
	if h := u.history(session); len(h.Messages) != 2 {
		t.Errorf("%d messages", len(h.Messages))
	}
}

// TestE10ManySignals: a hundred signals don't keep a turn from ending.
func TestE10ManySignals(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, _ := propose(t, u, session, "e10", call(configTool, configure("R1", "interface Loopback76")), text("ok"))
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if err := u.Abort(t.Context(), u.project, session); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if events := until(t, s, isType(schema.EventDone)); !strings.HasSuffix(types(events), "abort done ") {
		t.Errorf("%s", types(events))
	}
}

// TestE14AfterTheEnd: a word about a turn that has ended is told so at once, and one about nothing is a 404.
func TestE14AfterTheEnd(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, _ := propose(t, u, session, "e14", call(configTool, configure("R1", "interface Loopback77")), text("ok"))
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))
	began := time.Now()
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("ended: %v", err)
	}
	t.Logf("told after %v", time.Since(began))
	if _, err := u.Confirm(t.Context(), u.project, "no-such-session", schema.ConfirmRequest{ConfirmAll: true}); schema.CodeOf(err) != schema.CodeNotFound {
		t.Errorf("unknown: %v", err)
	}
}
