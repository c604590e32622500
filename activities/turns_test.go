package activities

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/progress"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"
)

// newTurns works on a real database and a real event stream.
func newTurns(t *testing.T) *Turns {
	t.Helper()
	s, err := server.NewServer(&server.Options{JetStream: true, StoreDir: t.TempDir(), DontListen: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("NATS isn't ready")
	}
	log := slog.New(slog.DiscardHandler)
	bus, err := progress.Connect(t.Context(), progress.Options{InProcess: s, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	secrets, err := vault.Open(t.Context(), bus.JetStream(), vault.Key{1})
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(store.Options{URL: filepath.Join(t.TempDir(), "turns.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &Turns{Store: db, Bus: bus, Vault: secrets, Log: log}
}

// TestATurnThatCouldNotBeStored is ended for its readers all the same, with what it failed for.
func TestATurnThatCouldNotBeStored(t *testing.T) {
	turns := newTurns(t)
	ref := schema.TurnRef{TurnID: uuid.NewString(), SessionKey: uuid.NewString(), SessionID: "s", ProjectID: uuid.NewString(), UserID: "u"}
	failure := schema.Failure{Code: schema.CodeUnavailable, Message: "The database can't be used.", Hint: "Try again."}
	if err := turns.FinishTurn(t.Context(), schema.FinishTurnInput{
		TurnRef: ref, State: schema.TurnFailed, StopReason: schema.StopError, Failure: &failure,
	}); err != nil {
		t.Fatal(err)
	}
	reader, err := turns.Bus.Follow(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, want := range []schema.EventType{schema.EventError, schema.EventDone} {
		item, err := reader.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev := item.Event; ev.Type != want || (want == schema.EventError && ev.Error != failure.Message) || (want == schema.EventDone && ev.StopReason != schema.StopError) {
			t.Errorf("want %s, got %+v", want, ev)
		}
	}
}

// TestALimitIsToldOnce, however often the books are closed: a worker may die behind any step of it.
func TestALimitIsToldOnce(t *testing.T) {
	turns := newTurns(t)
	ref := schema.TurnRef{TurnID: uuid.NewString(), SessionID: "s", ProjectID: uuid.NewString(), UserID: "u"}
	ref.SessionKey = store.SessionKey(ref.UserID, ref.ProjectID, ref.SessionID)
	if _, err := turns.BeginTurn(t.Context(), schema.BeginTurnInput{RunID: "run", TurnInput: schema.TurnInput{TurnRef: ref, Message: "hello"}}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := turns.FinishTurn(t.Context(), schema.FinishTurnInput{
			TurnRef: ref, State: schema.TurnDone, StopReason: schema.StopTokens, Steps: 1,
			Limit: &schema.LimitReached{Reason: schema.StopTokens, Used: 1_050_000, Limit: 1_000_000},
		}); err != nil {
			t.Fatal(err)
		}
	}
	const note = "I stopped after 1,050,000 of 1,000,000 tokens, which is what one message may take. Ask me to go on if you want more."
	kept, err := turns.Store.Conversation(t.Context(), ref)
	if err != nil || len(kept) != 2 || kept[1].Content != note {
		t.Errorf("kept: %+v %v", kept, err)
	}
	reader, err := turns.Bus.Follow(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	said := ""
	for {
		item, err := reader.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		said += item.Event.Content
		if item.Event.Type == schema.EventDone {
			break
		}
	}
	if said != note {
		t.Errorf("said: %q", said)
	}
}
