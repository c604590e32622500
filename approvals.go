package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"
)

type approvalsCmd struct {
	serverFlags
	Confirm string `env:"-" help:"Confirm the call with this id. One of high danger needs it twice, the second time with --second." placeholder:"ID"`
	Reject  string `env:"-" help:"Reject the call with this id." placeholder:"ID"`
	Reason  string `env:"-" help:"Why it is rejected; the model is told."`
	Second  bool   `env:"-" help:"This is the second confirmation of a high danger."`
	History bool   `env:"-" help:"Show what was decided, by whom, and what came of it."`
}

// Help explains the command.
func (approvalsCmd) Help() string {
	return "Without flags it lists what waits for a human's word in the projects that you may see, with the exact lines that a confirmation sends. " +
		"--history marks each line: | the device acknowledged it, ? it may have been carried out, - it was not sent."
}

// Validate names every fault of the flags.
func (a *approvalsCmd) Validate() error {
	bad := a.serverFlags.faults()
	if a.Confirm != "" && a.Reject != "" {
		bad = append(bad, "--confirm, --reject: one of them at a time")
	}
	if a.Second && a.Confirm == "" {
		bad = append(bad, "--second: goes with --confirm ID")
	}
	if a.Reason != "" && a.Reject == "" {
		bad = append(bad, "--reason: goes with --reject ID")
	}
	if a.History && a.Confirm+a.Reject != "" {
		bad = append(bad, "--history: goes without --confirm and --reject")
	}
	return faultsError(bad)
}

// Run lists or decides.
func (a *approvalsCmd) Run(ctx context.Context, c *console) (err error) {
	defer func() { err = withLogin(err) }()
	api, err := a.login(ctx)
	if err != nil {
		return err
	}
	if a.Confirm+a.Reject == "" {
		return a.list(ctx, api, c)
	}
	return a.decide(ctx, api, c)
}

// list shows what waits, or what was decided.
func (a *approvalsCmd) list(ctx context.Context, api *client.Client, c *console) error {
	read, none := api.Inbox, "nothing waits"
	if a.History {
		read, none = api.Decided, "nothing was decided yet"
	}
	items, err := read(ctx)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		fmt.Fprintln(c.out, none)
		return nil
	}
	projects, err := api.Projects(ctx)
	if err != nil {
		return err
	}
	for i, it := range items {
		project := nameOf(projects, it.ProjectID)
		if a.History {
			showDecided(c, project, it)
		} else {
			showWaiting(c, i+1, project, it)
		}
	}
	return nil
}

// decide confirms or rejects the call that was named.
func (a *approvalsCmd) decide(ctx context.Context, api *client.Client, c *console) error {
	items, err := api.Inbox(ctx)
	if err != nil {
		return err
	}
	id := a.Confirm + a.Reject
	for _, it := range items {
		if it.ToolCallID != id {
			continue
		}
		if err := a.fits(it); err != nil {
			return err
		}
		var reply schema.DecisionReply
		if a.Reject != "" {
			reply, err = api.Reject(ctx, it.ProjectID, it.SessionID, schema.RejectRequest{ToolCallIDs: []string{id}, Reason: a.Reason, HITLSessionID: it.HITLSessionID})
		} else {
			reply, err = api.Confirm(ctx, it.ProjectID, it.SessionID, schema.ConfirmRequest{ToolCallIDs: []string{id}, SecondConfirmation: a.Second,
				HITLSessionID: it.HITLSessionID, ExpectedSHA256: map[string]string{id: it.ArgsSHA256}})
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, "%s: %s\n", reply.Status, inLine(it.Description))
		if reply.Status == "accepted" {
			fmt.Fprintln(c.out, reply.Message)
		}
		if len(reply.StillPending) > 0 {
			fmt.Fprintf(c.out, "It is dangerous, and needs a second word: gns3-copilot approvals --confirm %s --second\n", id)
		}
		return nil
	}
	return notWaiting(ctx, api, id)
}

// fits refuses a first confirmation where the second is due, and the other way round, as the server would, but in words of this command.
func (a *approvalsCmd) fits(it schema.InboxItem) error {
	switch {
	case a.Second && it.ConfirmationsRequired > 1 && it.Confirmations == 0:
		return schema.Errorf(schema.CodeConflict, "The call %q has no first confirmation yet.", it.ToolCallID).
			WithHint("Confirm it without --second, look again, and confirm it a second time: gns3-copilot approvals --confirm %s", it.ToolCallID)
	case a.Confirm != "" && !a.Second && it.Confirmations > 0:
		return schema.Errorf(schema.CodeConflict, "The call %q is of high danger and waits for its second confirmation.", it.ToolCallID).
			WithHint("Confirm it a second time: gns3-copilot approvals --confirm %s --second", it.ToolCallID)
	}
	return nil
}

// notWaiting says what became of a call that doesn't wait.
func notWaiting(ctx context.Context, api *client.Client, id string) error {
	decided, err := api.Decided(ctx)
	if err != nil {
		return err
	}
	for _, it := range decided {
		if it.ToolCallID == id {
			return schema.Errorf(schema.CodeConflict, "The call %q waits no longer: it is %s.", id, it.State).WithHint("gns3-copilot approvals --history tells more.")
		}
	}
	return schema.Errorf(schema.CodeNotFound, "No call %q waits.", id).WithHint("gns3-copilot approvals lists what does.")
}

// lineMark tells what became of a line of a change; Help explains the marks.
func lineMark(d schema.DeviceChange, line int) string {
	switch {
	case line < d.Acked:
		return "|"
	case line < d.Begun:
		return "?"
	default:
		return "-"
	}
}

// nameOf is a project's name, or its id when lists don't show it.
func nameOf(projects []schema.Project, id string) string {
	for _, p := range projects {
		if p.ID == id {
			return p.Name
		}
	}
	return id
}

// whose tells who asked for a call, by name where that is known.
func whose(it schema.InboxItem) string { return inLine(cmp.Or(it.UserName, "user "+it.UserID)) }

func showWaiting(c *console, n int, project string, it schema.InboxItem) {
	fmt.Fprintf(c.out, "asked by %s, session %s, project %s\n%s\n", whose(it), inLine(it.SessionID), inLine(project), previewText(n, it.PendingTool))
}

func showDecided(c *console, project string, it schema.InboxItem) {
	when := it.CreatedAt
	if it.DecidedAt != nil {
		when = *it.DecidedAt
	}
	by := ""
	if it.DecidedBy != "" {
		by = " by " + inLine(it.DecidedBy)
	}
	fmt.Fprintf(c.out, "%s  %s%s  %s  (asked by %s, session %s, project %s, %s)\n", when.Local().Format("2006-01-02 15:04:05 MST"), it.State, by, inLine(it.Description), whose(it), inLine(it.SessionID), inLine(project), it.ToolCallID)
	if it.Reason != "" {
		fmt.Fprintf(c.out, "    reason: %s\n", inLine(it.Reason))
	}
	for _, d := range it.Devices {
		if d.Kind == "lab" { // its one line tells all
			fmt.Fprintf(c.out, "    %s: %s\n", inLine(d.DeviceName), d.State)
		} else {
			fmt.Fprintf(c.out, "    %s: %s, %d of %d lines acknowledged\n", inLine(d.DeviceName), d.State, d.Acked, len(d.Lines))
		}
		for i, line := range d.Lines {
			fmt.Fprintf(c.out, "      %s %s\n", lineMark(d, i), inLine(line))
		}
		if d.Error != "" {
			fmt.Fprintf(c.out, "      %s\n", strings.ReplaceAll(printable(d.Error), "\n", "\n      "))
		}
	}
	if it.Modification != "" {
		fmt.Fprintf(c.out, "    %s\n", strings.ReplaceAll(printable(it.Modification), "\n", "\n    "))
	}
}
