package main

import (
	"bytes"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
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
