package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// check looks at everything that a schedule has left, and gives all that must not be.
func (s *site) check(ctx context.Context, turns []*turn) error {
	var v violations
	if err := s.answers(ctx); err != nil {
		v.add("the next message: %w", err)
	}
	if status, err := s.client.HITLStatus(ctx, s.project, session); err != nil || status.Status != "idle" {
		v.add("hitl-status is %q: %v", status.Status, err)
	}
	for _, t := range turns {
		v.in(t.message, t.checkEvents()...)
		v.in(t.message, s.checkReattach(ctx, t))
	}
	v.in("devices and books", s.checkDevices(ctx, turns))
	return errors.Join(v...)
}

// checkDevices holds what the devices have got against the books. What is still at work on a device, such as a worker that was woken, comes
// to its end before the lines are counted.
func (s *site) checkDevices(ctx context.Context, turns []*turn) error {
	var v violations
	if err := s.settle(ctx); err != nil {
		v.add("end the workers: %w", err)
	}
	b, err := s.readBooks(ctx)
	if err != nil {
		v.add("read the books: %w", err)
		return errors.Join(v...)
	}
	v.in("history", b.checkCalls()...)
	for _, t := range turns {
		v.in(t.message, t.checkWord(b)...)
		v.in(t.message, s.checkLines(t, b)...)
	}
	return errors.Join(v...)
}

// violations are what must not be.
type violations []error

func (v *violations) add(format string, args ...any) { *v = append(*v, fmt.Errorf(format, args...)) }

func (v *violations) in(where string, errs ...error) {
	for _, err := range errs {
		if err != nil {
			v.add("%s: %w", where, err)
		}
	}
}

// answers says another message on the session.
func (s *site) answers(ctx context.Context) error {
	s.model.On("hello", func(r *scriptmodel.Reply) { r.Say("hi") })
	t := &turn{message: "hello"}
	ctx, cancel := context.WithTimeoutCause(ctx, turnBound, fmt.Errorf("not over after %v", turnBound))
	defer cancel()
	if err := s.follow(ctx, t); err != nil {
		return err
	}
	if last := t.seen[len(t.seen)-1]; last.StopReason != schema.StopComplete {
		return fmt.Errorf("ended as %q: %s", last.StopReason, t.said())
	}
	return nil
}

// said are the errors that the client was told.
func (t *turn) said() string {
	var said []string
	for _, ev := range t.seen {
		if ev.Error != "" {
			said = append(said, ev.Error)
		}
	}
	return strings.Join(said, " ")
}

// may tells whether one of the kinds has happened in the turn.
func (t *turn) may(kinds ...kind) bool {
	for _, k := range kinds {
		if t.happened[k] > 0 {
			return true
		}
	}
	return false
}

// checkEvents looks at what the client saw of a turn: each event once, each call's outcome once, and an end that fits what happened.
func (t *turn) checkEvents() []error {
	var v violations
	ids, ends, words := map[string]bool{}, map[string]int{}, map[string]int{}
	var waited []string
	for i, ev := range t.seen {
		if ev.ID != "" && ids[ev.ID] {
			v.add("event %s came twice", ev.ID)
		}
		ids[ev.ID] = true
		switch ev.Type {
		case schema.EventToolEnd:
			ends[ev.ToolCallID]++
		case schema.EventHITLResolved:
			words[ev.ToolCallID]++
		case schema.EventHITLRequired:
			for _, p := range ev.PendingTools {
				waited = append(waited, p.ToolCallID)
			}
		case schema.EventDone:
			if i < len(t.seen)-1 {
				v.add("%s came after done", t.seen[i+1].Type)
			}
		}
	}
	last := t.seen[len(t.seen)-1]
	if last.Type != schema.EventDone || !t.mayEndAs(last.StopReason) {
		v.add("the last event is %s %q: %s", last.Type, last.StopReason, t.said())
	}
	for id, n := range ends {
		if n > 1 {
			v.add("%d results of call %s", n, id)
		}
	}
	for i, id := range waited {
		if i > 0 {
			v.add("a human was asked %d times", i+1)
		}
		if last.StopReason != schema.StopError && (ends[id] != 1 || words[id] != 1) {
			v.add("call %s was resolved %d times and has %d results in the events", id, words[id], ends[id])
		}
	}
	return v
}

// mayEndAs tells whether what has happened explains a turn's end. Without its event stream a model call may give up; a terminated turn can't
// tell its end itself.
func (t *turn) mayEndAs(reason schema.StopReason) bool {
	switch reason {
	case schema.StopComplete:
		return true
	case schema.StopAborted:
		return t.may(abort)
	case schema.StopError:
		return t.may(killNATS, terminate)
	default:
		return false
	}
}

// checkReattach attaches to the turn again in the middle: what comes is what had come, and has an end. A turn that was terminated may have
// told more meanwhile.
func (s *site) checkReattach(ctx context.Context, t *turn) error {
	var ids []string
	for _, ev := range t.seen {
		if ev.ID != "" {
			ids = append(ids, ev.ID)
		}
	}
	if len(ids) < 2 {
		return nil
	}
	middle := len(ids) / 2
	var again []string
	ended := false
	err := s.client.Follow(ctx, s.project, session, ids[middle-1], func(ev client.Received) error {
		if ev.ID != "" {
			again = append(again, ev.ID)
		}
		ended = ev.Type == schema.EventDone
		return nil
	})
	if err != nil {
		return fmt.Errorf("attach again: %w", err)
	}
	want := ids[middle:]
	more := len(again) > len(want) && !t.may(terminate)
	if len(again) < len(want) || more || strings.Join(again[:len(want)], " ") != strings.Join(want, " ") || !ended {
		return fmt.Errorf("attached again behind %s, and saw %v to an end (%v) after %v", ids[middle-1], again, ended, want)
	}
	return nil
}
