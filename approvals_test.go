package main

import (
	"bytes"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
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
			"approvals --history": func(to *console) { showDecided(to, "lab", item) },
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
		"approvals --history": func(to *console) { showDecided(to, name, item) },
	} {
		var out bytes.Buffer
		show(&console{out: &out, err: &out})
		if strings.Contains(out.String(), "\n[1]") || !strings.Contains(out.String(), `lab\n[1] show version`) {
			t.Errorf("%s:\n%s", list, out.String())
		}
	}
}

// TestApprovalsFromTheTerminal speak of flags, not of the API's fields, and name the project also of what was decided.
func TestApprovalsFromTheTerminal(t *testing.T) {
	s := startSite(t)
	approvals := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if status := run(append([]string{"approvals", "--server", s.api}, args...), &out, &out); status != want {
			t.Errorf("%v: status %d", args, status)
		}
		return out.String()
	}
	if text := approvals(0); text != "nothing waits\n" {
		t.Errorf("%q", text)
	}
	if text := approvals(0, "--history"); text != "nothing was decided yet\n" {
		t.Errorf("%q", text)
	}
	if text := approvals(1, "--token", "xyz"); !strings.Contains(text, "Give --user and --password") {
		t.Errorf("%q", text)
	}
	s.model.On("danger", proposing(change{[]string{"R2"}, []string{"no ip routing"}}), func(r *scriptmodel.Reply) { r.Say("that was it") })
	events := follow(t, s.client, s.project, "danger", "danger")
	asked := upTo(t, events, isType(schema.EventHITLRequired))
	id := asked[len(asked)-1].PendingTools[0].ToolCallID
	first, second := "gns3-copilot approvals --confirm "+id+"\n", "gns3-copilot approvals --confirm "+id+" --second\n"
	for _, step := range []struct {
		status int
		args   []string
		want   string
	}{
		{1, []string{"--confirm", id, "--second"}, first},
		{0, []string{"--confirm", id}, second},
		{1, []string{"--confirm", id}, second},
		{0, []string{"--confirm", id, "--second"}, "confirmed: "},
	} {
		if text := approvals(step.status, step.args...); !strings.Contains(text, step.want) || strings.Contains(text, "second_confirmation") {
			t.Errorf("%v: without %q, or in the API's words:\n%s", step.args, step.want, text)
		}
	}
	upTo(t, events, isType(schema.EventDone))
	projects, err := s.client.Projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if text := approvals(0, "--history"); !strings.Contains(text, "session danger, project "+projects[0].Name+", "+id+")") {
		t.Errorf("%s", text)
	}
}
