package dev_test

import (
	"net/http"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"
)

// power opens or closes the user's project at the GNS3 server itself.
func (u user) power(what string) {
	u.t.Helper()
	u.restAt(suite.lab, http.MethodPost, "/v3/projects/"+u.project+"/"+what, "{}", nil)
}

// refusedOnClosed checks that a request is refused because the project is closed.
func refusedOnClosed(t *testing.T, what string, err error) {
	t.Helper()
	if e := schema.AsError(err); schema.CodeOf(err) != schema.CodeProjectClosed || !strings.HasPrefix(e.Message, "Project must be opened to ") ||
		!strings.HasSuffix(e.Message, " Current status: closed") {
		t.Errorf("%s: %v", what, err)
	}
}

// TestF14ProjectClosedWhileAChangeWaits closes the project under a waiting approval. That the turn listens doesn't keep GNS3 from it.
func TestF14ProjectClosedWhileAChangeWaits(t *testing.T) {
	setUp := func(t *testing.T) (u user, session string, stream *client.Stream) {
		u, session = login(t, "admin"), newSession()
		u.autoClosing("Closed " + session)
		stream, _ = propose(t, u, session, "close "+session, call(configTool, configure("R1", "interface Loopback7", "description "+session)),
			call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show version"]}]}`), text("I see"))
		eventually(t, "the turn listens", func() bool { return suite.lab.Listeners(u.project) == 1 })
		u.power("close")
		if u.opened(u.project) {
			t.Fatal("the project is open")
		}
		if status, err := u.HITLStatus(t.Context(), u.project, session); err != nil || status.Status != "waiting" || len(status.PendingTools) != 1 {
			t.Fatalf("%+v %v", status, err)
		}
		_, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true})
		refusedOnClosed(t, "a confirmation", err)
		_, err = u.History(t.Context(), u.project, session)
		refusedOnClosed(t, "the history", err)
		return u, session, stream
	}
	t.Run("rejected", func(t *testing.T) {
		u, session, stream := setUp(t)
		if reply, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{RejectAll: true}); err != nil || reply.Status != "rejected" {
			t.Fatalf("%+v %v", reply, err)
		}
		events := until(t, stream, isType(schema.EventDone))
		if last(events).StopReason != schema.StopComplete || said(events) != "I see" {
			t.Fatalf("%s", types(events))
		}
		closed := 0
		for _, r := range results(t, events) {
			if strings.HasPrefix(r.Error, "The project was closed") {
				closed++
			}
		}
		if closed != 1 {
			t.Errorf("the model heard %d times that the project was closed: %+v", closed, results(t, events))
		}
	})
	t.Run("aborted", func(t *testing.T) {
		u, session, stream := setUp(t)
		if err := u.Abort(t.Context(), u.project, session); err != nil {
			t.Fatal(err)
		}
		if events := until(t, stream, isType(schema.EventDone)); last(events).StopReason != schema.StopAborted {
			t.Errorf("%s", types(events))
		}
	})
	t.Run("opened again", func(t *testing.T) {
		u, session, stream := setUp(t)
		u.power("open")
		u.power("nodes/start")
		if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
			t.Fatal(err)
		}
		for id, r := range results(t, until(t, stream, isType(schema.EventDone))) {
			if !r.Success {
				t.Errorf("%s: %+v", id, r)
			}
		}
		if n := sent("Closed "+session+"/R1", "description "+session); n != 1 {
			t.Errorf("the line was sent %d times", n)
		}
	})
}

// TestF14ProjectClosedUnderACommand closes the project while a command runs: its result says so, and the turn goes on.
func TestF14ProjectClosedUnderACommand(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	u.autoClosing("Busy " + session)
	suite.model.On("busy "+session, call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["ping 10.255.255.254 repeat 1000"]}]}`), text("I see"))
	stream := u.post(session, "busy "+session)
	until(t, stream, func(ev client.Received) bool {
		return ev.Type == schema.EventDeviceProgress && ev.DeviceProgress.State == schema.DeviceRunning
	})
	u.power("close")
	events := until(t, stream, isType(schema.EventDone))
	if last(events).StopReason != schema.StopComplete || said(events) != "I see" {
		t.Fatalf("%s", types(events))
	}
	r := toolResult(t, events)
	if r.Success || len(r.Data) != 1 || strings.Count(r.Data[0].Error, "its console") != 1 || !strings.Contains(r.Data[0].Error, "closed its console") || !strings.Contains(r.Data[0].Error, "project was closed") {
		t.Errorf("%+v", r)
	}
}
