//go:build llm

package llm

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"gns3copilot/activities/llm"
	"gns3copilot/schema"
)

// story asks for an answer of several hundred tokens, the same each time.
func story(maxTokens int) schema.ChatRequest {
	cold := 0.0
	r := schema.ChatRequest{Message: "Write a long story about a router."}
	r.Temperature = &cold
	if maxTokens > 0 {
		r.MaxTokens = &maxTokens
	}
	return r
}

func TestATurnStreams(t *testing.T) {
	first := say(t, story(60))
	done := first.done(t, schema.StopComplete)
	if n := len(first.of(schema.EventContent)); n < 10 {
		t.Errorf("the answer came in %d pieces: %q", n, first.said())
	}
	// The server ignores stream_options and never counts, so we do.
	if u := done.Usage; u == nil || !u.Estimated || u.InputTokens == 0 || u.OutputTokens == 0 || u.LLMCalls != 1 {
		t.Errorf("usage %+v", u)
	}
	next := story(10)
	next.SessionID, next.Message = first.session, "And how does it end?"
	second := say(t, next)
	second.done(t, schema.StopComplete)

	h, err := suite.History(t.Context(), suite.project, first.session)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Messages) != 4 || h.Messages[1].Content != first.said() || h.Messages[3].Content != second.said() {
		t.Errorf("the history isn't what was streamed: %+v", h.Messages)
	}
}

func TestMaxTokens(t *testing.T) {
	for _, limit := range []int{1, 7, 40} {
		u := say(t, story(limit))
		u.done(t, schema.StopComplete)
		if n := len(u.of(schema.EventContent)); n == 0 || n > limit || limit > 10 && n < 10 { // a piece is a token, or part of one
			t.Errorf("%d pieces with max_tokens %d: %q", n, limit, u.said())
		}
	}
}

// TestAbort stops an answer of many hundred tokens at its third. The server does one thing at a time: it has to let go of that answer before
// it can begin the next.
func TestAbort(t *testing.T) {
	session := say(t, story(1)).session // makes the title too, whose call would disturb the count of hang-ups
	hangUps := disconnects(t)
	in := story(0)
	in.SessionID = session
	u := post(t, in)
	for range 3 {
		u.until(t, isType(schema.EventContent))
	}
	asked := time.Now()
	if err := suite.Abort(t.Context(), suite.project, session); err != nil {
		t.Fatal(err)
	}
	u.until(t, isType(schema.EventDone))
	took := time.Since(asked)
	t.Logf("from the abort to done: %v", took)
	u.done(t, schema.StopAborted)
	if len(u.of(schema.EventAbort)) != 1 || took > 2*time.Second {
		t.Errorf("%d abort events, done after %v", len(u.of(schema.EventAbort)), took)
	}
	awaitDisconnect(t, hangUps)
	next := story(10)
	next.SessionID = session
	say(t, next).done(t, schema.StopComplete)
}

// disconnects counts how often the server has noticed that a client left in mid-answer.
func disconnects(t *testing.T) int {
	t.Helper()
	log, err := os.ReadFile(suite.serverLog)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(log, []byte("Disconnected from client"))
}

func awaitDisconnect(t *testing.T, before int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for disconnects(t) == before {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the server goes on with the aborted answer")
		}
	}
}

// TestCallsOfAnotherModel goes on with a conversation in which a model that calls tools called one without a word.
func TestCallsOfAnotherModel(t *testing.T) {
	model, err := served()
	if err != nil {
		t.Fatal(err)
	}
	c, err := llm.New(llm.Options{Provider: model.Provider, BaseURL: model.BaseURL, Model: model.Model})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Stream(t.Context(), llm.Request{MaxTokens: 5, Messages: []llm.Message{
		{Role: "user", Content: "Which interfaces of R1 are up?"},
		{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "show", Arguments: `{"device": "R1"}`}}},
		{Role: "tool", ToolCallID: "call_1", Content: "Ethernet0/0 is up"},
	}}, nil)
	if err != nil || answer.FinishReason == "" {
		t.Errorf("%+v %v", answer, err)
	}
}

// TestTooLongForTheContext sends more than the model's context holds: each digit is a token.
func TestTooLongForTheContext(t *testing.T) {
	u := say(t, schema.ChatRequest{Message: "Add these digits: " + strings.Repeat("8291736450", 1500)})
	u.done(t, schema.StopError)
	errs := u.of(schema.EventError)
	if len(errs) != 1 || errs[0].Code != schema.CodeModelContext || errs[0].Hint == "" {
		t.Errorf("%+v", errs)
	}
	say(t, story(3)).done(t, schema.StopComplete) // the server is as well as before
}
