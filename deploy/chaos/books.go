package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gns3copilot/schema"
)

// books are what the product says has happened.
type books struct {
	messages []schema.ChatMessage
	decided  []schema.InboxItem
	journal  []schema.DeviceChange
}

func (s *site) readBooks(ctx context.Context) (b books, err error) {
	history, err := s.client.History(ctx, s.project, session)
	if err != nil {
		return b, err
	}
	b.messages = history.Messages
	if b.decided, err = s.client.Decided(ctx); err != nil {
		return b, err
	}
	b.journal, err = s.client.Changes(ctx, s.project, session)
	return b, err
}

// checkCalls wants one tool message for each call, in the history and so towards the model.
func (b books) checkCalls() []error {
	var v violations
	calls, results := map[string]int{}, map[string]int{}
	for _, m := range b.messages {
		for _, c := range m.ToolCalls {
			calls[c.ID]++
		}
		if m.ToolCallID != nil {
			results[*m.ToolCallID]++
		}
	}
	for id, n := range calls {
		if n != 1 || results[id] != 1 {
			v.add("call %s was made %d times and has %d tool messages", id, n, results[id])
		}
		delete(results, id)
	}
	for id := range results {
		v.add("a tool message for %s, which nobody called", id)
	}
	return v
}

// call finds the call that sends the lines, "" when it wasn't made, and its result.
func (b books) call(lines []string) (id string, result schema.ToolResponse) {
	for _, m := range b.messages {
		for _, c := range m.ToolCalls {
			if strings.Contains(string(schema.Text(c.Function.Arguments)), `"`+lines[1]+`"`) {
				id = c.ID
			}
		}
	}
	for _, m := range b.messages {
		if id != "" && m.ToolCallID != nil && *m.ToolCallID == id {
			_ = json.Unmarshal([]byte(m.Content), &result) // a result that can't be read claims nothing
		}
	}
	return id, result
}

// approval finds what was decided about the call that sends the lines.
func (b books) approval(id string) *schema.InboxItem {
	i := slices.IndexFunc(b.decided, func(d schema.InboxItem) bool { return id != "" && d.ToolCallID == id })
	if i < 0 {
		return nil
	}
	return &b.decided[i]
}

// states is what a word that counts makes of a call, as the answer to the word names it, too.
func states() map[word]schema.ApprovalState {
	return map[word]schema.ApprovalState{confirm: schema.ApprovalConfirmed, reject: schema.ApprovalRejected, modify: schema.ApprovalModified}
}

// checkWord holds the approval's outcome against what the human said and was answered.
func (t *turn) checkWord(b books) []error {
	var v violations
	id, _ := b.call(t.lines)
	a := b.approval(id)
	if a == nil {
		if t.call.ToolCallID != "" {
			v.add("a human was asked, and no outcome is kept")
		}
		return v
	}
	byHuman := false
	told, kept := map[string]bool{}, false
	for _, r := range t.replies {
		byHuman = byHuman || states()[r.word] == a.State
		switch {
		case r.err == nil && r.status == string(states()[r.word]):
			told[r.status] = true
		case r.err == nil:
			kept = kept || r.status == "accepted"
		}
	}
	if len(told) > 1 || len(told) == 1 && !told[string(a.State)] {
		v.add("the human was told %v, and the outcome is %s", told, a.State)
	}
	ended := a.State == schema.ApprovalAborted && t.may(abort, terminate)
	switch {
	case !byHuman && !ended:
		v.add("the outcome %s, which nobody asked for", a.State)
	case byHuman && a.DecidedBy != "admin" || ended && a.DecidedBy != "":
		v.add("the outcome %s is said to be by %q", a.State, a.DecidedBy)
	case kept && !byHuman && !ended:
		v.add("a word was kept, and the outcome is %s", a.State)
	}
	return v
}

// checkLines holds what the turn's devices have got against the approval, the journal and the call's result.
func (s *site) checkLines(t *turn, b books) []error {
	var v violations
	id, result := b.call(t.lines)
	changedID, changedResult := b.call(t.changed)
	var state schema.ApprovalState
	if a := b.approval(id); a != nil {
		state = a.State
	}
	for _, device := range t.devices {
		p := push{device: device, got: s.got(t, device, t.lines), lines: t.lines, may: state == schema.ApprovalConfirmed, result: result}
		v.in(device, p.check(t, b.run(id, device))...)
		p = push{device: device, got: s.got(t, device, t.changed), lines: t.changed, may: state == schema.ApprovalModified, result: changedResult}
		v.in(device, p.check(t, b.run(changedID, device))...)
	}
	return v
}

// run finds the journal of a call on a device.
func (b books) run(id, device string) *schema.DeviceChange {
	i := slices.IndexFunc(b.journal, func(c schema.DeviceChange) bool { return id != "" && c.ToolCallID == id && c.DeviceName == device })
	if i < 0 {
		return nil
	}
	return &b.journal[i]
}

// push is what a device got of a call.
type push struct {
	device     string
	got, lines []string
	may        bool // a human let it be sent
	result     schema.ToolResponse
}

// check wants each line at most once, in order, and only of what a human let be sent; a journal that is settled and misses no more than the
// one line that was under way; and a result that claims neither more nor less.
func (p push) check(t *turn, run *schema.DeviceChange) []error {
	var v violations
	sent := len(p.got)
	times := map[string]int{}
	for _, l := range p.got {
		if times[l]++; times[l] == 2 {
			v.add("got %q twice: %q", l, p.got)
		}
	}
	if v == nil && !slices.Equal(p.got, p.lines[:sent]) {
		v.add("got %q, which is not a beginning of %q", p.got, p.lines)
	}
	if sent > 0 && !p.may {
		v.add("got %q, which no human let be sent", p.got)
	}
	v.in("journal", p.checkJournal(run)...)
	for _, item := range p.result.Data {
		if item.Name == p.device {
			v.in("result", p.checkItem(item))
		}
	}
	if p.result.Status == schema.OutcomeAborted && len(p.result.Data) == 0 && sent > 0 {
		v.add("got %q, and the call's result says that it was not executed", p.got)
	}
	harmless := !t.may(killWorker, freezeWorker, killTemporal, killNATS, abort, resetPush, resetWord, resetBegin, terminate)
	if p.may && harmless && (run == nil || run.State != "done") {
		v.add("was not changed, and nothing explains it: %+v", run)
	}
	return v
}

func (p push) checkJournal(run *schema.DeviceChange) []error {
	var v violations
	sent := len(p.got)
	if run == nil {
		if sent > 0 {
			v.add("none, and the device got %q", p.got)
		}
		return v
	}
	switch {
	case run.State == "running":
		v.add("still running with %d lines acknowledged", run.Acked)
	case run.State == "done" && sent != len(p.lines), run.State == "nothing" && sent > 0:
		v.add("%s, and the device got %q", run.State, p.got)
	case run.Acked > sent || sent > run.Acked+1:
		v.add("%s with %d lines acknowledged, and the device got %q", run.State, run.Acked, p.got)
	}
	return v
}

// checkItem holds the part of a call's result that is about the device against what it got.
func (p push) checkItem(item schema.ToolItem) error {
	nothing := []string{"nothing", string(schema.ApprovalRejected), string(schema.ApprovalExpired), string(schema.ApprovalModified), string(schema.ApprovalAborted)}
	switch {
	case item.Status == schema.ItemSuccess && len(p.got) != len(p.lines):
		return fmt.Errorf("success, and the device got %q", p.got)
	case slices.Contains(nothing, item.Outcome) && len(p.got) > 0:
		return fmt.Errorf("%s (%s), and the device got %q", item.Outcome, item.Error, p.got)
	}
	return nil
}
