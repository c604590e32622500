package activities

import (
	"path/filepath"
	"strings"
	"testing"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// TestWhatWasBegunIsSaid: when a turn comes to its end without having pushed a call, although an earlier run of it had, as after an
// operator's reset, the call's result is what the journal knows, and the earlier sender is fenced off.
func TestWhatWasBegunIsSaid(t *testing.T) {
	db, err := store.Open(store.Options{URL: filepath.Join(t.TempDir(), "copilot.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	ref := schema.TurnRef{TurnID: "t", SessionKey: "k", SessionID: "s", UserID: "u", ProjectID: "p"}
	in := schema.CloseCallsInput{TurnRef: ref, Step: 1, Closing: schema.ClosingAborted}
	call := schema.Call{ID: "c", Name: "execute_multiple_device_config_commands"}
	if _, ok, err := begun(t.Context(), db, in, call); ok || err != nil {
		t.Fatalf("nothing was begun: %v %v", ok, err)
	}
	preview := &schema.Preview{Devices: []schema.PreviewDevice{{Name: "R1"}, {Name: "R2"}}}
	if err := db.AddApprovals(t.Context(), []store.Approval{{TurnID: "t", ToolCallID: "c", Step: 1, Preview: preview}}); err != nil {
		t.Fatal(err)
	}
	if err := db.ClaimRun(t.Context(), ref, "c", store.Claim{Kind: store.KindDevice, Device: "R1", NodeID: "n1", Lines: []string{"one", "two"}}); err != nil {
		t.Fatal(err)
	}
	if err := db.AckLine(t.Context(), ref, "c", "R1", 0); err != nil {
		t.Fatal(err)
	}
	r, ok, err := begun(t.Context(), db, in, call)
	if err != nil || !ok || len(r.Data) != 2 || r.Status != schema.OutcomeAborted {
		t.Fatalf("%+v %v %v", r, ok, err)
	}
	if it := r.Data[0]; it.Outcome != "unknown" || !strings.Contains(it.Error, "1 of 2 lines") {
		t.Errorf("R1: %+v", it)
	}
	if it := r.Data[1]; it.Outcome != "nothing" {
		t.Errorf("R2: %+v", it)
	}
	if err := db.AckLine(t.Context(), ref, "c", "R1", 1); schema.CodeOf(err) != schema.CodeConflict {
		t.Errorf("the earlier sender goes on: %v", err)
	}
}
