package dev_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// labSite is a stack whose GNS3 server a test can take away and bring back at its address.
type labSite struct {
	user
	lab   *simlab.Lab
	stack *dev.Stack
}

func startLabSite(t *testing.T) *labSite {
	t.Helper()
	s := &labSite{}
	s.user.t = t
	s.up("127.0.0.1:0")
	t.Cleanup(func() { s.down() })
	o := options(t.TempDir())
	o.GNS3URL = s.lab.URL()
	s.stack = startWith(t, o)
	s.user = loginAt(t, s.stack.URL(), "admin")
	return s
}

func (s *labSite) down() {
	s.t.Helper()
	if err := s.lab.Close(); err != nil {
		s.t.Error(err)
	}
}

// up starts the lab, anew in all but its projects and its users' tokens.
func (s *labSite) up(address string) {
	s.t.Helper()
	lab, err := simlab.Start(context.Background(), simlab.Options{Listen: address})
	if err != nil {
		s.t.Fatal(err)
	}
	s.lab = lab
}

func (s *labSite) again() {
	s.t.Helper()
	s.up(strings.TrimPrefix(s.lab.URL(), "http://"))
	// A POST is never sent twice, so one on a connection that isn't known to be dead yet is lost.
	eventually(s.t, "the gateway has a connection to the new server", func() bool {
		a := s.askAt(s.stack, http.MethodPost, "/v3/access/users/authenticate", `{"username": "admin", "password": "admin"}`, "Content-Type", "application/json")
		return a.status == http.StatusOK
	})
}

// checkDevices looks at a device by way of a new turn.
func (s *labSite) checkDevices(session string) {
	s.t.Helper()
	suite.model.On("look again", call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show version"]}]}`), text("all is well"))
	events := s.say(session, "look again")
	if r := toolResult(s.t, events); !r.Success || said(events) != "all is well" {
		s.t.Errorf("%s %+v", types(events), r)
	}
}

// wantNoLab checks that an error says where a GNS3 server is missed, and what to look at.
func wantNoLab(t *testing.T, what string, code schema.Code, message, hint string) {
	t.Helper()
	checkWords(t, what, message, hint)
	if code != schema.CodeGNS3Unavailable || !strings.Contains(message, "GNS3 server can't be reached") || !strings.Contains(hint, "Check that the GNS3 server runs") {
		t.Errorf("%s: %s %q %q", what, code, message, hint)
	}
}

func TestGNS3GoneBeforeATurn(t *testing.T) {
	s, session := startLabSite(t), newSession()
	s.checkDevices(session)
	s.down()
	_, err := s.Post(s.bounded(), s.project, schema.ChatRequest{Message: "look again", SessionID: session}, "")
	e := schema.AsError(err)
	if e == nil {
		t.Fatal("a turn began")
	}
	wantNoLab(t, "a message", e.Code, e.Message, e.Hint)
	if err := client.New(s.stack.URL(), nil).Login(t.Context(), "admin", "admin"); schema.CodeOf(err) != schema.CodeGNS3Unavailable {
		t.Errorf("a login: %v", err)
	}
	s.again()
	s.checkBooks(session, 1, 2)
	s.checkDevices(session)
	s.checkBooks(session, 2, 4)
}

// TestGNS3GoneInMidTurn takes the server away between the model's first look at the lab and its tool call: the call's result says what to do.
func TestGNS3GoneInMidTurn(t *testing.T) {
	s, session := startLabSite(t), newSession()
	release := make(chan struct{})
	suite.model.On("look while it goes", func(r *scriptmodel.Reply) {
		r.Say("I look")
		r.Hold(release)
		r.Call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show version"]}]}`)
		r.Call("gns3_topology_reader", "{}")
	}, text("nothing to see"))
	stream := s.post(session, "look while it goes")
	until(t, stream, isType(schema.EventContent))
	s.down()
	close(release)
	events := until(t, stream, isType(schema.EventDone))
	if !strings.HasSuffix(types(events), "tool_end content done ") || last(events).StopReason != schema.StopComplete {
		t.Errorf("%s", types(events))
	}
	for id, r := range results(t, events) {
		if r.Success || r.Metadata.Error == nil {
			t.Fatalf("%s: %+v", id, r)
		}
		code, _ := r.Metadata.Error.Details["code"].(string)
		wantNoLab(t, "a result", schema.Code(code), r.Error, r.Metadata.Error.Solution)
	}
	s.again()
	s.checkBooks(session, 1, 2)
	s.checkDevices(session)
	s.checkBooks(session, 2, 4)
}

// TestGNS3GoneAtTheFirstLook takes the server away when the turn's first look at the lab reaches it: the turn ends and says what to do.
func TestGNS3GoneAtTheFirstLook(t *testing.T) {
	target, err := url.Parse(suite.lab.URL())
	if err != nil {
		t.Fatal(err)
	}
	var gone atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/nodes") {
			gone.Store(true)
		}
		if gone.Load() {
			panic(http.ErrAbortHandler) // the connection breaks, as when a server is killed
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close) // behind the stack's end, which listens to the project meanwhile
	o := options(t.TempDir())
	o.GNS3URL = front.URL
	u, session := loginAt(t, startWith(t, o).URL(), "admin"), newSession()
	suite.model.On("first look", text("I see"))
	events := u.say(session, "first look")
	if got := types(events); got != "waiting error done " || last(events).StopReason != schema.StopError {
		t.Fatalf("%s", got)
	}
	wantNoLab(t, "the turn", events[1].Code, events[1].Error, events[1].Hint)
	gone.Store(false)
	checkConversation(t, u.checkBooks(session, 1, 0), "user: first look")
}

// TestGNS3GoneWhileAChangeWaits can't be decided on meanwhile, and is afterwards.
func TestGNS3GoneWhileAChangeWaits(t *testing.T) {
	s, session := startLabSite(t), newSession()
	stream, events := propose(t, s.user, session, "change while it goes",
		call(configTool, configure("R1", "interface Loopback90", "description kept")), text("done"))
	pending := last(events).PendingTools[0]
	s.down()
	_, err := s.Confirm(t.Context(), s.project, session, schema.ConfirmRequest{ConfirmAll: true})
	if e := schema.AsError(err); e == nil {
		t.Fatal("it was confirmed")
	} else {
		wantNoLab(t, "a confirmation", e.Code, e.Message, e.Hint)
	}
	s.again()
	if reply, err := s.Confirm(t.Context(), s.project, session, schema.ConfirmRequest{ToolCallIDs: []string{pending.ToolCallID}}); err != nil || reply.ConfirmedCount != 1 {
		t.Fatalf("%+v %v", reply, err)
	}
	events = until(t, stream, isType(schema.EventDone))
	if r := toolResult(t, events); !r.Success {
		t.Errorf("%+v", r)
	}
	s.checkBooks(session, 1, 2)
	s.checkDevices(session)
}

// TestATokenThatEndsInMidTurn makes the turn wait, visibly, until its owner has logged in again, whether the token is over by its own word or
// by GNS3's.
func TestATokenThatEndsInMidTurn(t *testing.T) {
	for _, c := range []struct {
		name string
		life time.Duration
		end  func(*labSite)
	}{
		{"expired", 2 * time.Second, func(s *labSite) { s.awaitRefusal() }},
		{"revoked", time.Hour, func(s *labSite) {
			if err := s.lab.RevokeTokens("admin"); err != nil {
				s.t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, session := startLabSite(t), newSession()
			token, err := s.lab.Token("admin", c.life)
			if err != nil {
				t.Fatal(err)
			}
			s.SetToken(token)
			release := make(chan struct{})
			suite.model.On("look when it is over", func(r *scriptmodel.Reply) {
				r.Say("a moment")
				r.Hold(release)
				r.Call("gns3_topology_reader", "{}")
			}, text(", there it is"))
			stream := s.post(session, "look when it is over")
			until(t, stream, isType(schema.EventContent))
			c.end(s)
			close(release)
			waiting := until(t, stream, isType(schema.EventWaiting))
			if !strings.Contains(last(waiting).Reason, "GNS3 login") {
				t.Errorf("%+v", last(waiting).Event)
			}
			fresh := loginAt(t, s.stack.URL(), "admin")
			fresh.history(session) // which brings the new login
			events := until(t, stream, isType(schema.EventDone))
			if r := toolResult(t, events); !r.Success || last(events).StopReason != schema.StopComplete {
				t.Errorf("%s %+v", types(events), r)
			}
			checkConversation(t, fresh.checkBooks(session, 1, 2), "user: look when it is over", "assistant: a moment", "tool", "assistant: , there it is")
			if next := fresh.say(session, "look when it is over"); last(next).StopReason != schema.StopComplete {
				t.Errorf("the session isn't usable: %s", types(next))
			}
		})
	}
}

// awaitRefusal waits until the GNS3 server doesn't take the user's token any more.
func (s *labSite) awaitRefusal() {
	s.t.Helper()
	direct := client.New(s.lab.URL(), nil)
	direct.SetToken(s.Token())
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := direct.Projects(s.bounded()); schema.CodeOf(err) == schema.CodeUnauthorized {
			return
		} else if err != nil {
			s.t.Fatal(err)
		}
		<-tick.C
	}
}

// TestGNS3GoneDoesNotKeepATurnFromBeingStopped: its owner, who was known a moment ago, stops it; somebody who wasn't can't.
func TestGNS3GoneDoesNotKeepATurnFromBeingStopped(t *testing.T) {
	s, session := startLabSite(t), newSession()
	suite.model.On("stop me without a lab", func(r *scriptmodel.Reply) { r.Say("begun"); r.Hold(nil) })
	stream := s.post(session, "stop me without a lab")
	until(t, stream, isType(schema.EventContent))
	s.down()
	stranger := client.New(s.stack.URL(), nil)
	stranger.SetToken("never.seen.before")
	if err := stranger.Abort(t.Context(), s.project, session); schema.CodeOf(err) != schema.CodeGNS3Unavailable {
		t.Errorf("a stranger: %v", err)
	}
	if err := s.Abort(t.Context(), s.project, session); err != nil {
		t.Fatal(err)
	}
	if done := last(until(t, stream, isType(schema.EventDone))); done.StopReason != schema.StopAborted {
		t.Errorf("%+v", done.Event)
	}
	s.again()
	s.checkDevices(session)
}
