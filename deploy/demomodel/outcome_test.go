package demomodel

import (
	"encoding/json"
	"strings"
	"testing"
)

const (
	loopbackRequest = "configure loopback0 10.9.9.9/32 on R1"

	transcript = "R1> interface Loopback0\nR1> ip address 10.9.9.9 255.255.255.255\n"
	// The difference as the tool gives it: the section's line is there as it was, and the size differs by itself.
	difference = "\n" + diffBegins + "--- before\n+++ after\n@@ -1,5 +1,5 @@\n-Current configuration : 1166 bytes\n+Current configuration : 1170 bytes\n !\n" +
		" interface Loopback0\n- ip address 1.1.1.1 255.255.255.255\n+ ip address 10.9.9.9 255.255.255.255\n !\n"
	difference2 = "\n" + diffBegins + "--- before\n+++ after\n@@ -9,1 +9,2 @@\n !\n+interface Loopback0\n+ no ip address\n"
)

// undecided writes the result of a call that a human or the clock kept from running.
func undecided(t *testing.T, tool, status, why string, devices ...string) string {
	t.Helper()
	var data []map[string]any
	for _, d := range devices {
		data = append(data, map[string]any{"id": "id-" + d, "name": d, "status": "failed", "outcome": status, "error": why})
	}
	b, err := json.MarshalIndent(map[string]any{
		"success": false, "total": len(data), "successful": 0, "failed": len(data), "data": data, "error": why, "status": status,
		"metadata": map[string]any{"tool_name": tool, "version": "1.0"},
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// partly writes the result of a change that stopped at a line, with what had changed by then.
func partly(t *testing.T, output, why string) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"success": false, "data": []any{map[string]any{
		"id": "1", "name": "R1", "status": "failed", "outcome": "partial", "result": output, "error": why,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOutcomes(t *testing.T) {
	const diff = "\n```diff\n interface Loopback0\n- ip address 1.1.1.1 255.255.255.255\n+ ip address 10.9.9.9 255.255.255.255\n```"
	for _, tt := range []struct{ name, say, result, want string }{
		{"done", loopbackRequest, toolResult("R1", transcript+difference), "- R1: done. What changed:" + diff},
		{"the device said something", loopbackRequest, toolResult("R1", transcript+"%LINK-3-UPDOWN: Loopback0 up\n"+difference),
			"- R1: done. The device said:\n```\n%LINK-3-UPDOWN: Loopback0 up\n```\n  What changed:" + diff},
		{"nothing new", loopbackRequest, toolResult("R1", transcript), "- R1: done. The result shows no difference of the running configuration."},
		{"only the size differs", loopbackRequest, toolResult("R1", transcript+"\n"+diffBegins+"--- before\n+++ after\n@@ -1 +1 @@\n"+
			"-Current configuration : 1166 bytes\n+Current configuration : 1170 bytes\n"), "- R1: done. The running configuration is the same as before."},
		{"a VPCS", "set ip 10.0.0.5/24 on PC1", toolResult("PC1", "PC1> ip 10.0.0.5/24\nPC1 : 10.0.0.5 255.255.255.0\n"),
			"- PC1: done. The device said:\n```\nPC1 : 10.0.0.5 255.255.255.0\n```"},
		{"rejected", loopbackRequest, undecided(t, configTool, "rejected", "Rejected by ann. Nothing was executed. Propose another way, or ask.", "R1"),
			"Rejected by ann. Nothing was executed."},
		{"rejected with a reason", loopbackRequest, undecided(t, configTool, "rejected",
			"Rejected by ann. Nothing was executed. Reason: not today Propose another way, or ask.", "R1"), "Rejected by ann. Nothing was executed. Reason: not today"},
		{"expired", loopbackRequest, undecided(t, configTool, "expired", "Nobody decided in time. Nothing was executed.", "R1"),
			"Nobody decided in time. Nothing was executed."},
		{"aborted", loopbackRequest, undecided(t, configTool, "aborted", "Aborted by the user. Nothing was executed.", "R1"),
			"Aborted by the user. Nothing was executed."},
		{"a rejected reload", "run 'reload' on R1", undecided(t, commandsTool, "rejected", "Rejected by ann. Nothing was executed.", "R1"),
			"Rejected by ann. Nothing was executed."},
		{"refused", loopbackRequest, `{"success":false,"total":0,"data":[],"error":"That is never sent."}`, "The tool failed: That is never sent."},
		{"a line failed", loopbackRequest, partly(t, "R1> interface Loopback0\nR1> ip address 10.9.9.9 255.255.255.255\n% Overlaps\n"+difference2,
			"R1 rejected line 2 (ip address 10.9.9.9 255.255.255.255): % Overlaps 1 of 2 lines were acknowledged, the rest was not sent."),
			"- R1 failed: R1 rejected line 2 (ip address 10.9.9.9 255.255.255.255): % Overlaps 1 of 2 lines were acknowledged, the rest was not sent.\n" +
				"  What changed all the same:\n```diff\n+interface Loopback0\n+ no ip address\n```"},
		{"one of two failed", "set hostname x on R1 and R2", toolResult("R1", "R1> hostname x\n", "R2", "!Nothing was sent to this device."),
			"- R1: done. The result shows no difference of the running configuration.\n- R2 failed: Nothing was sent to this device."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := askOnce(t, tt.say, tt.result); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// What a human has written in place of the arguments is called byte by byte, and only that call's result is told.
func TestModified(t *testing.T) {
	const arguments = `{"device_configs":[{"config_commands":["interface Loopback9","description <b> & \"c\""],"device_name":"R1"}],"project_id":"p"}`
	const why = "ann changed the arguments. Nothing was executed yet. Call the tool again with exactly these arguments: "
	for _, tt := range []struct{ say, tool string }{{loopbackRequest, configTool}, {"run 'reload' on R1", commandsTool}, {"set ip 10.0.0.5/24 on PC1", hostTool}} {
		c := inLab(tt.say)
		c.next()
		c.answer(undecided(t, tt.tool, "modified", why+arguments+"\nWhat was changed:\n  - R1: interface Loopback0", "R1"))
		r := c.next()
		if len(r.calls) != 1 || r.calls[0].Function.Name != tt.tool || r.calls[0].Function.Arguments != arguments {
			t.Fatalf("%q: got %q and %+v", tt.say, r.text, r.calls)
		}
		c.answer(toolResult("R1", "R1> interface Loopback9\nfine\n"))
		r = c.next()
		if len(r.calls) != 0 || !strings.Contains(r.text, "fine") || strings.Contains(r.text, "ann") {
			t.Errorf("%q: got %q and %+v", tt.say, r.text, r.calls)
		}
	}

	// Arguments that can't be read are not guessed.
	c := inLab(loopbackRequest)
	c.next()
	c.answer(undecided(t, configTool, "modified", why+`{"device_configs":[`, "R1"))
	if r := c.next(); len(r.calls) != 0 || r.text != "ann changed the arguments. Nothing was executed yet." {
		t.Errorf("got %q and %+v", r.text, r.calls)
	}
}

// Of two calls each gets the word that was given on it.
func TestOneOfTwoCallsIsModified(t *testing.T) {
	c := inLab("set hostname lab on R1 and PC1")
	c.next()
	c.answer(undecided(t, configTool, "rejected", "Rejected by ann. Nothing was executed.", "R1"),
		undecided(t, hostTool, "modified", "Changed. "+newArguments+`{"device_configs":[{"device_name":"PC1","commands":["set pcname desk"]}]}`, "PC1"))
	if got := calls(t, c.next()); got != "vpcs PC1: set pcname desk" {
		t.Fatalf("got %s", got)
	}
	c.answer(toolResult("PC1", "PC1> set pcname desk\n"))
	if r := c.next(); len(r.calls) != 0 || r.text != "Rejected by ann. Nothing was executed.\n- PC1: done." {
		t.Errorf("got %q", r.text)
	}
}

// What is to be read after a change is read when it was made, even if it was read before; and not when it wasn't.
func TestReadingAfterAChange(t *testing.T) {
	const say = "show ip interface brief on R1, then configure loopback0 10.9.9.9/32 on R1, then show ip interface brief on R1"
	for _, made := range []bool{true, false} {
		c := inLab(say)
		if got := calls(t, c.next()); got != "R1: show ip interface brief" {
			t.Fatalf("got %s", got)
		}
		c.answer(toolResult("R1", iosBrief))
		if got := calls(t, c.next()); got != "config R1: interface Loopback0 | ip address 10.9.9.9 255.255.255.255" {
			t.Fatalf("got %s", got)
		}
		want := ""
		if made {
			want = "R1: show ip interface brief"
			c.answer(toolResult("R1", transcript+difference))
		} else {
			c.answer(undecided(t, configTool, "rejected", "Rejected by ann. Nothing was executed.", "R1"))
		}
		if got := calls(t, c.next()); got != want {
			t.Fatalf("made: %t, got %s", made, got)
		}
		if made {
			c.answer(toolResult("R1", strings.ReplaceAll(iosBrief, "10.255.0.1", "10.9.9.9  ")))
			if r := c.next(); len(r.calls) != 0 || !strings.HasSuffix(r.text, "- R1: Loopback0 10.9.9.9 (up/up)") {
				t.Errorf("got %q", r.text)
			}
		}
	}
}
