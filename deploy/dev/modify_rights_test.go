package dev_test

import (
	"encoding/json"
	"testing"

	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// TestWhoMayOnlyLookWritesNothing lets a fellow, who may look at the shared project alone, put other lines in the place of a student's: they
// would run with the student's rights. The fellow's rejection counts; with the right to the consoles the modification does, too.
func TestWhoMayOnlyLookWritesNothing(t *testing.T) {
	lab := startLab(t, simlab.Options{Class: true, Roles: map[string]string{"fellow": simlab.RoleAuditor}})
	o := options(t.TempDir())
	o.GNS3URL = lab.URL()
	stack := startWith(t, o)
	join := func(name string) user {
		u := loginAt(t, stack.URL(), name)
		projects, err := u.Projects(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range projects {
			if p.Name == simlab.SharedProject {
				u.project = p.ID
			}
		}
		return u
	}
	student, fellow, session := join("student"), join("fellow"), newSession()
	written := configure("R1", "interface Loopback7", "description written by who may only look")
	var args map[string]any
	if err := json.Unmarshal([]byte(written), &args); err != nil {
		t.Fatal(err)
	}
	ask := func(message string) (schema.ModifyRequest, func()) {
		stream, asked := propose(t, student, session, message, call(configTool, configure("R1", "interface Loopback7", "description asked for")), text("I see"))
		return schema.ModifyRequest{ToolCallID: last(asked).PendingTools[0].ToolCallID, ModifiedArgs: args},
			func() { until(t, stream, isType(schema.EventDone)) }
	}

	change, ended := ask("let others look " + session)
	if _, err := fellow.Modify(t.Context(), fellow.project, session, change); schema.CodeOf(err) != schema.CodeForbidden {
		t.Errorf("a modification by who may only look: %v", err)
	}
	if _, err := fellow.Reject(t.Context(), fellow.project, session, schema.RejectRequest{RejectAll: true}); err != nil {
		t.Errorf("a rejection: %v", err)
	}
	ended()

	if err := lab.SetRole("fellow", simlab.RoleUser); err != nil {
		t.Fatal(err)
	}
	change, ended = ask("let others write " + session)
	if _, err := fellow.Modify(t.Context(), fellow.project, session, change); err != nil {
		t.Errorf("a modification by who may use the consoles: %v", err)
	}
	ended()
}
