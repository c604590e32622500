package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gns3copilot/schema"
)

// reply is what a human's word was answered with.
type reply struct {
	word   word
	status string // of the answer: confirmed, rejected, modified, or accepted when nobody has heard it yet
	err    error  // refused, or lost on its way
}

// decide is the human: it says its word as soon as something waits, and again as long as it still does.
func (s *site) decide(ctx context.Context, t *turn) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	said := false
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-t.over:
			return nil
		}
		if n%20 == 0 { // a look at the history brings a turn back the login that NATS has lost
			_, _ = s.client.History(ctx, s.project, session)
		}
		status, err := s.client.HITLStatus(ctx, s.project, session)
		if err != nil || status.Status != "waiting" {
			continue
		}
		t.mu.Lock()
		t.call = status.PendingTools[0]
		t.mu.Unlock()
		t.moments[asked].set()
		wait(ctx, t.think)
		t.moments[speaking].set()
		if said {
			err = s.say(ctx, t, t.word)
		} else {
			err = s.sayAsPlanned(ctx, t)
		}
		said = true
		t.moments[heard].set()
		if err != nil {
			return err
		}
	}
}

// copies is how many requests bring a word that is said often, or races.
const copies = 6

func (s *site) sayAsPlanned(ctx context.Context, t *turn) error {
	switch t.manner {
	case often:
		return s.sayAtOnce(ctx, t, t.word)
	case race:
		return s.sayAtOnce(ctx, t, t.word, t.rival)
	}
	return s.say(ctx, t, t.word)
}

// sayAtOnce says the words side by side.
func (s *site) sayAtOnce(ctx context.Context, t *turn, words ...word) error {
	errs := make(chan error, copies)
	var wg sync.WaitGroup
	for i := range copies {
		wg.Go(func() { errs <- s.say(ctx, t, words[i%len(words)]) })
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// say says a word and keeps what it was answered with. A word that comes too late is refused, and one may get lost with what is away.
func (s *site) say(ctx context.Context, t *turn, w word) error {
	t.mu.Lock()
	call := t.call.ToolCallID
	t.mu.Unlock()
	var answer schema.DecisionReply
	var err error
	switch w {
	case reject:
		answer, err = s.client.Reject(ctx, s.project, session, schema.RejectRequest{RejectAll: true, Reason: "chaos"})
	case modify:
		answer, err = s.client.Modify(ctx, s.project, session, schema.ModifyRequest{ToolCallID: call, ModifiedArgs: t.arguments(t.changed)})
	default:
		answer, err = s.client.Confirm(ctx, s.project, session, schema.ConfirmRequest{ConfirmAll: true})
	}
	s.tell("turn %d: %s: %q %v", t.number+1, w, answer.Status, err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replies = append(t.replies, reply{word: w, status: answer.Status, err: err})
	code := schema.CodeOf(err)
	if err == nil || passing(err) || code == schema.CodeConflict || code == schema.CodeMalformed || ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("%s: %w", w, err)
}
