package main

import (
	"bytes"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// TestChatShowsResultsOfAnyForm: a GNS3 server that has a copilot of its own gives results that aren't standard.
func TestChatShowsResultsOfAnyForm(t *testing.T) {
	for output, want := range map[string][]string{
		`{"success": false, "data": [{"id": "1", "name": "R1", "status": "success", "result": "up"}, {"id": "2", "name": "R2", "status": "failed", "error": "refused"}]}`: {
			"── R1 ✓\n   up\n", "── R2 ✗ refused\n"},
		`[{"device_name": "R1", "status": "success", "output": "up"}, {"device_name": "R2", "status": "failed", "error": "refused", "output": ""}]`: {
			"── R1 ✓\n   up\n", "── R2 ✗ refused\n"},
		`{"nodes": [{"node_id": "1", "name": "PC1", "status": "error", "error": "locked"}]}`: {"── PC1 ✗ locked\n"},
		`{"error": "project_id is required"}`:                                                {"· tool: project_id is required\n"},
		`Error: 'nosuchtool'`:                                                                {"── tool ✗ 'nosuchtool'\n"},
		`No packets`:                                                                         {"── tool ✓\n   No packets\n"},
	} {
		var out bytes.Buffer
		v := newView(&console{out: &out, err: &out}, false, false)
		event := schema.Event{Type: schema.EventToolEnd, ToolName: "tool", ToolCallID: "c", ToolOutput: output}
		if err := v.show(client.Received{Event: event}); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s\nis shown as\n%s\nwithout %q", output, out.String(), w)
			}
		}
	}
}

// TestChatSaysWhyItWaits once, and nothing more of it when the turn has begun.
func TestChatSaysWhyItWaits(t *testing.T) {
	var complaints bytes.Buffer
	v := newView(&console{out: &complaints, err: &complaints}, false, false)
	for _, kind := range []schema.EventType{schema.EventHeartbeat, schema.EventHeartbeat, schema.EventHeartbeat, schema.EventToolStart, schema.EventHeartbeat} {
		if err := v.show(client.Received{Event: schema.Event{Type: kind, ToolName: "tool"}}); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(complaints.String(), "\n")
	if len(lines) != 5 || !strings.Contains(lines[0], "first words") || !strings.Contains(lines[0], "worker") ||
		lines[1] != "· still waiting" || lines[2] != lines[1] || lines[3] != "· tool" {
		t.Errorf("%q", lines)
	}
}

// TestChatSkipsNotices: what waits is shown, and the server's words for clients that don't show it are not.
func TestChatSkipsNotices(t *testing.T) {
	var out bytes.Buffer
	v := newView(&console{out: &out, err: &out}, false, false)
	for _, ev := range []schema.Event{
		{Type: schema.EventContent, Content: "I ask."}, {Type: schema.EventContent, Content: "\n\n**Approval needed.**\n\n", Notice: schema.NoticeApproval},
	} {
		if err := v.show(client.Received{Event: ev}); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != "I ask." {
		t.Errorf("%q", out.String())
	}
}

// TestChatShowsTheCost of a turn whose model has a price, and of no other.
func TestChatShowsTheCost(t *testing.T) {
	cost := func(usd float64) *float64 { return &usd }
	for want, usage := range map[string]*schema.UsageView{
		"· 12300 tokens · $0.0123\n": {TotalTokens: 12300, CostUSD: cost(0.0123)},
		"· 100 tokens · $1.50\n":     {TotalTokens: 100, CostUSD: cost(1.5)},
		"· 1 tokens · $0.000001\n":   {TotalTokens: 1, CostUSD: cost(0.000001)},
		"":                           {TotalTokens: 100, CostUSD: cost(0)},
	} {
		var out, complaints bytes.Buffer
		v := newView(&console{out: &out, err: &complaints}, false, false)
		if err := v.show(client.Received{Event: schema.Event{Type: schema.EventDone, StopReason: schema.StopComplete, Usage: usage}}); err != nil {
			t.Fatal(err)
		}
		if complaints.String() != want || out.Len() > 0 {
			t.Errorf("%+v is shown as %q and %q, want %q", usage, complaints.String(), out.String(), want)
		}
	}
	var complaints bytes.Buffer
	v := newView(&console{out: &complaints, err: &complaints}, false, false)
	for _, usage := range []*schema.UsageView{nil, {TotalTokens: 100}} {
		if err := v.show(client.Received{Event: schema.Event{Type: schema.EventDone, Usage: usage}}); err != nil || complaints.Len() > 0 {
			t.Errorf("%+v is shown as %q, %v", usage, complaints.String(), err)
		}
	}
}

// TestWhatOneMayNotDo: somebody whom GNS3 doesn't let in learns which flags do, and nobody is told to do what was just done.
func TestWhatOneMayNotDo(t *testing.T) {
	lab, err := simlab.Start(t.Context(), simlab.Options{Roles: map[string]string{"student": simlab.RoleNoAccess}})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	_, project := login(t, lab.URL())
	const flags, byID = "Give --user and --password", "name it by its id"
	for args, want := range map[string]struct{ told, not string }{
		"chat --token xyz hello":                                                 {flags, byID},
		"chat --user student --password wrong hello":                             {flags, byID},
		"chat --user student --password student hello":                           {byID, flags},
		"chat --user student --password student --project " + project + " hello": {"have rights to the project", byID},
	} {
		var out, complaints bytes.Buffer
		status := run(append(strings.Fields(args), "--server", lab.URL()), &out, &complaints)
		if text := complaints.String(); status != 1 || strings.Count(text, want.told) != 1 || strings.Contains(text, want.not) {
			t.Errorf("%s: status %d\n%s", args, status, text)
		}
	}
}
