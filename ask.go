package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"
)

// asker asks the person at the terminal about the calls that wait, while the turn's stream goes on: somebody else may decide first.
type asker struct {
	api              *client.Client
	project, session string
	v                *view
	ctx              context.Context
	in               io.Reader

	readOnce sync.Once
	wanted   chan struct{} // asks for one line: between questions the terminal belongs to others, such as an editor
	unread   bool          // a line was asked for and has not come yet
	lines    chan string   // closed at the end of the input
	ended    bool          // there is no input, or no more
	hitl     string        // the message whose calls are asked about

	mu     sync.Mutex
	cancel context.CancelFunc // ends the question that is open
	open   string             // the question's text, "" when there is none
	asking sync.WaitGroup
}

func newAsker(ctx context.Context, api *client.Client, project, session string, v *view, in io.Reader) *asker {
	return &asker{ctx: ctx, api: api, project: project, session: session, v: v, in: in, wanted: make(chan struct{}), lines: make(chan string)}
}

// note takes the events that open and close questions.
func (a *asker) note(ev schema.Event) {
	switch ev.Type {
	case schema.EventHITLRequired:
		a.close()
		ctx, cancel := context.WithCancel(a.ctx)
		a.mu.Lock()
		a.cancel = cancel
		a.mu.Unlock()
		a.hitl = ev.HITLSessionID
		pending := slices.Clone(ev.PendingTools)
		a.asking.Go(func() { a.ask(ctx, pending) })
	case schema.EventDone, schema.EventAbort:
		a.close()
	}
}

// close ends the open question and waits for it.
func (a *asker) close() {
	a.mu.Lock()
	if a.cancel != nil {
		a.cancel()
	}
	a.mu.Unlock()
	a.asking.Wait()
}

// remind shows the open question again.
func (a *asker) remind() {
	a.mu.Lock()
	open := a.open
	a.mu.Unlock()
	if open != "" {
		a.v.prompt(open)
	}
}

func (a *asker) setOpen(prompt string) {
	a.mu.Lock()
	a.open = prompt
	a.mu.Unlock()
}

// read hands out a line of the input for each one that is wanted. A read of a terminal can't be ended, so this goroutine ends with the process.
func (a *asker) read() {
	a.readOnce.Do(func() {
		go func() {
			defer close(a.lines)
			scanner := bufio.NewScanner(a.in)
			for range a.wanted {
				if !scanner.Scan() {
					return
				}
				a.lines <- scanner.Text()
			}
		}()
	})
}

// answer waits for a line; ok is false when the question is closed or there is no input.
func (a *asker) answer(ctx context.Context, prompt string) (line string, ok bool) {
	a.read()
	a.v.prompt(prompt)
	a.setOpen(prompt)
	defer a.setOpen("")
	if !a.unread {
		select {
		case a.wanted <- struct{}{}:
			a.unread = true
		case <-a.lines: // the input has ended
		}
	}
	select {
	case line, ok = <-a.lines:
		a.unread, a.ended = false, !ok
		if ok {
			a.v.answered()
		}
		return strings.TrimSpace(line), ok
	case <-ctx.Done():
		return "", false
	}
}

const choices = "Run this? y all · n none · numbers (1,2) these · e N edit and run · empty: leave it for another to decide: "

// ask goes on until nothing of the message waits any more.
func (a *asker) ask(ctx context.Context, pending []schema.PendingTool) {
	if now, err := a.waiting(ctx); err == nil {
		pending = now // none for an old event, of a turn that is followed again
	}
	for shown := 0; len(pending) > 0; {
		if shown != len(pending) {
			for i, p := range pending {
				a.v.note(previewText(i+1, p))
			}
			shown = len(pending)
		}
		line, ok := a.answer(ctx, choices)
		if a.ended {
			a.left("nobody can answer here", pending)
		}
		if ok && line == "" {
			a.left("left for another to decide", pending)
		}
		if !ok || line == "" {
			return
		}
		if err := a.carryOut(ctx, line, pending); err != nil {
			a.v.note(schema.AsError(err).Message)
		}
		var err error
		if pending, err = a.waiting(ctx); err != nil {
			return
		}
	}
}

// left says how the calls can be decided elsewhere; the chat waits for that.
func (a *asker) left(why string, pending []schema.PendingTool) {
	for _, p := range pending {
		a.v.note(fmt.Sprintf("%s; waiting until %s for: gns3-copilot approvals --confirm %s   (or --reject)",
			why, p.ExpiresAt.Local().Format(time.TimeOnly), p.ToolCallID))
	}
}

// waiting gives the message's calls that still wait. What waits of another message, or in another user's session of that name, isn't asked about.
func (a *asker) waiting(ctx context.Context) ([]schema.PendingTool, error) {
	status, err := a.api.HITLStatus(ctx, a.project, a.session)
	if err != nil || status.HITLSessionID == nil || *status.HITLSessionID != a.hitl {
		return nil, err
	}
	return status.PendingTools, nil
}

// carryOut does what a line says.
func (a *asker) carryOut(ctx context.Context, line string, pending []schema.PendingTool) error {
	word, rest, _ := strings.Cut(strings.ToLower(line), " ")
	switch word {
	case "y", "yes":
		return a.confirm(ctx, pending)
	case "n", "no":
		reason, ok := a.answer(ctx, "Why not? (the model is told) ")
		if !ok {
			return nil
		}
		reply, err := a.api.Reject(ctx, a.project, a.session, schema.RejectRequest{RejectAll: true, Reason: reason, HITLSessionID: a.hitl})
		return a.told(reply, err)
	case "e", "edit":
		if rest == "" && len(pending) == 1 {
			rest = "1"
		}
		chosen, err := pick(rest, pending)
		if err != nil {
			return err
		}
		return a.edit(ctx, chosen[0])
	default:
		chosen, err := pick(line, pending)
		if err != nil {
			return err
		}
		return a.confirm(ctx, chosen)
	}
}

// confirm lets the calls run. What is of high danger is asked about a second time.
func (a *asker) confirm(ctx context.Context, calls []schema.PendingTool) error {
	in := schema.ConfirmRequest{ExpectedSHA256: map[string]string{}, HITLSessionID: a.hitl}
	var again []string
	for _, p := range calls {
		if p.Confirmations > 0 {
			again = append(again, p.ToolCallID)
		} else {
			in.ToolCallIDs = append(in.ToolCallIDs, p.ToolCallID)
			in.ExpectedSHA256[p.ToolCallID] = p.ArgsSHA256
		}
	}
	if in.ToolCallIDs != nil {
		reply, err := a.api.Confirm(ctx, a.project, a.session, in)
		if err := a.told(reply, err); err != nil {
			return err
		}
		again = append(again, reply.StillPending...)
	}
	for _, id := range again {
		line, ok := a.answer(ctx, "This is of HIGH DANGER. Type yes to confirm it a second time: ")
		if !ok || !strings.EqualFold(line, "yes") {
			a.v.note("not confirmed a second time; it still waits")
			continue
		}
		reply, err := a.api.Confirm(ctx, a.project, a.session, schema.ConfirmRequest{ToolCallIDs: []string{id}, SecondConfirmation: true, HITLSessionID: a.hitl})
		if err := a.told(reply, err); err != nil {
			return err
		}
	}
	return nil
}

// told shows a reply that the turn's events don't tell.
func (a *asker) told(reply schema.DecisionReply, err error) error {
	if err == nil && (reply.Status == "accepted" || len(reply.StillPending) > 0) {
		a.v.note(reply.Message)
	}
	return err
}

// edit opens the call's arguments in the person's editor and gives them back to the model.
func (a *asker) edit(ctx context.Context, p schema.PendingTool) error {
	file, err := os.CreateTemp("", "gns3-copilot-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	before := append(schema.TextIndent(p.ToolArgs), '\n')
	if _, err := file.Write(before); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", editor()+` "$1"`, "sh", file.Name())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return schema.Errorf(schema.CodeInvalid, "The editor ended with an error; nothing was changed.").WithCause(err)
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		return err
	}
	if bytes.Equal(text, before) {
		return schema.Errorf(schema.CodeInvalid, "You changed nothing, so nothing was decided.")
	}
	in := schema.ModifyRequest{ToolCallID: p.ToolCallID, ExpectedSHA256: p.ArgsSHA256, HITLSessionID: a.hitl}
	if err := json.Unmarshal(text, &in.ModifiedArgs); err != nil {
		return schema.Errorf(schema.CodeInvalid, "That is no JSON object (%v); nothing was changed.", err)
	}
	reply, err := a.api.Modify(ctx, a.project, a.session, in)
	if err == nil && reply.ModificationSummary != "" {
		a.v.note(reply.ModificationSummary)
	}
	return a.told(reply, err)
}

// pick finds calls by their numbers.
func pick(text string, pending []schema.PendingTool) ([]schema.PendingTool, error) {
	var chosen []schema.PendingTool
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(pending) {
			return nil, schema.Errorf(schema.CodeInvalid, "%q is no number from 1 to %d.", word, len(pending))
		}
		chosen = append(chosen, pending[n-1])
	}
	if chosen == nil {
		return nil, schema.Errorf(schema.CodeInvalid, "Which one? Give its number.")
	}
	return chosen, nil
}

// previewText shows exactly what a confirmation sends.
func previewText(n int, p schema.PendingTool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d] %s — danger %s, %d s left (%s)", n, inLine(p.Description), p.DangerLevel, p.Remaining, p.ToolCallID)
	if p.Confirmations > 0 {
		b.WriteString(" — confirmed once, needs a second confirmation")
	}
	for _, r := range p.Reasons {
		fmt.Fprintf(&b, "\n      why: %s", inLine(r))
	}
	if p.Preview == nil {
		fmt.Fprintf(&b, "\n      %s %s", inLine(p.ToolName), inLine(string(schema.Text(p.ToolArgs))))
		return b.String()
	}
	for _, d := range p.Preview.Devices {
		fmt.Fprintf(&b, "\n    %s", inLine(d.Name))
		if d.Problem != "" {
			fmt.Fprintf(&b, "  (%s)", inLine(d.Problem))
		}
		for _, line := range d.Lines {
			fmt.Fprintf(&b, "\n      | %s", inLine(line))
		}
	}
	return b.String()
}
