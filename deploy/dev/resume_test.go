package dev_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
	"gns3copilot/schema/progress"

	"github.com/nats-io/nats.go/jetstream"
)

// attach follows a session's turn again, from behind lastID.
func (u user) attach(session, lastID string) *client.Stream {
	u.t.Helper()
	s, err := u.Events(u.bounded(), u.project, session, lastID)
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestResume(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	release := make(chan struct{})
	suite.model.On("count", func(r *scriptmodel.Reply) {
		for i := range 5 {
			r.Say(fmt.Sprint(i))
		}
		r.Hold(release)
		r.Say("5")
	})
	s := u.post(session, "count")
	seen := until(t, s, func(ev client.Received) bool { return ev.Content == "2" })
	if err := s.Close(); err != nil { // the client leaves; the turn goes on
		t.Fatal(err)
	}
	again, err := u.Events(u.bounded(), u.project, session, last(seen).ID)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	rest := until(t, again, func(ev client.Received) bool { return ev.Content == "4" })
	close(release)
	rest = append(rest, until(t, again, isType(schema.EventDone))...)
	if said(seen)+said(rest) != "012345" {
		t.Fatalf("%q then %q", said(seen), said(rest))
	}

	whole := u.collect(session, "")
	if said(whole) != "012345" || ids(whole) != ids(append(seen, rest...)) {
		t.Fatalf("from the beginning: %q", said(whole))
	}
	tail := u.collect(session, whole[len(whole)-2].ID)
	if ids(tail) != ids(whole[len(whole)-1:]) {
		t.Fatalf("behind the last but one: %s", ids(tail))
	}
}

// TestB8ResumeFromNowhere: an id that means nothing here is answered by the whole turn, and by a reason.
func TestB8ResumeFromNowhere(t *testing.T) {
	u, session, other := login(t, "admin"), newSession(), newSession()
	suite.model.On("hello", text("hi"))
	u.say(session, "hello")
	foreign := last(u.say(other, "hello")).ID
	turn := strings.Split(last(u.collect(session, "")).ID, ".")[0]
	for name, id := range map[string]string{"foreign": foreign, "garbage": "nonsense", "future": turn + ".99999999", "zero": turn + ".0"} {
		events := u.collect(session, id)
		if events[0].Type != schema.EventReset || events[0].Reason == "" || said(events) != "hi" {
			t.Errorf("%s id: %s", name, types(events))
		}
	}
	if _, err := u.Events(u.bounded(), u.project, "no-such-session", ""); schema.CodeOf(err) != schema.CodeNotFound {
		t.Errorf("unknown session: %v", err)
	}
}

func TestTwoReadersOfOneTurn(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	release := make(chan struct{})
	suite.model.On("both", func(r *scriptmodel.Reply) { r.Say("a"); r.Hold(release); r.Say("b") })
	first := u.post(session, "both")
	begun := until(t, first, isType(schema.EventContent))
	second, err := u.Events(u.bounded(), u.project, session, "")
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	close(release)
	one := append(begun, until(t, first, isType(schema.EventDone))...)
	two := until(t, second, isType(schema.EventDone))
	if ids(one) != ids(two) || said(one) != "ab" {
		t.Fatalf("%s\n%s", ids(one), ids(two))
	}
}

// TestResumeThreeTimesInARow: a client that is thrown out again and again, in the middle and behind the end, sees each event once.
func TestResumeThreeTimesInARow(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	gates := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}
	suite.model.On("in four parts", func(r *scriptmodel.Reply) {
		r.Say("0")
		for i, gate := range gates {
			r.Hold(gate)
			r.Say(fmt.Sprint(i + 1))
		}
	})
	s := u.post(session, "in four parts")
	seen := until(t, s, isType(schema.EventContent))
	for i, gate := range gates {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = u.attach(session, last(seen).ID)
		close(gate)
		seen = append(seen, until(t, s, func(ev client.Received) bool { return ev.Content == fmt.Sprint(i+1) })...)
	}
	seen = append(seen, until(t, s, isType(schema.EventDone))...)
	whole := u.collect(session, "")
	if said(seen) != "0123" || ids(seen) != ids(whole) {
		t.Fatalf("%q\n%s\n%s", said(seen), ids(seen), ids(whole))
	}
	for i, ev := range whole { // after the end, from everywhere
		if rest := u.collect(session, ev.ID); ids(rest) != ids(whole[i+1:]) {
			t.Errorf("behind event %d: %s", i, types(rest))
		}
	}
}

// TestB8EvictedEvents: the stream drops its oldest events while a turn runs. Whoever may miss something is told so, nobody else is.
func TestB8EvictedEvents(t *testing.T) {
	s := startOwn(t, func(*dev.Options) {})
	u, session, key := loginAt(t, s.URL(), "admin"), newSession(), newSession()
	release := make(chan struct{})
	suite.model.On("dropped in part", func(r *scriptmodel.Reply) {
		for i := range 5 {
			r.Say(fmt.Sprint(i))
		}
		r.Hold(release)
		r.Say("5")
	})
	in := schema.ChatRequest{Message: "dropped in part", SessionID: session}
	post, err := u.Post(u.bounded(), u.project, in, key)
	if err != nil {
		t.Fatal(err)
	}
	defer post.Close()
	isFour := func(ev client.Received) bool { return ev.Content == "4" }
	seen := until(t, post, isFour)
	contents := map[string]client.Received{}
	for _, ev := range seen {
		contents[ev.Content] = ev
	}
	_, kept, _ := progress.ParseEventID(contents["2"].ID)
	if err := s.stream().Purge(t.Context(), jetstream.WithPurgeSequence(kept)); err != nil {
		t.Fatal(err)
	}

	again, err := u.Post(u.bounded(), u.project, in, key)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for name, c := range map[string]struct {
		stream *client.Stream
		reset  bool
		text   string
	}{
		"behind a dropped event":          {u.attach(session, contents["0"].ID), true, "234"},
		"behind the newest dropped event": {u.attach(session, contents["1"].ID), false, "234"},
		"behind a kept event":             {u.attach(session, contents["2"].ID), false, "34"},
		"from the beginning":              {u.attach(session, ""), true, "234"},
		"the message posted again":        {again, true, "234"},
	} {
		got := until(t, c.stream, isFour)
		if (got[0].Type == schema.EventReset && got[0].Reason != "") != c.reset || said(got) != c.text {
			t.Errorf("%s: %s %q", name, types(got), said(got))
		}
	}
	close(release)
	until(t, post, isType(schema.EventDone))

	if err := s.stream().Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]string{"an id": contents["4"].ID, "no id": ""} {
		if got := u.collect(session, id); types(got) != "reset done " || last(got).StopReason != schema.StopComplete {
			t.Errorf("nothing is kept, %s: %s %+v", name, types(got), last(got).Event)
		}
	}
	suite.model.On("after the drop", text("fine"))
	if next := u.say(session, "after the drop"); said(next) != "fine" {
		t.Errorf("the next message: %s", types(next))
	}
	if got := u.collect(session, ""); types(got) != "content done " && types(got) != "reset content done " {
		t.Errorf("the next message again: %s", types(got))
	}
}

// TestB12ReadersLeaveNothingBehind: whoever comes and goes costs nothing afterwards, neither here nor in the event stream.
func TestB12ReadersLeaveNothingBehind(t *testing.T) {
	s := startOwn(t, func(*dev.Options) {})
	u, session := loginAt(t, s.URL(), "admin"), newSession()
	release := make(chan struct{})
	suite.model.On("watched", func(r *scriptmodel.Reply) { r.Say("x"); r.Hold(release) })
	post := u.post(session, "watched")
	until(t, post, isType(schema.EventContent))
	cycle := func() {
		again, err := u.Events(u.bounded(), u.project, session, "")
		if err != nil {
			t.Fatal(err)
		}
		until(t, again, isType(schema.EventContent))
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cycle() // what is made once and kept is there now
	await(t, "one reader", func() bool { return s.readers() == 1 })
	// The pollers for Temporal come and go with the load: some goroutines more or less are theirs.
	const slack = 20
	before := runtime.NumGoroutine()
	for i := range 200 {
		cycle()
		if n := s.readers(); n > 1+slack {
			t.Fatalf("%d readers are kept after %d came and went", n, i+1)
		}
	}
	await(t, "the readers' places are given up", func() bool { return s.readers() == 1 })
	await(t, "their goroutines have ended", func() bool { return runtime.NumGoroutine() <= before+slack })
	close(release)
	until(t, post, isType(schema.EventDone))
	await(t, "no reader", func() bool { return s.readers() == 0 })
}
