package activities

import (
	"log/slog"
	"testing"

	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
)

// TestAFailoverIsToldOnce, by whichever attempt comes so far: the first may fail before it has told anything.
func TestAFailoverIsToldOnce(t *testing.T) {
	turns := newTurns(t)
	models := &Models{Store: turns.Store, Bus: turns.Bus, Log: slog.New(slog.DiscardHandler)}
	ref := schema.TurnRef{TurnID: uuid.NewString(), SessionID: "s", ProjectID: uuid.NewString(), UserID: "u"}
	ref.SessionKey = store.SessionKey(ref.UserID, ref.ProjectID, ref.SessionID)
	if _, err := turns.BeginTurn(t.Context(), schema.BeginTurnInput{RunID: "run", TurnInput: schema.TurnInput{TurnRef: ref, Message: "hello"}}); err != nil {
		t.Fatal(err)
	}
	in := schema.CallModelInput{TurnRef: ref, Step: 1, Model: 1, Run: 1, Failed: &schema.Failure{Code: schema.CodeModelAuth, Message: "No."}}
	for _, attempt := range []int{2, 3} {
		if err := models.takeOver(t.Context(), in, chosen{ModelSettings: ModelSettings{Name: "the second"}}, attempt); err != nil {
			t.Fatal(err)
		}
	}
	if err := turns.FinishTurn(t.Context(), schema.FinishTurnInput{TurnRef: ref, State: schema.TurnDone, StopReason: schema.StopComplete, Steps: 1}); err != nil {
		t.Fatal(err)
	}
	reader, err := turns.Bus.Follow(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var told []schema.Event
	for done := false; !done; {
		item, err := reader.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if item.Event.Type == schema.EventFailover {
			told = append(told, item.Event)
		}
		done = item.Event.Type == schema.EventDone
	}
	if len(told) != 1 || told[0].Model != "the second" || told[0].Code != schema.CodeModelAuth || told[0].Reason != "No." {
		t.Errorf("told %+v", told)
	}
}
