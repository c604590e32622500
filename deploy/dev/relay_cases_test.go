package dev_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
	"gns3copilot/schema/progress"

	"go.temporal.io/api/operatorservice/v1"
)

// The tests of this file are named after published reports of what went wrong with streams elsewhere. More of them are in resume_test.go.

func chatPath(project, tail string) string { return "/v3/copilot/projects/" + project + "/chat" + tail }

// ask is the body of a message.
func ask(session, message string) string {
	return string(schema.Text(schema.ChatRequest{Message: message, SessionID: session}))
}

// checkHeaders looks for what keeps the proxies on the way from holding a stream back.
func checkHeaders(t *testing.T, name string, w *wire) {
	t.Helper()
	for header, want := range map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no",
		"Content-Length": "", "Content-Encoding": "",
	} {
		if got := w.resp.Header.Get(header); got != want {
			t.Errorf("%s: %s is %q", name, header, got)
		}
	}
}

// TestB1B2B3SilentStreams: every way to a stream is told to proxies as one, shows that it lives while nothing happens, and outlasts the
// deadline of a write.
func TestB1B2B3SilentStreams(t *testing.T) {
	const beat, writeWait = 50 * time.Millisecond, 500 * time.Millisecond
	s := startOwn(t, func(o *dev.Options) { o.Limits.Heartbeat, o.Limits.WriteWait = beat, writeWait })
	u, session, key := loginAt(t, s.URL(), "admin"), newSession(), newSession()
	release := make(chan struct{})
	suite.model.On("ponder", func(r *scriptmodel.Reply) { r.Say("a"); r.Hold(release); r.Say("b") })
	events := chatPath(u.project, "/sessions/"+session+"/events")
	post := u.open(s.URL(), http.MethodPost, chatPath(u.project, "/stream"), ask(session, "ponder"), "Idempotency-Key", key)
	seen := map[string][]client.Received{"post": post.until(isType(schema.EventContent))}
	begun := seen["post"]
	streams := map[string]*wire{
		"post":       post,
		"post again": u.open(s.URL(), http.MethodPost, chatPath(u.project, "/stream"), ask(session, "ponder"), "Idempotency-Key", key),
		"replay":     u.open(s.URL(), http.MethodGet, events, ""),
		"resume":     u.open(s.URL(), http.MethodGet, events, "", "Last-Event-ID", last(begun).ID),
	}
	for name, w := range streams {
		checkHeaders(t, name, w)
		beats := 0
		seen[name] = append(seen[name], w.until(func(ev client.Received) bool {
			if ev.Type != schema.EventHeartbeat {
				return false
			}
			if beats++; ev.ID != "" || ev.SessionID != session {
				t.Fatalf("%s: a heartbeat %+v", name, ev)
			}
			return beats > int(3*writeWait/beat)
		})...)
	}
	close(release)
	for name, w := range streams {
		seen[name] = append(seen[name], w.until(isType(schema.EventDone))...)
		w.end()
	}
	over := u.open(s.URL(), http.MethodGet, events, "")
	checkHeaders(t, "after the end", over)
	whole := over.until(isType(schema.EventDone))
	seen["resume"] = append(slices.Clone(begun), seen["resume"]...)
	for name, got := range seen {
		if said(got) != "ab" || ids(got) != ids(whole) {
			t.Errorf("%s: %q, %s instead of %s", name, said(got), ids(got), ids(whole))
		}
	}

	// A human may think for long.
	stream, _ := propose(t, u, session, "ponder a change", call(configTool, configure("R1", "interface Loopback81")), text("ok"))
	until(t, stream, isType(schema.EventHeartbeat))
	if _, err := u.Reject(t.Context(), u.project, session, schema.RejectRequest{RejectAll: true}); err != nil {
		t.Fatal(err)
	}
	until(t, stream, isType(schema.EventDone))
}

// TestB5B6ClientGone: a client that leaves stops nothing. The turn is seen to run, what waits for a word goes on waiting for it, and the
// conversation is whole in the end.
func TestB5B6ClientGone(t *testing.T) {
	for name, c := range map[string]struct {
		step scriptmodel.Step
		at   func(client.Received) bool
	}{
		"in mid-answer": {func(r *scriptmodel.Reply) {
			r.Say("one moment")
			r.Call(commandsTool, `{"device_configs": [{"device_name": "PC1", "commands": ["ping 192.168.2.10 -c 2"]}]}`)
		}, isType(schema.EventContent)},
		"in a command": {call(commandsTool, `{"device_configs": [{"device_name": "PC1", "commands": ["ping 192.168.2.10 -c 4"]}]}`),
			func(ev client.Received) bool {
				return ev.Type == schema.EventDeviceProgress && ev.State == schema.DeviceRunning
			}},
		"while a change waits": {call(configTool, configure("R1", "interface Loopback82")), isType(schema.EventHITLRequired)},
	} {
		t.Run(name, func(t *testing.T) {
			leave := func(u user, session string) {
				suite.model.On("leave "+name, c.step, text("that's it"))
				s := u.post(session, "leave "+name)
				until(t, s, c.at)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if _, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: "leave " + name, SessionID: session}, ""); schema.CodeOf(err) != schema.CodeTurnRunning {
					t.Errorf("a second message: %v", err)
				}
			}
			u, session := login(t, "admin"), newSession()
			leave(u, session)
			if name == "while a change waits" {
				if n := sent("R1", "interface Loopback82"); n != 0 {
					t.Fatalf("sent %d times without a word", n)
				}
				if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
					t.Fatal(err)
				}
			}
			events := u.collect(session, "")
			var roles []string
			for _, m := range u.history(session).Messages {
				if m.Role != "system" {
					roles = append(roles, m.Role)
				}
			}
			if !toolResult(t, events).Success || last(events).StopReason != schema.StopComplete || fmt.Sprint(roles) != "[user assistant tool assistant]" {
				t.Errorf("%s %v", types(events), roles)
			}
			suite.model.On("follow up", text("fine"))
			if next := u.say(session, "follow up"); said(next) != "fine" {
				t.Errorf("the next message: %s", types(next))
			}

			session = newSession()
			leave(u, session)
			if err := u.Abort(t.Context(), u.project, session); err != nil {
				t.Fatal(err)
			}
			checkAborted(t, u, session, u.collect(session, ""))
		})
	}
}

// TestB10TheEventStreamIsAway: what can't be streamed is refused with a status and a reason, and works again when the stream is back. A
// client that is connected by then only waits.
func TestB10TheEventStreamIsAway(t *testing.T) {
	s := startOwn(t, func(*dev.Options) {})
	u, session := loginAt(t, s.URL(), "admin"), newSession()
	suite.model.On("b10 before", text("before"))
	u.say(session, "b10 before")
	release := make(chan struct{})
	suite.model.On("b10 during", func(r *scriptmodel.Reply) { r.Say("during "); r.Hold(release); r.Say("and after") })
	running := newSession()
	connected := u.post(running, "b10 during")
	seen := until(t, connected, isType(schema.EventContent))

	start := s.stopNATS()
	for name, w := range map[string]*wire{
		"a message": u.open(s.URL(), http.MethodPost, chatPath(u.project, "/stream"), ask(session, "b10 before")),
		"a replay":  u.open(s.URL(), http.MethodGet, chatPath(u.project, "/sessions/"+session+"/events"), ""),
	} {
		w.refused(name, http.StatusServiceUnavailable, schema.CodeUnavailable)
	}
	start()
	close(release)
	seen = append(seen, until(t, connected, isType(schema.EventDone))...)
	if last(seen).StopReason != schema.StopComplete || !strings.HasSuffix(said(seen), "during and after") {
		t.Errorf("%s %q", types(seen), said(seen))
	}
	if got := u.say(session, "b10 before"); said(got) != "before" {
		t.Errorf("%s", types(got))
	}
}

// refused checks that the answer is no stream but an error.
func (w *wire) refused(name string, status int, code schema.Code) {
	w.t.Helper()
	var body schema.ErrorBody
	err := json.NewDecoder(w.r).Decode(&body)
	if err != nil || w.resp.StatusCode != status || body.Code != code || body.Message == "" || body.RequestID == "" {
		w.t.Errorf("%s: %d %+v %v", name, w.resp.StatusCode, body, err)
	}
}

// TestB10TemporalRefuses: a turn that Temporal doesn't begin is refused with a status.
func TestB10TemporalRefuses(t *testing.T) {
	s := startOwn(t, func(*dev.Options) {})
	u, session := loginAt(t, s.URL(), "admin"), newSession()
	suite.model.On("b10 start", text("never said"))
	c := operatorOf(t, s.Stack)
	_, err := c.OperatorService().RemoveSearchAttributes(t.Context(), &operatorservice.RemoveSearchAttributesRequest{
		Namespace: "default", SearchAttributes: []string{schema.SearchTurnState},
	})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the API isn't ready any more", func() bool { return u.open(s.URL(), http.MethodGet, "/readyz", "").resp.StatusCode != http.StatusOK })
	u.open(s.URL(), http.MethodPost, chatPath(u.project, "/stream"), ask(session, "b10 start")).
		refused("a message", http.StatusServiceUnavailable, schema.CodeUnavailable)
	if h := u.history(session); len(h.Messages) != 0 {
		t.Errorf("%+v", h.Messages)
	}
}

// TestB11ErrorsInMidStream: what fails after the stream has begun is an event like any other, and the stream ends.
func TestB11ErrorsInMidStream(t *testing.T) {
	t.Run("of the turn", func(t *testing.T) {
		u := login(t, "admin")
		suite.model.On("b11", func(r *scriptmodel.Reply) { r.Say("I'll look."); r.Call("gns3_topology_reader", `{}`) },
			func(r *scriptmodel.Reply) { r.Fail(401, "{\"error\":{\"message\":\"not\\n\\ndata: for you\"}}") })
		w := u.open(suite.stack.URL(), http.MethodPost, chatPath(u.project, "/stream"), ask(newSession(), "b11"))
		events := w.until(isType(schema.EventDone))
		w.end()
		if got := types(events); !strings.HasSuffix(got, "tool_end error done ") || last(events).StopReason != schema.StopError {
			t.Errorf("%s %+v", got, last(events).Event)
		}
	})
	t.Run("of the stream", func(t *testing.T) {
		s := startOwn(t, func(*dev.Options) {})
		u := loginAt(t, s.URL(), "admin")
		suite.model.On("b11 own", func(r *scriptmodel.Reply) { r.Say("a"); r.Hold(nil) })
		w := u.open(s.URL(), http.MethodPost, chatPath(u.project, "/stream"), ask(newSession(), "b11 own"))
		w.until(isType(schema.EventContent))
		if err := s.js.DeleteStream(t.Context(), progress.StreamName); err != nil {
			t.Fatal(err)
		}
		failure := last(w.until(isType(schema.EventError)))
		w.end() // without done: the turn goes on
		if failure.Code != schema.CodeUnavailable || failure.Error == "" || failure.Hint == "" || failure.ID != "" {
			t.Errorf("%+v", failure)
		}
	})
}

// TestB13TextThatLooksLikeFrames: whatever a model, a device or a human writes is text, and forges no event.
func TestB13TextThatLooksLikeFrames(t *testing.T) {
	const forged = "x\n\ndata: {\"type\":\"done\"}\n\nid: 99\r\ndata: {\"type\":\"abort\"}\r\revent: done\u2028: \u0085"
	u, session := login(t, "admin"), newSession()
	if err := suite.lab.SetFault("R2", simlab.Fault{Noise: forged}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := suite.lab.SetFault("R2", simlab.Fault{}); err != nil {
			t.Error(err)
		}
	}()
	suite.model.On(forged, func(r *scriptmodel.Reply) {
		r.Say(forged)
		r.Call(commandsTool, `{"device_configs": [{"device_name": "R2", "commands": ["show clock"]}]}`)
	}, text(forged))
	w := u.open(suite.stack.URL(), http.MethodPost, chatPath(u.project, "/stream"), ask(session, forged))
	events := w.until(isType(schema.EventDone))
	w.end()
	if got := types(events); got != "content tool_call tool_start device_progress tool_end content done " || said(events) != forged+forged {
		t.Errorf("%s %q", got, said(events))
	}
	if r := toolResult(t, events); !strings.Contains(r.Data[0].Result, `data: {"type":"done"}`) {
		t.Errorf("%+v", r)
	}
	if h := u.history(session); h.Messages[0].Content != forged || h.Messages[1].Content != forged {
		t.Errorf("%+v", h.Messages)
	}
}
