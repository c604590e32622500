package dev_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"gns3copilot/apiserver"
	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/deploy/stack"
	"gns3copilot/schema"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	temporal "go.temporal.io/sdk/client"
	"go.uber.org/goleak"
)

// The suite shares one stack: a real Temporal server, a real event stream, SQLite, the simulated lab over real HTTP and telnet. Only the
// model's words are made up. Tests keep apart by their sessions and by what the user says.
var suite struct {
	stack *dev.Stack
	model *scriptmodel.Server
	lab   *simlab.Lab
}

// forsaken is how long a project of the suite's lab with auto_close waits for another listener.
const forsaken = time.Second

func TestMain(m *testing.M) {
	code, err := runSuite(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "dev suite:", err)
		code = 1
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func runSuite(m *testing.M) (code int, err error) {
	data, err := os.MkdirTemp("", "gns3-copilot-test-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(data)
	ctx := context.Background()
	suite.model = scriptmodel.Start()
	defer suite.model.Close()
	if suite.lab, err = simlab.Start(ctx, simlab.Options{AutoClose: forsaken}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, suite.lab.Close()) }()
	if suite.stack, err = dev.Start(ctx, options(data)); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, suite.stack.Stop()) }()
	return m.Run(), nil
}

func options(data string) dev.Options {
	return dev.Options{
		Listen: "127.0.0.1:0", Data: data, GNS3URL: suite.lab.URL(), GNS3User: "admin", GNS3Password: "admin", Namespace: "default",
		Worker: stack.WorkerOptions{Models: []stack.Model{{ID: schema.ServerModels, Name: "scripted model", BaseURL: suite.model.BaseURL(), Model: "scripted", ContextLimit: 128, ContextStrategy: schema.ContextBalanced}}},
		Limits: apiserver.Limits{Mode: schema.ModeAutomation, Steps: 20, InjectionSteps: 50, StopBelow: 4, CredentialWait: time.Hour, ApprovalWait: 5 * time.Minute},
		Say:    os.Stderr, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "test",
	}
}

// user is a logged-in user of the suite's stack with a project.
type user struct {
	*client.Client
	t       *testing.T
	project string
}

func login(t *testing.T, name string) user {
	t.Helper()
	return loginAt(t, suite.stack.URL(), name)
}

func loginAt(t *testing.T, url, name string) user {
	t.Helper()
	u := user{Client: client.New(url, nil), t: t}
	if err := u.Login(t.Context(), name, name); err != nil {
		t.Fatal(err)
	}
	projects, err := u.Projects(t.Context())
	if err != nil || len(projects) == 0 {
		t.Fatalf("projects of %s: %v %v", name, projects, err)
	}
	u.project = projects[0].ID
	return u
}

// say runs a whole turn and gives its events.
func (u user) say(session, message string) []client.Received {
	u.t.Helper()
	return u.request(schema.ChatRequest{Message: message, SessionID: session})
}

// request is say with all that a message can come with.
func (u user) request(r schema.ChatRequest) []client.Received {
	u.t.Helper()
	var events []client.Received
	err := u.Turn(u.bounded(), u.project, r, "", func(ev client.Received) error {
		events = append(events, ev)
		return nil
	}, nil)
	if err != nil {
		u.t.Fatalf("turn %q: %v", r.Message, err)
	}
	return events
}

// post begins a turn and leaves its stream to the test.
func (u user) post(session, message string) *client.Stream {
	u.t.Helper()
	s, err := u.Post(u.bounded(), u.project, schema.ChatRequest{Message: message, SessionID: session}, "")
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { _ = s.Close() })
	return s
}

// bounded keeps a broken turn from hanging the suite.
func (u user) bounded() context.Context {
	ctx, cancel := context.WithTimeout(u.t.Context(), 2*time.Minute)
	u.t.Cleanup(cancel)
	return ctx
}

func (u user) history(session string) schema.ConversationHistory {
	u.t.Helper()
	h, err := u.History(u.t.Context(), u.project, session)
	if err != nil {
		u.t.Fatal(err)
	}
	return h
}

// until reads events up to the first one that fits.
func until(t *testing.T, s *client.Stream, fits func(client.Received) bool) []client.Received {
	t.Helper()
	var events []client.Received
	for {
		ev, err := s.Next()
		if err != nil {
			t.Fatalf("the stream ended before the awaited event: %v, after %s", err, types(events))
		}
		events = append(events, ev)
		if fits(ev) {
			return events
		}
	}
}

func isType(want schema.EventType) func(client.Received) bool {
	return func(ev client.Received) bool { return ev.Type == want }
}

// types is the events' order with repeated types put together, heartbeats, titles and notices left out: a title comes when it is made, and a
// notice says no more than the event before it.
func types(events []client.Received) string {
	var last schema.EventType
	text := ""
	for _, ev := range events {
		if ev.Type == last || ev.Type == schema.EventHeartbeat || ev.Type == schema.EventTitle || ev.Notice != "" {
			continue
		}
		last = ev.Type
		text += string(ev.Type) + " "
	}
	return text
}

// said is what the assistant says.
func said(events []client.Received) string {
	text := ""
	for _, ev := range events {
		if ev.Notice == "" {
			text += ev.Content
		}
	}
	return text
}

func last(events []client.Received) client.Received { return events[len(events)-1] }

func newSession() string { return uuid.NewString() }

func startStack(t *testing.T, ctx context.Context, data string) *dev.Stack {
	t.Helper()
	s, err := dev.Start(ctx, options(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// startWith runs a stack for as long as a test.
func startWith(t *testing.T, o dev.Options) *dev.Stack {
	t.Helper()
	stack, err := dev.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.Stop(); err != nil {
			t.Error(err)
		}
	})
	return stack
}

// startLab runs a lab of a test's own.
func startLab(t *testing.T, o simlab.Options) *simlab.Lab {
	t.Helper()
	lab, err := simlab.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	return lab
}

// listOf asks Temporal for a session's workflows.
func listOf(session string) *workflowservice.ListWorkflowExecutionsRequest {
	return &workflowservice.ListWorkflowExecutionsRequest{Namespace: "default", Query: schema.SearchSessionID + ` = "` + session + `"`}
}

// awaitRun waits until the query finds one workflow: Temporal lists what runs with a delay.
func awaitRun(t *testing.T, c temporal.Client, query *workflowservice.ListWorkflowExecutionsRequest) *commonpb.WorkflowExecution {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for {
		runs, err := c.ListWorkflow(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		if found := runs.GetExecutions(); len(found) == 1 {
			return found[0].GetExecution()
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no workflow is listed by %s", query.GetQuery())
		}
	}
}

// operatorOf is a client of a stack's Temporal.
func operatorOf(t *testing.T, s *dev.Stack) temporal.Client {
	t.Helper()
	c, err := temporal.DialContext(t.Context(), temporal.Options{HostPort: s.TemporalAddress()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// terminate ends a session's workflow as an operator does.
func terminate(t *testing.T, session string) {
	t.Helper()
	c := operatorOf(t, suite.stack)
	id := awaitRun(t, c, listOf(session))
	if err := c.TerminateWorkflow(t.Context(), id.GetWorkflowId(), id.GetRunId(), "test"); err != nil {
		t.Fatal(err)
	}
}

// raw sends a request as it is, with headers given as name and value in turn.
func (u user) raw(method, path, body string, withToken bool, headers ...string) (int, string) {
	u.t.Helper()
	if withToken {
		headers = append(headers, u.bearer()...)
	}
	a := u.ask(method, path, body, headers...)
	return a.status, a.text
}
