//go:build record

package dev_test

import (
	"path/filepath"
	"testing"

	"gns3copilot/schema"
)

// TestRecordLabChanges keeps the histories of a lab that is built, of one whose change is confirmed, and of one whose change is aborted.
func TestRecordLabChanges(t *testing.T) {
	dir := "../../workflows/testdata/histories"
	u, session := login(t, "admin"), newSession()
	u.ownLab("Recorded " + session)
	u.build(session)
	record(t, suite.stack.TemporalAddress(), session, filepath.Join(dir, "lab-built.json"))

	session = newSession()
	u.decideLab(session, "stop_gns3_node", `{"node_ids": ["A", "B"]}`, func() bool { return true })
	record(t, suite.stack.TemporalAddress(), session, filepath.Join(dir, "lab-change-confirmed.json"))

	session = newSession()
	s, _ := propose(t, u, session, "abort "+session, call("delete_gns3_node", `{"node_ids": ["A"]}`), text("done"))
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))
	record(t, suite.stack.TemporalAddress(), session, filepath.Join(dir, "lab-change-aborted.json"))
}
