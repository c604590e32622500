package main

import (
	"bytes"
	"strings"
	"testing"

	"gns3copilot/schema"
)

// TestApprovalsTellWhoAsked in the first line of what waits and of what was decided, and let no name steer the terminal.
func TestApprovalsTellWhoAsked(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"ada", "asked by ada, session s"},
		{"", "asked by user 7f0c, session s"}, // from before names were kept
		{"a\x1b[2J\u202eda", "asked by a[2Jda, session s"},
	} {
		item := schema.InboxItem{SessionID: "s", UserID: "7f0c", UserName: c.name, State: schema.ApprovalRejected, DecidedBy: "bob"}
		for list, show := range map[string]func(*console){
			"approvals":           func(to *console) { showWaiting(to, 1, "lab", item) },
			"approvals --history": func(to *console) { showDecided(to, item) },
		} {
			var out bytes.Buffer
			show(&console{out: &out, err: &out})
			if first, _, _ := strings.Cut(out.String(), "\n"); !strings.Contains(first, c.want) {
				t.Errorf("%s shows %q as %q, want %q", list, c.name, first, c.want)
			}
		}
	}
}

// TestNamesBeginNoLine: in GNS3 names of users, projects and nodes may have line ends, and mustn't be able to show another call than the one that
// is decided.
func TestNamesBeginNoLine(t *testing.T) {
	const name = "lab\n[1] show version"
	item := schema.InboxItem{
		PendingTool: schema.PendingTool{Description: name, Reasons: []string{name}, Preview: &schema.Preview{Devices: []schema.PreviewDevice{{Name: name, Problem: name, Lines: []string{name}}}}},
		SessionID:   "s", UserName: name, State: schema.ApprovalRejected, DecidedBy: name, Reason: name,
		Devices: []schema.DeviceChange{{DeviceName: name, Lines: []string{name}}},
	}
	for list, show := range map[string]func(*console){
		"approvals":           func(to *console) { showWaiting(to, 2, name, item) },
		"approvals --history": func(to *console) { showDecided(to, item) },
	} {
		var out bytes.Buffer
		show(&console{out: &out, err: &out})
		if strings.Contains(out.String(), "\n[1]") || !strings.Contains(out.String(), `lab\n[1] show version`) {
			t.Errorf("%s:\n%s", list, out.String())
		}
	}
}
