package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"
)

// view shows a turn in the terminal: the answer and the devices' output on out, progress and complaints on err.
type view struct {
	mu       sync.Mutex
	out, err io.Writer
	json     bool
	full     bool
	inText   bool // the last thing on out is a line without its end
	inPrompt bool // the last thing on err is a question without its answer
	afterOut bool // the last thing on out is a device's output
	// decided are the calls that a human or the clock has kept from running: their results say no more than that.
	decided map[string]bool
	what    map[string]string // of the calls that wait, in words
	begun   bool              // an event of the turn has come
	told    bool              // what a wait for the first one may mean
	aborted bool
	failure error
}

func newView(c *console, asJSON, full bool) *view {
	return &view{out: c.out, err: c.err, json: asJSON, full: full, decided: map[string]bool{}, what: map[string]string{}}
}

// show takes one event.
func (v *view) show(ev client.Received) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch ev.Type {
	case schema.EventError:
		v.failure = (&schema.Error{Code: ev.Code, Message: from(ev.Model) + ev.Error}).WithHint("%s", ev.Hint)
	case schema.EventAbort:
		v.aborted = true
	case schema.EventDone:
		if ev.StopReason == schema.StopComplete {
			v.failure = nil // it was the stream that broke, not the turn
		}
	}
	if v.json {
		_, err := fmt.Fprintf(v.out, "%s\n", schema.Text(ev.Event))
		return err
	}
	return v.text(ev.Event)
}

func (v *view) text(ev schema.Event) error {
	if ev.Type != schema.EventHeartbeat {
		v.begun = true
	}
	switch ev.Type {
	case schema.EventHeartbeat:
		if !v.begun {
			v.waits()
		}
	case schema.EventHITLRequired:
		v.line("· waits for approval, until %s:", ev.ExpiresAt.Local().Format("15:04:05"))
		for _, p := range ev.PendingTools {
			v.what[p.ToolCallID] = p.Description
		}
	case schema.EventHITLResolved:
		v.resolved(ev)
	case schema.EventWaiting:
		v.line("· %s", ev.Reason)
	case schema.EventContent:
		if ev.Notice != "" { // the event that it is about is shown
			return nil
		}
		if v.afterOut { // the answer stands apart from what the devices said
			fmt.Fprintln(v.out)
			v.afterOut = false
		}
		_, err := io.WriteString(v.out, printable(ev.Content))
		v.inText = !strings.HasSuffix(ev.Content, "\n")
		return err
	case schema.EventToolStart:
		v.line("· %s", ev.ToolName)
	case schema.EventDeviceProgress:
		if ev.State != schema.DeviceFailed { // the result tells why
			v.line("  %s: %s%s", ev.DeviceName, ev.State, progressTail(ev.DeviceProgress))
		}
	case schema.EventToolEnd:
		return v.result(ev)
	case schema.EventRetry:
		v.line("· %s What was shown of this answer is void.", ev.Reason)
	case schema.EventFailover:
		v.line("· %s %q goes on.", ev.Reason, ev.Model)
	case schema.EventTrimmed:
		v.line("· the model doesn't read the %d earliest messages any more: there is no room for them", ev.LeftOut)
	case schema.EventReset:
		v.line("· %s The turn is shown from its beginning.", ev.Reason)
	case schema.EventAbort:
		if ev.Reason == string(schema.AbortProjectDeleted) {
			v.line("· aborted: the project was deleted, and the conversation with it")
			break
		}
		v.line("· aborted")
	case schema.EventDone:
		if u := ev.Usage; u != nil && u.CostUSD != nil && *u.CostUSD > 0 {
			v.line("· %d tokens · %s", u.TotalTokens, schema.Dollars(schema.MicroUSD(*u.CostUSD)))
		}
	}
	return nil
}

// from says which model an error is of.
func from(model string) string {
	if model == "" {
		return ""
	}
	return printable(model) + ": "
}

// waits tells that nothing has come yet: mostly a model reads, and a local one can take its time.
func (v *view) waits() {
	if v.told {
		v.line("· still waiting")
		return
	}
	v.told = true
	v.line("· still waiting for the model's first words (a slow one may take minutes); if nothing comes, look whether a worker runs")
}

func progressTail(p *schema.DeviceProgress) string {
	tail := ""
	if p.Total > 0 {
		tail = fmt.Sprintf(" %d/%d", p.Done, p.Total)
	}
	if p.Detail != "" {
		tail += " " + printable(p.Detail)
	}
	return tail
}

// resolved tells what became of a call that waited.
func (v *view) resolved(ev schema.Event) {
	by, why := "", ""
	if ev.DecidedBy != "" {
		by = " by " + inLine(ev.DecidedBy)
	}
	if ev.Reason != "" {
		why = fmt.Sprintf(" (%s)", inLine(ev.Reason))
	}
	v.decided[ev.ToolCallID] = ev.Outcome != schema.ApprovalConfirmed
	v.line("· %s%s: %s%s", ev.Outcome, by, inLine(cmp.Or(v.what[ev.ToolCallID], ev.ToolCallID)), why)
	if ev.Outcome == schema.ApprovalModified {
		v.line("  nothing was sent yet: the assistant is told, and may do just that")
	}
}

// result shows what a tool gave, device by device.
func (v *view) result(ev schema.Event) error {
	if v.decided[ev.ToolCallID] {
		return nil
	}
	r := schema.NormalizeToolResponse(ev.ToolName, ev.ToolOutput, 0, time.Time{}) // other servers have other forms
	if r.Error != "" {
		v.line("· %s: %s", ev.ToolName, printable(r.Error))
	}
	v.breakLine()
	for _, item := range r.Data {
		mark := "✓"
		if item.Status != schema.ItemSuccess {
			mark = "✗ " + printable(item.Error)
		}
		result := printable(item.Result)
		if !v.full && json.Valid([]byte(result)) {
			result = fmt.Sprintf("(%d bytes of JSON; --full shows them)", len(result))
		}
		if _, err := fmt.Fprintf(v.out, "── %s %s\n%s", printable(item.Name), mark, indent(v.excerpt(result))); err != nil {
			return err
		}
		v.afterOut = true
	}
	return nil
}

// Bounds of what is shown of one device's output unless all is wanted.
const (
	shownLines = 40
	shownLine  = 400
)

// excerpt is the beginning of a long output.
func (v *view) excerpt(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if v.full {
		return s
	}
	for i, line := range lines {
		if len(line) > shownLine {
			lines[i] = schema.CutText(line, shownLine/2) + " (--full shows all)"
		}
	}
	if more := len(lines) - shownLines; more > 0 {
		lines = append(lines[:shownLines], fmt.Sprintf("… %d more lines (--full shows all)", more))
	}
	return strings.Join(lines, "\n")
}

func indent(s string) string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return ""
	}
	return "   " + strings.ReplaceAll(s, "\n", "\n   ") + "\n"
}

// note says something that isn't the turn's.
func (v *view) note(s string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.line("· %s", s)
}

// prompt asks without ending the line.
func (v *view) prompt(s string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.breakLine()
	fmt.Fprint(v.err, s)
	v.inPrompt = true
}

// answered says that the person has ended the question's line.
func (v *view) answered() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inPrompt = false
}

func (v *view) line(format string, args ...any) {
	v.breakLine()
	fmt.Fprintf(v.err, format+"\n", args...)
}

func (v *view) breakLine() {
	if v.inText {
		fmt.Fprintln(v.out)
		v.inText = false
	}
	if v.inPrompt {
		fmt.Fprintln(v.err)
		v.inPrompt = false
	}
}

// end leaves the cursor at the begin of a line.
func (v *view) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.json {
		v.breakLine()
	}
}

// printable keeps what a model or a device says from steering the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me) && !bidi(r) {
			return r
		}
		return -1
	}, s)
}

// inLine keeps it from beginning a line, too: names may have line ends in GNS3, and could go on as if this program spoke.
func inLine(s string) string { return strings.ReplaceAll(printable(s), "\n", `\n`) }

// bidi are the characters that turn the direction of text, which can make one command look like another.
func bidi(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }
