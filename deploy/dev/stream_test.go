package dev_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"

	temporal "go.temporal.io/sdk/client"
)

// collect follows a session's turn from behind lastID to its end.
func (u user) collect(session, lastID string) []client.Received {
	u.t.Helper()
	var events []client.Received
	err := u.Follow(u.bounded(), u.project, session, lastID, func(ev client.Received) error {
		events = append(events, ev)
		return nil
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return events
}

func ids(events []client.Received) string {
	var list []string
	for _, ev := range events {
		if ev.ID != "" {
			list = append(list, ev.ID)
		}
	}
	return fmt.Sprint(list)
}

func TestIdempotencyKey(t *testing.T) {
	u := login(t, "admin")
	suite.model.On("once", text("done it"))
	key := newSession()
	post := func(message string) ([]client.Received, error) {
		var events []client.Received
		err := u.Turn(u.bounded(), u.project, schema.ChatRequest{Message: message}, key, func(ev client.Received) error {
			events = append(events, ev)
			return nil
		}, nil)
		return events, err
	}
	first, err := post("once")
	if err != nil {
		t.Fatal(err)
	}
	second, err := post("once")
	if err != nil || ids(first) != ids(second) {
		t.Fatalf("%s\n%s\n%v", ids(first), ids(second), err)
	}
	if _, err := post("something else"); schema.CodeOf(err) != schema.CodeInvalid {
		t.Fatalf("another body: %v", err)
	}
	again, err := u.Events(u.bounded(), u.project, first[0].SessionID, last(first).ID)
	if err != nil {
		t.Fatal(err)
	}
	if ev, err := again.Next(); err != io.EOF {
		t.Fatalf("behind done: %+v %v", ev, err)
	}
	if h := u.history(first[0].SessionID); len(h.Messages) != 2 {
		t.Fatalf("%d messages", len(h.Messages))
	}
}

// TestAClientThatLeavesAtOnce posts and hangs up within the milliseconds of a start: what was started must still come to its end.
func TestAClientThatLeavesAtOnce(t *testing.T) {
	u := login(t, "admin")
	suite.model.On("gone", text("nobody listens"))
	sessions := map[string]bool{}
	for i := range 40 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*300*time.Microsecond)
		session := newSession()
		sessions[session] = true
		if s, err := u.Post(ctx, u.project, schema.ChatRequest{Message: "gone", SessionID: session}, ""); err == nil {
			_ = s.Close()
		}
		cancel()
	}
	// Whatever began is answered; a second message proves that no session is stuck.
	suite.model.On("anybody there", text("yes"))
	for session := range sessions {
		deadline := time.After(time.Minute)
		for {
			s, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: "anybody there", SessionID: session}, "")
			if err == nil {
				if got := said(until(t, s, isType(schema.EventDone))); got != "yes" {
					t.Fatalf("%q", got)
				}
				break
			}
			if schema.CodeOf(err) != schema.CodeTurnRunning {
				t.Fatal(err)
			}
			select {
			case <-deadline:
				t.Fatal("the session stays blocked")
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
}

// TestTheSameKeyAtOnce posts different things under one Idempotency-Key at the same moment: one is answered, the others are told.
func TestTheSameKeyAtOnce(t *testing.T) {
	u := login(t, "admin")
	key, answered := newSession(), make(chan string, 8)
	var wg sync.WaitGroup
	for i := range 8 {
		message := fmt.Sprint("keyed ", i)
		suite.model.On(message, text(message))
		wg.Go(func() {
			text := ""
			err := u.Turn(u.bounded(), u.project, schema.ChatRequest{Message: message, SessionID: "keyed"}, key, func(ev client.Received) error {
				text += ev.Content
				return nil
			}, nil)
			switch {
			case err == nil && text == message:
				answered <- message
			case schema.CodeOf(err) != schema.CodeInvalid:
				t.Errorf("%s: %q %v", message, text, err)
			}
		})
	}
	wg.Wait()
	if len(answered) != 1 {
		t.Errorf("%d were answered", len(answered))
	}
}

func TestAModelThatBreaksOffIsAskedAgain(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	tries := make(chan int, 1)
	tries <- 0
	suite.model.On("fragile", func(r *scriptmodel.Reply) {
		n := <-tries
		tries <- n + 1
		r.Say("half ")
		if n == 0 {
			r.Cut()
		}
		r.Say("whole")
	})
	events := u.say(session, "fragile")
	if got := types(events); got != "content retry content done " {
		t.Fatalf("%s", got)
	}
	at := slices.IndexFunc(events, isType(schema.EventRetry))
	if before, after := events[at-1], said(events[at:]); after != "half whole" || !strings.Contains(before.Content, "starts again") || before.Attempt != 1 {
		t.Errorf("%+v, then %q", before.Event, after)
	}
	if h := u.history(session); h.Messages[1].Content != "half whole" || h.LLMCalls != 2 {
		t.Errorf("%+v %d", h.Messages[1], h.LLMCalls)
	}
}

func TestTerminatedByAnOperator(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("terminate me", func(r *scriptmodel.Reply) { r.Say("begun"); r.Hold(nil) })
	s := u.post(session, "terminate me")
	begun := until(t, s, isType(schema.EventContent))
	terminate(t, session)
	events := append(begun, until(t, s, isType(schema.EventDone))...)
	if got := types(events); got != "content error done " {
		t.Fatalf("%s", got)
	}
	suite.model.On("go on", text("fine"))
	if next := u.say(session, "go on"); said(next) != "fine" {
		t.Fatalf("the session isn't usable: %s", types(next))
	}
}

func TestStrangersSeeNothing(t *testing.T) {
	admin, session := login(t, "admin"), newSession()
	suite.model.On("secret", text("the secret"))
	admin.say(session, "secret")
	student := login(t, "student")
	foreign := user{Client: student.Client, t: t, project: admin.project}
	if _, err := foreign.History(t.Context(), admin.project, session); schema.CodeOf(err) != schema.CodeNotFound {
		t.Errorf("another's project: %v", err)
	}
	if _, err := foreign.Post(t.Context(), admin.project, schema.ChatRequest{Message: "secret"}, ""); schema.CodeOf(err) != schema.CodeNotFound {
		t.Errorf("a turn in another's project: %v", err)
	}
	if h := student.history(session); len(h.Messages) != 0 {
		t.Errorf("another's session: %+v", h)
	}
	if _, err := student.Events(t.Context(), student.project, session, ""); schema.CodeOf(err) != schema.CodeNotFound {
		t.Errorf("another's events: %v", err)
	}
}

func TestTheRestIsGNS3s(t *testing.T) {
	u := login(t, "admin")
	status, body := u.raw(http.MethodGet, "/v3/projects/"+u.project+"/nodes", "", true)
	if status != http.StatusOK || !strings.Contains(body, `"R1"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body = u.raw(http.MethodGet, "/readyz", "", false); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

func TestWithoutAStream(t *testing.T) {
	u := login(t, "admin")
	suite.model.On("as a whole", text("all of it"))
	status, body := u.raw(http.MethodPost, "/v3/projects/"+u.project+"/chat/stream", `{"message": "as a whole", "stream": false}`, true)
	if status != http.StatusOK || !strings.Contains(body, `"content":"all of it"`) || !strings.Contains(body, `"thread_id"`) {
		t.Errorf("%d %s", status, body)
	}
	suite.model.On("as a failure", func(r *scriptmodel.Reply) { r.Fail(401, `{"error":{"message":"no"}}`) })
	status, body = u.raw(http.MethodPost, "/v3/projects/"+u.project+"/chat/stream", `{"message": "as a failure", "stream": false}`, true)
	if status != http.StatusBadGateway || !strings.Contains(body, `"code":"model_auth"`) {
		t.Errorf("%d %s", status, body)
	}

	session, aborted := newSession(), make(chan error, 1)
	suite.model.On("as an abort", func(r *scriptmodel.Reply) {
		r.Say("begun")
		go func() { aborted <- u.Abort(t.Context(), u.project, session) }()
		r.Hold(nil)
	})
	status, body = u.raw(http.MethodPost, "/v3/projects/"+u.project+"/chat/stream", `{"message": "as an abort", "stream": false, "session_id": "`+session+`"}`, true)
	if status != http.StatusConflict || !strings.Contains(body, `"code":"aborted"`) {
		t.Errorf("%d %s", status, body)
	}
	if err := <-aborted; err != nil {
		t.Error(err)
	}
}

func TestStopWhileATurnRuns(t *testing.T) {
	// A client that stays connected must not keep the server from ending, nor lose the turn.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	data := t.TempDir()
	s := startStack(t, ctx, data)
	u, session := loginAt(t, s.URL(), "admin"), newSession()
	release := make(chan struct{})
	suite.model.On("survive", func(r *scriptmodel.Reply) { r.Say("one "); r.Hold(release); r.Say("two") })
	open := u.post(session, "survive")
	until(t, open, isType(schema.EventContent))
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	close(release)
	s = startStack(t, ctx, data)
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	u = loginAt(t, s.URL(), "admin")
	events := u.collect(session, "")
	if last(events).StopReason != schema.StopComplete || !strings.HasSuffix(said(events), "one two") {
		t.Fatalf("%s %q", types(events), said(events))
	}
}

// TestTheOwnersLoginComesBack restarts the server in mid-turn: tokens are kept in memory only, so the turn waits for its owner and goes on
// when the owner opens the session.
func TestTheOwnersLoginComesBack(t *testing.T) {
	data := t.TempDir()
	s := startStack(t, t.Context(), data)
	u, session := loginAt(t, s.URL(), "admin"), newSession()
	release := make(chan struct{})
	suite.model.On("look later", func(r *scriptmodel.Reply) {
		r.Say("a moment")
		r.Hold(release)
		r.Call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show version"]}]}`)
	}, text(" seen"))
	until(t, u.post(session, "look later"), isType(schema.EventContent))
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	close(release)
	s = startStack(t, t.Context(), data)
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	c := operatorOf(t, s)
	awaitState(t, c, session, schema.TurnWaitingCredential)
	events := loginAt(t, s.URL(), "admin").collect(session, "")
	if r := toolResult(t, events); !r.Success || last(events).StopReason != schema.StopComplete {
		t.Fatalf("%s %+v", types(events), r)
	}
}

// awaitState waits until operators can find the session's turn in that state.
func awaitState(t *testing.T, c temporal.Client, session string, state schema.TurnState) {
	t.Helper()
	query := listOf(session)
	query.Query += ` AND ` + schema.SearchTurnState + ` = "` + string(state) + `"`
	awaitRun(t, c, query)
}
