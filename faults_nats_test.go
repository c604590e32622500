package main

import (
	"context"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// say runs a whole turn and gives its text.
func (s *site) say(session, message string) string {
	s.t.Helper()
	text := ""
	err := s.client.Turn(s.t.Context(), s.project, schema.ChatRequest{Message: message, SessionID: session}, "", func(ev receivedEvent) error {
		text += ev.Content
		return nil
	}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// roles are the roles of a session's messages.
func (s *site) roles(session string) string {
	s.t.Helper()
	h, err := s.client.History(s.t.Context(), s.project, session)
	if err != nil {
		s.t.Fatal(err)
	}
	var roles []string
	for _, m := range h.Messages {
		roles = append(roles, m.Role)
	}
	return strings.Join(roles, " ")
}

// awaitFailure waits until the first worker has logged so many failed activities.
func (s *site) awaitFailure(n int) {
	s.t.Helper()
	s.until(func() bool { return strings.Count(s.first.Err.String(), "activity failed") >= n })
}

// tellSlowly makes the model say a beginning, then wait, then say the rest and look at the lab.
func (s *site) tellSlowly() (goOn func()) {
	hold := make(chan struct{})
	s.model.On("tell me and look", func(r *scriptmodel.Reply) {
		r.Say("the beginning, ")
		if r.Hold(hold) {
			r.Say("the end")
			r.Call("gns3_topology_reader", "{}")
		}
	}, func(r *scriptmodel.Reply) { r.Say("that is all") })
	return func() { close(hold) }
}

// checkTold looks at all events of that turn, and at what its session has kept.
func (s *site) checkTold(session string, seen []receivedEvent) {
	s.t.Helper()
	checkOnce(s.t, seen)
	text, ends := "", 0
	for _, ev := range seen {
		switch ev.Type {
		case schema.EventRetry:
			text = ""
		case schema.EventToolEnd:
			ends++
		case schema.EventError:
			s.t.Errorf("%+v", ev.Event)
		}
		text += ev.Content
	}
	done := seen[len(seen)-1]
	if done.Type != schema.EventDone || done.StopReason != schema.StopComplete || ends != 1 || !strings.HasSuffix(text, "the beginning, the endthat is all") {
		s.t.Errorf("%d results, text %q, last %+v", ends, text, done.Event)
	}
	if got := s.roles(session); got != "user assistant tool assistant" {
		s.t.Errorf("kept: %s", got)
	}
}

// TestNATSKilledInMidAnswer kills the event stream's server while a turn streams, and starts it again: the client sees the turn to its end, each
// event once, although its GNS3 login went with the server's memory.
func TestNATSKilledInMidAnswer(t *testing.T) {
	s := startSite(t)
	goOn := s.tellSlowly()
	events := follow(t, s.client, s.project, "nats-killed", "tell me and look")
	seen := upTo(t, events, isType(schema.EventContent))
	s.nats.Kill()
	goOn()
	s.awaitFailure(1)
	s.natsAgain()
	for ev := range events {
		seen = append(seen, ev)
	}
	s.checkTold("nats-killed", seen)
	s.model.On("hello", func(r *scriptmodel.Reply) { r.Say("hi") })
	if got := s.say("nats-killed", "hello"); got != "hi" {
		t.Errorf("the session isn't usable: %q", got)
	}
}

// TestNATSGoneForLong lets the event stream stay away until its client has given up. What is asked for meanwhile is refused and not begun; who
// comes back later sees the rest of the turn.
func TestNATSGoneForLong(t *testing.T) {
	s := startSite(t)
	goOn := s.tellSlowly()
	patience, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	var seen []receivedEvent
	err := s.client.Turn(patience, s.project, schema.ChatRequest{Message: "tell me and look", SessionID: "long"}, "long", func(ev receivedEvent) error {
		seen = append(seen, ev)
		s.nats.Kill()
		goOn()
		s.awaitFailure(2)
		giveUp()
		return nil
	}, nil)
	if err == nil || len(seen) != 1 || seen[0].Content != "the beginning, " {
		t.Fatalf("%v %+v", err, seen)
	}
	_, refused := s.client.Post(t.Context(), s.project, schema.ChatRequest{Message: "hello", SessionID: "refused"}, "")
	_, unseen := s.client.Events(t.Context(), s.project, "long", seen[0].ID)
	for _, err := range []error{refused, unseen} {
		if e := schema.AsError(err); e == nil || e.Code != schema.CodeUnavailable || !strings.Contains(e.Hint, "look whether NATS is running") {
			t.Errorf("while NATS is away: %v", err)
		}
	}
	if got := s.roles("long"); got != "user" {
		t.Errorf("the history, which doesn't need NATS: %s", got)
	}
	s.natsAgain()
	s.until(func() bool { // the API has to find it again
		err := s.client.Follow(t.Context(), s.project, "long", seen[0].ID, func(ev receivedEvent) error {
			seen = append(seen, ev)
			return nil
		})
		return err == nil
	})
	s.checkTold("long", seen)
	if got := s.roles("refused"); got != "" {
		t.Errorf("the refused message: %s", got)
	}
	s.model.On("hello", func(r *scriptmodel.Reply) { r.Say("hi") })
	for _, session := range []string{"refused", "long"} {
		if got := s.say(session, "hello"); got != "hi" {
			t.Errorf("the session %s isn't usable: %q", session, got)
		}
	}
}
