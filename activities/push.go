package activities

import (
	"context"
	"errors"
	"regexp"

	"gns3copilot/activities/console"
	"gns3copilot/activities/gns3"
	"gns3copilot/activities/policy"
	"gns3copilot/activities/tools"
	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/store"

	"github.com/aymanbagabas/go-udiff"
)

// Consoles runs commands on device consoles, and pushes configuration line by line.
type Consoles interface {
	Run(ctx context.Context, t console.Target, commands []string, progress console.Progress) (console.Report, error)
	// RunConfirmed is Run for one command that a human has confirmed, and answers its [confirm].
	RunConfirmed(ctx context.Context, t console.Target, command string, progress console.Progress) (console.Report, error)
	Push(ctx context.Context, t console.Target, r console.PushRequest, progress console.Progress) (console.PushReport, error)
}

// PushDevice sends one confirmed call to one device, at most once: the journal's row is claimed before the first byte and asked before each
// line. It is never retried. What becomes of it is in the journal.
func (t *Tools) PushDevice(ctx context.Context, in schema.PushInput) (schema.PushOutput, error) {
	concerns(ctx, in.Call, observe.DeviceKey.String(in.Device))
	message, err := t.Store.Assistant(ctx, in.TurnRef, in.Step)
	if err != nil {
		return schema.PushOutput{}, fault(err)
	}
	if over, err := t.over(ctx, schema.RunToolInput{TurnRef: in.TurnRef, Step: in.Step, Call: in.Call}); over || err != nil {
		return schema.PushOutput{}, fault(err)
	}
	run, release, err := watched(ctx, t.Bus, in.TurnID, finish)
	if err != nil {
		return schema.PushOutput{}, fault(err)
	}
	defer release()
	tool, args, err := t.resolve(message, in.Call, in.Mode)
	if err != nil {
		return schema.PushOutput{}, fault(err)
	}
	start := schema.Event{Type: schema.EventToolStart, ToolName: in.Call.Name, ToolCallID: in.Call.ID}
	if err := t.Bus.Publish(run, in.TurnRef, start, "start/"+in.Call.ID); err != nil {
		return schema.PushOutput{}, fault(err)
	}
	lab, err := t.shownLab(ctx, in.TurnRef)
	if err != nil {
		return schema.PushOutput{}, fault(err)
	}
	p := &push{tools: t, in: in, end: ctx}
	_, err = tool.Execute(run, tools.Env{Ref: in.TurnRef, Device: in.Device, Shown: lab, Push: p.device}, args)
	if p.refused != nil {
		err = p.refused
	}
	return schema.PushOutput{Acked: p.acked, Lines: p.lines, Aborted: aborted(run)}, fault(err)
}

// push is one device's part of a confirmed call.
type push struct {
	tools        *Tools
	in           schema.PushInput
	end          context.Context // outlives the run: what happened is stored in any case
	lines        int
	begun, acked int   // lines that may have been typed, and those that the device has taken
	refused      error // nothing was claimed
	lease        *lease
	inDoubt      bool // a line was typed whose end was not seen
}

// device sends the change and settles its journal.
func (p *push) device(ctx context.Context, c tools.Change) schema.ToolItem {
	p.lines = len(c.Lines)
	node, err := p.find(ctx, c)
	if code := schema.CodeOf(err); code == schema.CodeCredentialMissing {
		p.refused = err
		return schema.ToolItem{}
	}
	claim := store.Claim{Kind: store.KindDevice, Device: p.in.Device, NodeID: node.ID, Lines: c.Lines}
	if err := p.tools.Store.ClaimRun(ctx, p.in.TurnRef, p.in.Call.ID, claim); err != nil {
		p.refused = err
		return schema.ToolItem{}
	}
	result := store.DeviceRun{Device: p.in.Device, State: store.RunFailed}
	if err == nil {
		result, err = p.send(ctx, node, c)
	}
	if err != nil {
		err = tools.Explained(err, func() error { return p.still(ctx, node, c) })
		result.Error = whyFailed(err, p.inDoubt)
	}
	result.Begun = p.begun
	end, cancel := settle(p.end)
	defer cancel()
	if err := p.tools.Store.EndRun(end, p.in.TurnRef, p.in.Call.ID, result); err != nil {
		p.tools.Log.ErrorContext(p.end, "push not settled by its sender", "turn", p.in.TurnID, "device", p.in.Device, "error", err)
	}
	p.tools.Log.InfoContext(ctx, "push ended", "call", p.in.Call.ID, "device", p.in.Device, "state", result.State,
		"lines", p.lines, "acknowledged", p.acked)
	p.tell(result)
	return schema.ToolItem{}
}

// find looks the device up again: the node that was shown to the one who confirmed, whatever its name is by now. Its console must be one that the
// turn's owner may use.
func (p *push) find(ctx context.Context, c tools.Change) (gns3.Node, error) {
	lab, err := readLab(ctx, p.tools.credentials(), p.tools.Lab, p.in.TurnRef)
	if err != nil {
		return gns3.Node{}, err
	}
	if c.NodeID == "" {
		return gns3.Node{}, schema.Errorf(schema.CodeDeviceUnknown, "There was no device %q when this was confirmed.", c.Device)
	}
	if err := tools.Opened(lab); err != nil {
		return gns3.Node{}, err
	}
	node, err := lab.ByID(c.NodeID, c.Device)
	if err != nil {
		return gns3.Node{}, err
	}
	if err := tools.Reachable(node); err != nil {
		return node, err
	}
	return node, mayUseConsole(ctx, p.tools.credentials(), p.tools.Lab, p.in.TurnRef, node)
}

// console takes the right to write to the node's console, which may be elsewhere after a wait for it.
func (p *push) console(ctx context.Context, node gns3.Node, c tools.Change) (gns3.Node, *lease, error) {
	for {
		held, err := p.tools.hold(ctx, node, p.in)
		if err != nil || !held.waited {
			return node, held, err
		}
		now, err := p.find(ctx, c)
		if err == nil && now.ConsoleAddress == node.ConsoleAddress {
			return now, held, nil
		}
		if dropErr := held.drop(p.end); err != nil || dropErr != nil {
			return node, nil, errors.Join(err, dropErr)
		}
		node = now
	}
}

// still makes sure that the node's console is where the right to write was taken for.
func (p *push) still(ctx context.Context, node gns3.Node, c tools.Change) error {
	now, err := p.find(ctx, c)
	if err == nil && now.ConsoleAddress != node.ConsoleAddress {
		err = schema.Errorf(schema.CodeConsoleClosed, "The console of %s has moved from %s to %s: the node was restarted.",
			node.Name, node.ConsoleAddress, now.ConsoleAddress).WithHint("Ask again.")
	}
	return err
}

// send types the lines, fenced by the lease on the console and by the journal.
func (p *push) send(ctx context.Context, node gns3.Node, c tools.Change) (store.DeviceRun, error) {
	result := store.DeviceRun{Device: p.in.Device, State: store.RunFailed}
	node, held, err := p.console(ctx, node, c)
	if err != nil {
		return result, err
	}
	defer func() {
		if err := held.drop(p.end); err != nil {
			p.tools.Log.WarnContext(p.end, "console not given back", "device", p.in.Device, "error", err)
		}
	}()
	p.lease = held
	target := console.Target{Device: node.Name, Node: node.ID, Address: node.ConsoleAddress, Platform: node.Platform,
		Locate: func(ctx context.Context) (string, error) { return node.ConsoleAddress, p.still(ctx, node, c) }}
	if err := p.judgeAgain(held.ctx, target, c); err != nil {
		return result, err
	}
	if !c.Config && node.Type != "vpcs" {
		return p.execute(held.ctx, target, c)
	}
	report, err := p.tools.Consoles.Push(held.ctx, target, console.PushRequest{
		Lines: c.Lines, Before: p.before, Acked: p.ack, Snapshot: c.Config,
	}, p.progress)
	result.Output, result.Before, result.After = tools.Transcript(node.Name, console.Report{Outputs: report.Outputs}), report.Before, report.After
	if report.Before != "" && report.After != "" {
		result.Diff = udiff.Unified("before", "after", settled(report.Before), settled(report.After))
	}
	if err == nil {
		result.State = store.RunDone
	}
	p.inDoubt = report.InDoubt
	return result, err
}

// unsettled are the lines of a running configuration that change by themselves: its size and its time.
var unsettled = regexp.MustCompile(`(?m)^(Building configuration.*|Current configuration.*|! (Last configuration change|NVRAM config last updated).*|ntp clock-period .*)\n`)

// settled is a running configuration without them.
func settled(config string) string { return unsettled.ReplaceAllString(config+"\n", "") }

// judgeAgain asks the device what it is, before a line is typed: what was confirmed was judged by the lab's word for it, and where the two
// differ the device is right. What is graver there than what was confirmed isn't sent.
func (p *push) judgeAgain(ctx context.Context, target console.Target, c tools.Change) error {
	report, err := p.tools.Consoles.Run(ctx, target, nil, p.progress)
	if err != nil {
		return err
	}
	rules := p.tools.Policy()
	ruling := rules.Commands(report.Platform, c.Lines)
	if c.Config {
		ruling = rules.Configuration(report.Platform, c.Lines)
	}
	confirmed, err := p.confirmedDanger(ctx)
	if err != nil {
		return err
	}
	if ruling.Action == policy.Refuse || (ruling.Level == policy.High && confirmed != schema.DangerHigh) {
		return schema.Errorf(schema.CodeRefused, "%s turned out to be a %s device, where this is more dangerous than what was confirmed.",
			target.Device, report.Platform).WithHint("Correct the device_type tag of %s in GNS3 and ask again.", target.Device)
	}
	return nil
}

// confirmedDanger is the level at which a human confirmed the call; a granted one is never above medium.
func (p *push) confirmedDanger(ctx context.Context) (schema.Danger, error) {
	rows, err := p.tools.Store.Approvals(ctx, p.in.TurnRef, p.in.Step)
	for _, a := range rows {
		if a.ToolCallID == p.in.Call.ID {
			return a.Danger, err
		}
	}
	return schema.DangerMedium, err
}

// execute types commands that aren't configuration, such as a confirmed reload, one at a time at the base prompt.
func (p *push) execute(ctx context.Context, target console.Target, c tools.Change) (store.DeviceRun, error) {
	result := store.DeviceRun{Device: p.in.Device, State: store.RunFailed}
	for i, line := range c.Lines {
		if err := p.before(ctx, i); err != nil {
			return result, err
		}
		report, err := p.tools.Consoles.RunConfirmed(ctx, target, line, func(state string, _, _ int, detail string) {
			p.progress(state, i, len(c.Lines), detail)
		})
		result.Output += tools.Transcript(target.Device, report)
		if err == nil && len(report.Outputs) == 1 && report.Outputs[0].Err != nil {
			err = report.Outputs[0].Err
		}
		if err != nil {
			p.inDoubt = len(report.Outputs) > 0 && !answered(err)
			return result, err
		}
		if err := p.ack(ctx, i, ""); err != nil {
			return result, err
		}
	}
	result.State = store.RunDone
	return result, nil
}

// answered tells whether a failure is the device's own answer: then it is known what became of the line.
func answered(err error) bool {
	code := schema.CodeOf(err)
	return code == schema.CodeCommandRejected || code == schema.CodeDeviceQuestion
}

// before asks, just before a line's first byte, whether this sender is still the one.
func (p *push) before(ctx context.Context, line int) error {
	if err := p.lease.check(); err != nil {
		return err
	}
	if err := p.tools.Store.CheckRun(ctx, p.in.TurnRef, p.in.Call.ID, p.in.Device); err != nil {
		return err
	}
	p.begun = line + 1
	return nil
}

func (p *push) ack(ctx context.Context, line int, _ string) error {
	if err := p.tools.Store.AckLine(observe.Untraced(ctx), p.in.TurnRef, p.in.Call.ID, p.in.Device, line); err != nil {
		return err
	}
	p.acked = line + 1
	return nil
}

func (p *push) progress(state string, done, _ int, detail string) {
	if s := schema.DeviceState(state); s != schema.DeviceDone && s != schema.DeviceFailed {
		p.show(schema.DeviceProgress{DeviceName: p.in.Device, State: s, Detail: detail, Done: done, Total: p.lines})
	}
}

func (p *push) tell(r store.DeviceRun) {
	state := schema.DeviceDone
	if r.State != store.RunDone {
		state = schema.DeviceFailed
	}
	p.show(schema.DeviceProgress{DeviceName: p.in.Device, State: state, Detail: r.Error, Done: p.acked, Total: p.lines})
}

func (p *push) show(d schema.DeviceProgress) {
	ev := schema.Event{Type: schema.EventDeviceProgress, ToolCallID: p.in.Call.ID, DeviceProgress: &d}
	if err := p.tools.Bus.Tell(p.in.TurnRef, ev, ""); err != nil {
		p.tools.Log.WarnContext(p.end, "device progress not published", "turn", p.in.TurnID, "error", err)
	}
}

// whyFailed words a failure for the journal, where people and the model read it.
func whyFailed(err error, inDoubt bool) string {
	e := schema.AsError(err)
	why := e.Message
	if errors.Is(err, context.Canceled) {
		why = "Stopped by the user before the end."
	}
	switch {
	case inDoubt: // a hint may say to try again, which could be the second time
		return why + " Whether the last line took effect is unknown: it may have. Look at the device before anything is repeated."
	case e.Hint != "":
		return why + " " + e.Hint
	}
	return why
}
