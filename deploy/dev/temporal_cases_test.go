package dev_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	temporal "go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
)

// The tests of this file are named after published reports of what went wrong elsewhere when agents were built on Temporal.

// historyOf reads what Temporal has of a session's one turn so far.
func historyOf(t *testing.T, c temporal.Client, session string) *historypb.History {
	t.Helper()
	id := awaitRun(t, c, listOf(session))
	return runHistory(t, c, id.GetWorkflowId(), id.GetRunId())
}

// runHistory is historyOf for a workflow's run; without a run's id the newest.
func runHistory(t *testing.T, c temporal.Client, workflowID, runID string) *historypb.History {
	t.Helper()
	history := &historypb.History{}
	events := c.GetWorkflowHistory(t.Context(), workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		ev, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		history.Events = append(history.Events, ev)
	}
	return history
}

// counted is how many events of each type a history has.
func counted(h *historypb.History) map[enumspb.EventType]int {
	n := map[enumspb.EventType]int{}
	for _, ev := range h.Events {
		n[ev.GetEventType()]++
	}
	return n
}

// TestE2E9TheLongestTurn: a turn that takes all it may stays far from what Temporal allows a history, so that no turn is ever continued as a
// new run, in which a word could get lost.
func TestE2E9TheLongestTurn(t *testing.T) {
	const (
		rounds     = 17
		mostCalls  = 128 // of one answer
		mostEvents = 51_200
	)
	calls := 32
	if testing.Short() {
		calls = 4
	}
	u, session := login(t, "admin"), newSession()
	var steps []scriptmodel.Step
	for range rounds {
		steps = append(steps, func(r *scriptmodel.Reply) {
			for range calls {
				r.Call("gns3_topology_reader", `{}`)
			}
		})
	}
	suite.model.On("all that is allowed", steps...)
	s := u.post(session, "all that is allowed")
	done := last(until(t, s, isType(schema.EventDone)))
	if done.StopReason != schema.StopSteps || done.Usage.ToolCalls != rounds*calls {
		t.Fatalf("%+v", done.Event)
	}
	c := operatorOf(t, suite.stack)
	var history *historypb.History
	await(t, "the run has completed", func() bool {
		history = historyOf(t, c, session)
		return counted(history)[enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED] == 1
	})
	n := len(history.Events)
	t.Logf("%d events, %d bytes for %d calls", n, proto.Size(history), rounds*calls)
	if whole := n * mostCalls / calls; whole > mostEvents/2 {
		t.Errorf("%d events for %d calls: %d in the longest turn", n, rounds*calls, whole)
	}
}

// TestE2WaitingCostsNothing: however long a human thinks, and whoever looks meanwhile, the history doesn't grow.
func TestE2WaitingCostsNothing(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	s, _ := propose(t, u, session, "e2 waiting", call(configTool, configure("R1", "interface Loopback83")), text("ok"))
	c := operatorOf(t, suite.stack)
	await(t, "nothing runs any more", func() bool {
		n := counted(historyOf(t, c, session))
		return n[enumspb.EVENT_TYPE_TIMER_STARTED] == 1 &&
			n[enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED] == n[enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED] &&
			n[enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED] == n[enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED]
	})
	before := len(historyOf(t, c, session).Events)
	for range 20 {
		if _, err := u.HITLStatus(t.Context(), u.project, session); err != nil {
			t.Fatal(err)
		}
		u.history(session)
		again := u.attach(session, "")
		until(t, again, isType(schema.EventHITLRequired))
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after := len(historyOf(t, c, session).Events); after != before {
		t.Errorf("%d events became %d", before, after)
	}
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Fatal(err)
	}
	until(t, s, isType(schema.EventDone))
}

// TestE3E6ManyDevices asks twenty devices at once that print much.
func TestE3E6ManyDevices(t *testing.T) {
	const devices, commands, output = 20, 8, 40 << 10
	lab := startLab(t, simlab.Options{Devices: devices})
	noise := strings.Repeat(strings.Repeat("x", 79)+"\n", output/80)
	for i := range devices {
		if err := lab.SetFault(fmt.Sprint("L", i+1), simlab.Fault{Noise: noise}); err != nil {
			t.Fatal(err)
		}
	}
	everywhere := func(times int) scriptmodel.Step {
		var configs []string
		for i := range devices {
			configs = append(configs, fmt.Sprintf(`{"device_name": "L%d", "commands": ["show clock"%s]}`, i+1, strings.Repeat(`, "show clock"`, times-1)))
		}
		return call(commandsTool, `{"device_configs": [`+strings.Join(configs, ",")+`]}`)
	}
	s := startOwn(t, func(o *dev.Options) { o.GNS3URL = lab.URL() })
	c := operatorOf(t, s.Stack)
	u := loginAt(t, s.URL(), "admin")
	projects, err := u.Projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u.project = projects[slices.IndexFunc(projects, func(p schema.Project) bool { return p.Name == simlab.LoadProject })].ID

	// Results are no part of what Temporal keeps, however large they are, and not in the way of an abort.
	t.Run("E3 large results", func(t *testing.T) {
		u, session := user{u.Client, t, u.project}, newSession()
		suite.model.On("e3", everywhere(commands), text("ok"))
		r := toolResult(t, u.say(session, "e3"))
		if !r.Success || r.Total != devices {
			t.Fatalf("%d of %d: %s", r.Successful, r.Total, r.Error)
		}
		id := *u.history(session).Messages[2].ToolCallID
		w := u.open(s.URL(), http.MethodGet, chatPath(u.project, "/sessions/"+session+"/tool-outputs/"+id), "")
		if whole, err := io.ReadAll(w.r); err != nil || len(whole) < devices*commands*output {
			t.Errorf("the whole result has %d bytes: %v", len(whole), err)
		}
		if n := proto.Size(historyOf(t, c, session)); n > 32<<10 {
			t.Errorf("Temporal keeps %d bytes", n)
		}
		session = newSession()
		events := abortAt(t, u, session, "e3", isType(schema.EventDeviceProgress))
		checkAborted(t, u, session, events)
	})

	// Heartbeats go on until the slowest device is done and the results are put together.
	t.Run("E6 one slow device", func(t *testing.T) {
		if testing.Short() {
			t.Skip("slow")
		}
		u, session := user{u.Client, t, u.project}, newSession()
		if err := lab.SetFault("L7", simlab.Fault{Noise: noise, Slow: 8 * time.Second}); err != nil { // longer than a heartbeat may be missing
			t.Fatal(err)
		}
		suite.model.On("e6", everywhere(1), text("ok"))
		if r := toolResult(t, u.say(session, "e6")); !r.Success {
			t.Errorf("%d of %d: %s", r.Successful, r.Total, r.Error)
		}
		for _, ev := range historyOf(t, c, session).Events {
			if a := ev.GetActivityTaskStartedEventAttributes(); a.GetAttempt() > 1 || ev.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT {
				t.Errorf("%v", ev)
			}
		}
	})
}

// TestE4AbortOfASilentModel: an abort ends a model call in which nothing happens, before its first word and after it. The connection to
// the model is closed, or the test hangs.
func TestE4AbortOfASilentModel(t *testing.T) {
	for name, begins := range map[string]bool{"before the first word": false, "after the first word": true} {
		t.Run(name, func(t *testing.T) {
			u, session := login(t, "admin"), newSession()
			asked, hungUp := make(chan struct{}), make(chan struct{})
			suite.model.On(name, func(r *scriptmodel.Reply) {
				if begins {
					r.Say("Well,")
				}
				close(asked)
				r.Hold(nil)
				close(hungUp)
			})
			s := u.post(session, name)
			<-asked
			if err := u.Abort(t.Context(), u.project, session); err != nil {
				t.Fatal(err)
			}
			<-hungUp
			checkAborted(t, u, session, until(t, s, isType(schema.EventDone)))
		})
	}
}

// TestE13TemporalHasForgotten: a conversation is ours. It can be read, followed and carried on when Temporal knows nothing of it any more.
func TestE13TemporalHasForgotten(t *testing.T) {
	if testing.Short() {
		t.Skip("Temporal takes its time to forget")
	}
	u, session := login(t, "admin"), newSession()
	suite.model.On("e13", call("gns3_topology_reader", `{}`), text("so it is"))
	events := u.say(session, "e13")
	before := u.history(session)
	c := operatorOf(t, suite.stack)
	id := awaitRun(t, c, listOf(session))
	if _, err := c.WorkflowService().DeleteWorkflowExecution(t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: id,
	}); err != nil {
		t.Fatal(err)
	}
	await(t, "the workflow is gone", func() bool {
		_, err := c.DescribeWorkflow(t.Context(), id.GetWorkflowId(), "")
		return errors.As(err, new(*serviceerror.NotFound))
	})
	if h := u.history(session); !reflect.DeepEqual(h, before) || len(h.Messages) != 4 {
		t.Errorf("%+v", h)
	}
	sessions, err := u.Sessions(t.Context(), u.project)
	if err != nil || !slices.ContainsFunc(sessions, func(s schema.ChatSession) bool { return s.ThreadID == session && s.MessageCount == 3 }) {
		t.Errorf("not listed: %v", err)
	}
	if got := u.collect(session, ""); ids(got) != ids(events) {
		t.Errorf("its events: %s", types(got))
	}
	if got := u.collect(session, events[1].ID); ids(got) != ids(events[2:]) {
		t.Errorf("its events again: %s", types(got))
	}
	if err := u.Abort(t.Context(), u.project, session); err != nil {
		t.Error(err)
	}
	suite.model.On("e13 later", text("fine"))
	if next := u.say(session, "e13 later"); said(next) != "fine" {
		t.Errorf("the next message: %s", types(next))
	}
}

// TestE14InTheMomentOfTheEnd: words that come while a turn ends are answered like words after it, and don't reach the next turn.
func TestE14InTheMomentOfTheEnd(t *testing.T) {
	u, session := login(t, "admin"), newSession()
	suite.model.On("e14 short", text("yes"))
	for range 20 {
		if events := u.say(session, "e14 short"); last(events).StopReason != schema.StopComplete {
			t.Fatalf("%s", types(events))
		}
		if err := u.Abort(t.Context(), u.project, session); err != nil {
			t.Fatal(err)
		}
		_, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true})
		if schema.CodeOf(err) != schema.CodeMalformed { // nothing has waited in this turn
			t.Fatalf("a word about nothing: %v", err)
		}
	}
}

// TestE15LostReply: a client that never hears whether its message was taken can send it again: with its key it gets the one turn, without it
// is told that the turn runs. Either way the message is answered once.
func TestE15LostReply(t *testing.T) {
	for name, key := range map[string]string{"with a key": newSession(), "without": ""} {
		t.Run(name, func(t *testing.T) {
			u, session := login(t, "admin"), newSession()
			release, asked := make(chan struct{}), make(chan struct{})
			suite.model.On("e15 "+name, func(r *scriptmodel.Reply) { close(asked); r.Hold(release); r.Say("once") })
			ctx, cancel := context.WithCancel(u.bounded())
			defer cancel()
			in := schema.ChatRequest{Message: "e15 " + name, SessionID: session}
			lost := make(chan error, 1)
			go func() {
				s, err := u.Post(ctx, u.project, in, key)
				if err == nil {
					err = s.Close()
				}
				lost <- err
			}()
			<-asked
			cancel()
			<-lost
			again, err := u.Post(u.bounded(), u.project, in, key)
			if key == "" {
				if schema.CodeOf(err) != schema.CodeTurnRunning {
					t.Errorf("%v", err)
				}
				again, err = u.Events(u.bounded(), u.project, session, "")
			}
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			close(release)
			if events := until(t, again, isType(schema.EventDone)); said(events) != "once" {
				t.Errorf("%s %q", types(events), said(events))
			}
			if h := u.history(session); len(h.Messages) != 2 {
				t.Errorf("%+v", h.Messages)
			}
		})
	}
}

// TestE17NoSecretsInTemporal looks for what nobody should find in a history: the model's key, the user's token, and a password that goes to
// a device and comes back from it.
func TestE17NoSecretsInTemporal(t *testing.T) {
	const key, password = "sk-e17-of-the-model", "e17-of-the-device"
	s := startOwn(t, func(o *dev.Options) { o.Worker.Models[0].APIKey = key })
	u, session := loginAt(t, s.URL(), "admin"), newSession()
	stream, _ := propose(t, u, session, "e17", call(configTool, configure("R1", "username e17 password "+password)),
		call(commandsTool, `{"device_configs": [{"device_name": "R1", "commands": ["show running-config"]}]}`), text("it is "+password))
	if _, err := u.Confirm(t.Context(), u.project, session, schema.ConfirmRequest{ConfirmAll: true}); err != nil {
		t.Fatal(err)
	}
	events := until(t, stream, isType(schema.EventDone))
	if last(events).StopReason != schema.StopComplete || sent("R1", "username e17 password "+password) != 1 {
		t.Fatalf("%s", types(events))
	}
	history := historyOf(t, operatorOf(t, s.Stack), session)
	kept, err := proto.Marshal(history)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(kept, []byte(session)) {
		t.Fatal("the search finds nothing at all")
	}
	for name, secret := range map[string]string{"the model's key": key, "the user's token": u.Token(), "the device's password": password} {
		if bytes.Contains(kept, []byte(secret)) {
			t.Errorf("%s is in the history", name)
		}
	}
	// A failure repeats one call, never the loop: each is an activity of its own.
	n := map[string]int{}
	for _, ev := range history.Events {
		if a := ev.GetActivityTaskScheduledEventAttributes(); a != nil {
			n[a.GetActivityType().GetName()]++
		}
	}
	if n[schema.ActivityCallModel] != 3 || n[schema.ActivityRunTool] != 1 || n[schema.ActivityPushDevice] != 1 {
		t.Errorf("%v", n)
	}
}
