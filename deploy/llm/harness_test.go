//go:build llm

package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"gns3copilot/apiserver"
	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/stack"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// suite is our stack with the simulated lab and the real model, shared by the tests.
var suite struct {
	*client.Client
	project   string
	serverLog string // where the model's server says what it does
}

func TestMain(m *testing.M) {
	code, err := runSuite(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the model can't be used (see README.md in this folder):", err)
		code = 1
	}
	os.Exit(code)
}

func runSuite(m *testing.M) (code int, err error) {
	model, err := served()
	if err != nil {
		return 1, err
	}
	data, err := os.MkdirTemp("", "gns3-copilot-llm-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(data)
	ctx := context.Background()
	running, err := dev.Start(ctx, dev.Options{
		Listen: "127.0.0.1:0", Data: data, Namespace: "default", Worker: stack.WorkerOptions{Models: []stack.Model{model}},
		Limits: apiserver.Limits{Mode: schema.ModeAutomation, Steps: 20, InjectionSteps: 50, StopBelow: 4, CredentialWait: time.Hour, ApprovalWait: 5 * time.Minute},
		Say:    os.Stderr, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "llm",
	})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	suite.Client = client.New(running.URL(), nil)
	if err := suite.Login(ctx, "admin", "admin"); err != nil {
		return 1, err
	}
	projects, err := suite.Projects(ctx)
	if err != nil || len(projects) == 0 {
		return 1, fmt.Errorf("no project: %w", err)
	}
	suite.project = projects[0].ID
	return m.Run(), nil
}

// served is the model that with-llm serves.
func served() (stack.Model, error) {
	suite.serverLog = os.Getenv("COPILOT_TEST_MODEL_LOG")
	if suite.serverLog == "" {
		return stack.Model{}, errors.New("COPILOT_TEST_MODEL_LOG is not set; run the tests by with-llm")
	}
	limit, err := strconv.Atoi(os.Getenv("COPILOT_MODEL_CONTEXT_LIMIT"))
	if err != nil {
		return stack.Model{}, fmt.Errorf("COPILOT_MODEL_CONTEXT_LIMIT: %w", err)
	}
	return stack.Model{
		ID: schema.ServerModels, Name: "served model", Provider: os.Getenv("COPILOT_MODEL_PROVIDER"), BaseURL: os.Getenv("COPILOT_MODEL_BASE_URL"),
		Model: os.Getenv("COPILOT_MODEL"), ContextLimit: limit, ContextStrategy: schema.ContextBalanced,
	}, nil
}

// turn is what a reader saw of one, with the moments of what came.
type turn struct {
	session string
	stream  *client.Stream
	events  []client.Received
	asked   time.Time
	first   time.Time // the first content
}

// post begins a turn. The model takes long, and a broken turn shouldn't hang the suite.
func post(t *testing.T, in schema.ChatRequest) *turn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	if in.SessionID == "" {
		in.SessionID = uuid.NewString()
	}
	asked := time.Now()
	s, err := suite.Post(ctx, suite.project, in, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &turn{session: in.SessionID, stream: s, asked: asked}
}

// until reads events up to the first one that fits.
func (u *turn) until(t *testing.T, fits func(client.Received) bool) {
	t.Helper()
	for {
		ev, err := u.stream.Next()
		if err != nil {
			t.Fatalf("the stream ended after %d events: %v", len(u.events), err)
		}
		u.events = append(u.events, ev)
		if ev.Type == schema.EventContent && u.first.IsZero() {
			u.first = time.Now()
		}
		if fits(ev) {
			return
		}
	}
}

func isType(want schema.EventType) func(client.Received) bool {
	return func(ev client.Received) bool { return ev.Type == want }
}

// say runs a whole turn.
func say(t *testing.T, in schema.ChatRequest) *turn {
	t.Helper()
	u := post(t, in)
	u.until(t, isType(schema.EventDone))
	pieces := len(u.of(schema.EventContent))
	if pieces > 1 {
		t.Logf("first content after %v, then %.0f pieces/s", u.first.Sub(u.asked).Round(10*time.Millisecond), float64(pieces-1)/time.Since(u.first).Seconds())
	}
	return u
}

func (u *turn) of(kind schema.EventType) (found []client.Received) {
	for _, ev := range u.events {
		if ev.Type == kind {
			found = append(found, ev)
		}
	}
	return found
}

func (u *turn) said() string {
	var b strings.Builder
	for _, ev := range u.of(schema.EventContent) {
		b.WriteString(ev.Content)
	}
	return b.String()
}

// done is the turn's last event; the test fails if the turn ended for another reason than this.
func (u *turn) done(t *testing.T, want schema.StopReason) client.Received {
	t.Helper()
	last := u.events[len(u.events)-1]
	if last.Type != schema.EventDone || last.StopReason != want {
		t.Fatalf("the turn ended with %+v, errors %+v", last.Event, u.of(schema.EventError))
	}
	return last
}
