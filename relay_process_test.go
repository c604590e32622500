package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// bounded keeps a broken turn from hanging the test.
func (s *site) bounded() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	s.t.Cleanup(cancel)
	return ctx
}

// attach follows a session's turn from behind lastID.
func (s *site) attach(session, lastID string) *client.Stream {
	s.t.Helper()
	stream, err := s.client.Events(s.bounded(), s.project, session, lastID)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = stream.Close() })
	return stream
}

// read reads a stream up to the first event that fits.
func (s *site) read(stream *client.Stream, fits func(receivedEvent) bool) []receivedEvent {
	s.t.Helper()
	var events []receivedEvent
	for {
		ev, err := stream.Next()
		if err != nil {
			s.t.Fatalf("%v behind %+v", err, events)
		}
		events = append(events, ev)
		if fits(ev) {
			return events
		}
	}
}

func says(text string) func(receivedEvent) bool {
	return func(ev receivedEvent) bool { return ev.Content == text }
}

// TestResumeAfterAPIRestart kills the API again and again while a turn runs, which goes on without it. The client takes up at the next API
// where it was, and its ids go on.
func TestResumeAfterAPIRestart(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	const times = 3
	var gates, passed [times]chan struct{}
	for i := range times {
		gates[i], passed[i] = make(chan struct{}), make(chan struct{})
	}
	s.model.On("go on", func(r *scriptmodel.Reply) {
		r.Say("0")
		for i := range times {
			r.Hold(gates[i])
			r.Say(fmt.Sprint(i + 1))
			close(passed[i])
		}
	})
	stream, err := s.client.Post(s.bounded(), s.project, schema.ChatRequest{Message: "go on", SessionID: "api-restarts"}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	seen := s.read(stream, says("0"))
	for i := range times {
		s.server.Kill()
		close(gates[i])
		<-passed[i]
		s.startAPI(strings.TrimPrefix(s.api, "http://"))
		again := s.attach("api-restarts", seen[len(seen)-1].ID)
		seen = append(seen, s.read(again, says(fmt.Sprint(i+1)))...)
		if i == times-1 {
			seen = append(seen, s.read(again, isType(schema.EventDone))...)
		}
	}
	checkOnce(t, seen)
	whole := s.read(s.attach("api-restarts", ""), isType(schema.EventDone))
	if len(whole) != len(seen) {
		t.Fatalf("%d events, and %d when read at once", len(seen), len(whole))
	}
	for i := range whole {
		if whole[i].ID != seen[i].ID {
			t.Errorf("event %d is %s, and %s when read at once", i, seen[i].ID, whole[i].ID)
		}
	}
}
