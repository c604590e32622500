package dev_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

const noConsole = "Permission denied (privilege Node.Console is required)"

// inRole is the student in another role until the test ends, with a token of its own: what is remembered of others doesn't count.
func inRole(t *testing.T, role string, life time.Duration) user {
	t.Helper()
	u := login(t, "student")
	token, err := suite.lab.Token("student", life)
	if err != nil {
		t.Fatal(err)
	}
	u.SetToken(token)
	setRole(t, role)
	t.Cleanup(func() { setRole(t, simlab.RoleUser) })
	return u
}

func setRole(t *testing.T, role string) {
	t.Helper()
	if err := suite.lab.SetRole("student", role); err != nil {
		t.Fatal(err)
	}
}

// typed is all that the student's devices were sent.
func typed() string {
	text := ""
	for _, device := range []string{"R1", "R2", "PC1", "PC2"} {
		text += device + ": " + strings.Join(suite.lab.Lines(simlab.StudentProject+"/"+device), " | ") + "\n"
	}
	return text
}

func TestWhoMayNotUseConsolesReadsNoDevice(t *testing.T) {
	u, session := inRole(t, simlab.RoleAuditor, 5*time.Hour), newSession()
	before := typed()
	suite.model.On("read what I may not",
		call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "R1", "commands": ["show version"]}, {"device_name": "NOPE", "commands": ["show version"]}]}`),
		call("execute_vpcs_commands", `{"device_configs": [{"device_name": "PC1", "commands": ["show ip"]}]}`),
		call("gns3_topology_reader", `{}`), text("so it is"))
	all := results(t, u.say(session, "read what I may not"))
	var refused, read int
	for _, r := range all {
		for _, item := range r.Data {
			switch {
			case strings.Contains(item.Error, noConsole):
				refused++
			case strings.Contains(item.Error, `no device "NOPE"`):
			case r.Success && r.Metadata.ToolName != "execute_multiple_device_commands":
				read++
			default:
				t.Errorf("%+v", item)
			}
		}
	}
	if len(all) != 3 || refused != 2 || read == 0 {
		t.Errorf("%d refused, %d read: %+v", refused, read, all)
	}
	if now := typed(); now != before {
		t.Errorf("before:\n%s\nnow:\n%s", before, now)
	}
	setRole(t, simlab.RoleUser) // a no isn't remembered
	suite.model.On("read what I may", call("execute_multiple_device_commands", `{"device_configs": [{"device_name": "R1", "commands": ["show version"]}]}`), text("so it is"))
	for _, r := range results(t, u.say(session, "read what I may")) {
		if !r.Success {
			t.Errorf("%+v", r)
		}
	}
}

// The one who confirms may have the right; the lines go out in the name of the one whose turn it is, by then without it.
func TestWhoMayNotUseConsolesChangesNoDevice(t *testing.T) {
	u, session := inRole(t, simlab.RoleUser, 6*time.Hour), newSession()
	for _, tool := range []struct{ name, arguments string }{
		{configTool, configure("R2", "interface Loopback77", "description never to be seen")},
		{"execute_vpcs_commands", `{"device_configs": [{"device_name": "PC2", "commands": ["ip 172.16.2.77/24 172.16.2.1"]}]}`},
	} {
		setRole(t, simlab.RoleUser)
		before := typed()
		s, asked := propose(t, u, session, "change it with "+tool.name, call(tool.name, tool.arguments), text("I see"))
		setRole(t, simlab.RoleAuditor)
		if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
			t.Fatal(err)
		}
		r := results(t, until(t, s, isType(schema.EventDone)))[last(asked).PendingTools[0].ToolCallID]
		if r.Success || len(r.Data) != 1 || !strings.Contains(r.Data[0].Error, noConsole) {
			t.Errorf("%s: %+v", tool.name, r)
		}
		if now := typed(); now != before {
			t.Errorf("before:\n%s\nnow:\n%s", before, now)
		}
	}
	changes, err := u.Changes(t.Context(), u.project, session)
	if err != nil || len(changes) != 2 {
		t.Fatalf("%+v %v", changes, err)
	}
	for _, c := range changes {
		if b, _ := json.Marshal(c); c.State != "failed" || c.Acked != 0 || !strings.Contains(string(b), noConsole) {
			t.Errorf("%s", b)
		}
	}
}
