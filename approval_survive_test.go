package main

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
)

func TestApprovalWorkerKilledWhilePending(t *testing.T) {
	t.Parallel()
	p := startSite(t).propose("pending", "R1")
	p.first.Kill()
	p.waits()
	p.newWorker()
	p.waits()
	p.confirm()
	_, journal := p.finish(schema.ApprovalConfirmed)
	if c := journal["R1"]; c.State != "done" || c.Acked != 3 {
		t.Errorf("%s", describe(journal))
	}
}

// TestApprovalDecidedWithoutWorker takes a word while nobody can act on it: it is kept.
func TestApprovalDecidedWithoutWorker(t *testing.T) {
	t.Parallel()
	p := startSite(t).propose("no-worker", "R1")
	p.first.Kill()
	if reply := p.confirm(); reply.Status != "accepted" {
		t.Errorf("%+v", reply)
	}
	p.waits()
	p.newWorker()
	_, journal := p.finish(schema.ApprovalConfirmed)
	if c := journal["R1"]; c.State != "done" {
		t.Errorf("%s", describe(journal))
	}
}

// TestApprovalWorkerKilledAfterDecision kills the worker that has just acknowledged the word. How far it got by then is left open.
func TestApprovalWorkerKilledAfterDecision(t *testing.T) {
	t.Parallel()
	p := startSite(t).propose("decided", "R1")
	if reply := p.confirm(); reply.Status != "confirmed" {
		t.Errorf("%+v", reply)
	}
	p.first.Kill()
	p.newWorker()
	items, journal := p.finish(schema.ApprovalConfirmed)
	if c := journal["R1"]; (c.State == "done") != (items["R1"].Status == schema.ItemSuccess) {
		t.Errorf("%s%+v", describe(journal), items)
	}
}

// TestApprovalWorkerKilledBetweenDevices kills the worker when one device has all lines and another has not.
func TestApprovalWorkerKilledBetweenDevices(t *testing.T) {
	t.Parallel()
	p := startSite(t).propose("two-devices", "R1", "R2")
	p.confirmUpTo("R2", p.lines[0], p.lines[1])
	p.until(func() bool {
		changes, err := p.client.Changes(t.Context(), p.project, p.session)
		return err == nil && slices.ContainsFunc(changes, func(c schema.DeviceChange) bool { return c.DeviceName == "R1" && c.State == "done" })
	})
	p.first.Kill()
	p.newWorker()
	items, journal := p.finish(schema.ApprovalConfirmed)
	if r1, r2 := journal["R1"], journal["R2"]; r1.State != "done" || r2.State != "unknown" || r2.Acked != 1 {
		t.Errorf("%s", describe(journal))
	}
	if items["R1"].Status != schema.ItemSuccess || items["R2"].Outcome != "unknown" || !strings.Contains(items["R2"].Error, "1 of 3") {
		t.Errorf("%+v", items)
	}
	if p.received("R2", p.lines[2]) != 0 {
		t.Error("R2 got a line after the worker's death")
	}
}

// TestE8ApprovalWorkerKilledBeforeReport kills the worker when the device has every byte and nobody knows yet.
func TestE8ApprovalWorkerKilledBeforeReport(t *testing.T) {
	for name, at := range map[string]struct {
		before, line string
		acked        int
	}{
		"at-last-line": {"description at-last-line", "ip address 10.70.7.7 255.255.255.255", 2},
		"at-end":       {"ip address 10.70.7.7 255.255.255.255", "end", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startSite(t).propose(name, "R1")
			p.confirmUpTo("R1", at.before, at.line)
			p.first.Kill()
			p.newWorker()
			items, journal := p.finish(schema.ApprovalConfirmed)
			if c := journal["R1"]; c.State != "unknown" || c.Acked != at.acked || items["R1"].Outcome != "unknown" {
				t.Errorf("%s%+v", describe(journal), items)
			}
			for _, l := range p.lines {
				if n := p.received("R1", l); n != 1 {
					t.Errorf("%q was received %d times", l, n)
				}
			}
		})
	}
}

// TestApprovalAPIKilled kills the API while a change waits, and while its push is streamed.
func TestApprovalAPIKilled(t *testing.T) {
	t.Parallel()
	p := startSite(t).propose("api-killed", "R1")
	p.killAPI()
	p.waits()
	p.confirmUpTo("R1", p.lines[0], p.lines[1])
	p.killAPI()
	_, journal := p.finish(schema.ApprovalConfirmed)
	if c := journal["R1"]; c.State != "done" || c.Acked != 3 {
		t.Errorf("%s", describe(journal))
	}
}

// TestApprovalTemporalKilled kills Temporal in the middle of a push. The push comes to its end without it, and that end is what counts.
func TestApprovalTemporalKilled(t *testing.T) {
	t.Parallel()
	p := startSite(t).propose("temporal-killed", "R1")
	p.confirmUpTo("R1", "configure terminal", p.lines[1])
	if err := syscall.Kill(p.temporal.server.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.temporal.server.Done()
	p.temporal.stop()
	p.until(func() bool {
		changes, err := p.client.Changes(t.Context(), p.project, p.session)
		return err == nil && len(changes) == 1 && changes[0].State == "done"
	})
	p.temporal = startTemporal(t, p.folder, p.temporal.port)
	items, journal := p.finish(schema.ApprovalConfirmed)
	if c := journal["R1"]; c.State != "done" || c.Acked != 3 || items["R1"].Status != schema.ItemSuccess {
		t.Errorf("%s%+v", describe(journal), items)
	}
}

// workflow names the session's workflow.
func (p *proposal) workflow() string {
	p.t.Helper()
	decided, err := p.client.Decided(p.t.Context())
	waiting, inboxErr := p.client.Inbox(p.t.Context())
	all := append(decided, waiting...)
	i := slices.IndexFunc(all, func(d schema.InboxItem) bool { return d.SessionID == p.session })
	if err != nil || inboxErr != nil || i < 0 {
		p.t.Fatalf("%v %v %+v", err, inboxErr, all)
	}
	return schema.WorkflowID(store.SessionKey(all[i].UserID, p.project, p.session))
}

// reset resets the session's newest run to the last workflow task before the first event that fits.
func (p *proposal) reset(kind enumspb.EventType, activity string) {
	p.t.Helper()
	operator, id := p.operator(), p.workflow()
	described, err := operator.DescribeWorkflow(p.t.Context(), id, "")
	if err != nil {
		p.t.Fatal(err)
	}
	runID := described.RawResponse.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	history := operator.GetWorkflowHistory(p.t.Context(), id, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	var task int64
	for found := false; !found; {
		ev, err := history.Next()
		if err != nil {
			p.t.Fatalf("no event %v in the history: %v", kind, err)
		}
		if ev.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			task = ev.GetEventId()
		}
		found = task > 0 && ev.GetEventType() == kind && ev.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == activity
	}
	_, err = operator.ResetWorkflowExecution(p.t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: runID},
		Reason: "test", WorkflowTaskFinishEventId: task, RequestId: uuid.NewString(),
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestApprovalReset resets the workflow in the middle of a push: to the task that began the push, to the one before the decision, and to the
// very beginning. The new run knows nothing of the push, and must not do it again.
func TestApprovalReset(t *testing.T) {
	for name, to := range map[string]struct {
		kind     enumspb.EventType
		activity string
	}{
		"to-push":      {enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, schema.ActivityPushDevice},
		"to-decision":  {enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, ""},
		"to-beginning": {enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startSite(t).propose(name, "R1")
			p.confirmUpTo("R1", p.lines[0], p.lines[1])
			p.reset(to.kind, to.activity)
			_, journal := p.finish(schema.ApprovalConfirmed)
			if c := journal["R1"]; c.State != "done" && c.State != "unknown" && c.State != "failed" {
				t.Errorf("%s", describe(journal))
			}
		})
	}
}

// TestE5ApprovalFrozenWorker stops a worker in the middle of a push, as a paused virtual machine is; another one settles the push. Woken up
// again it sends nothing more, and works.
func TestE5ApprovalFrozenWorker(t *testing.T) {
	t.Parallel()
	p := startSite(t).propose("frozen", "R1")
	p.confirmUpTo("R1", p.lines[0], p.lines[1])
	if err := p.first.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	second := p.newWorker()
	items, journal := p.finish(schema.ApprovalConfirmed)
	if c := journal["R1"]; c.State != "unknown" || c.Acked != 1 || items["R1"].Outcome != "unknown" {
		t.Errorf("%s%+v", describe(journal), items)
	}
	if err := p.first.Cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	second.Kill()
	p.check(schema.ApprovalConfirmed) // by the woken worker
	if p.received("R1", p.lines[2]) != 0 {
		t.Error("the woken worker went on sending")
	}
}

// TestApprovalTerminated has an operator terminate the turn's workflow, which then can't close its books: the next message does.
func TestApprovalTerminated(t *testing.T) {
	terminate := func(p *proposal) {
		if err := p.operator().TerminateWorkflow(p.t.Context(), p.workflow(), "", "test"); err != nil {
			p.t.Fatal(err)
		}
		p.drain()
		if last := p.seen[len(p.seen)-1]; last.StopReason != schema.StopError {
			p.t.Errorf("the client saw %+v at last", last.Event)
		}
	}
	t.Run("pending", func(t *testing.T) {
		t.Parallel()
		p := startSite(t).propose("terminated-pending", "R1")
		terminate(p)
		_, err := p.client.Confirm(t.Context(), p.project, p.session, schema.ConfirmRequest{ConfirmAll: true})
		if schema.CodeOf(err) != schema.CodeConflict {
			t.Errorf("a word for a turn that is gone: %v", err)
		}
		_, journal := p.check(schema.ApprovalAborted)
		if len(journal) != 0 || p.received("R1", p.lines[0]) != 0 {
			t.Errorf("%s", describe(journal))
		}
	})
	t.Run("in-mid-push", func(t *testing.T) {
		t.Parallel()
		p := startSite(t).propose("terminated-push", "R1")
		p.confirmUpTo("R1", p.lines[0], p.lines[1])
		terminate(p)
		p.check(schema.ApprovalConfirmed)
	})
}

// TestApprovalSameWordManyTimes posts one decision 20 times at once, as a client does that retries.
func TestApprovalSameWordManyTimes(t *testing.T) {
	t.Parallel()
	p := startSite(t).propose("posted-often", "R1")
	post := func() (int, error) {
		url := p.api + "/v3/copilot/projects/" + p.project + "/chat/sessions/" + p.session + "/hitl/confirm"
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"confirm_all": true}`))
		if err != nil {
			return 0, err
		}
		req.Header.Set("Authorization", "Bearer "+p.client.Token())
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "one-word")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		return resp.StatusCode, resp.Body.Close()
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if status, err := post(); err != nil || (status != http.StatusOK && status != http.StatusAccepted) {
				t.Errorf("%d %v", status, err)
			}
		})
	}
	wg.Wait()
	_, journal := p.finish(schema.ApprovalConfirmed)
	if c := journal["R1"]; c.State != "done" {
		t.Errorf("%s", describe(journal))
	}
}

// TestApprovalRaces lets two words come at once: one wins, and what is done is what it says.
func TestApprovalRaces(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	reject := func(p *proposal) error {
		_, err := p.client.Reject(t.Context(), p.project, p.session, schema.RejectRequest{RejectAll: true})
		return err
	}
	abort := func(p *proposal) error { return p.client.Abort(t.Context(), p.project, p.session) }
	for _, c := range []struct {
		name string
		word func(*proposal) error
		lost schema.ApprovalState // what the call is when the confirmation came too late
	}{
		{"reject-1", reject, schema.ApprovalRejected}, {"abort-1", abort, schema.ApprovalAborted},
		{"reject-2", reject, schema.ApprovalRejected}, {"abort-2", abort, schema.ApprovalAborted},
		{"reject-3", reject, schema.ApprovalRejected}, {"abort-3", abort, schema.ApprovalAborted},
	} {
		p := s.propose(c.name, "R1")
		var confirmed, other error
		var wg sync.WaitGroup
		wg.Go(func() {
			_, confirmed = p.client.Confirm(t.Context(), p.project, p.session, schema.ConfirmRequest{ConfirmAll: true})
		})
		wg.Go(func() { other = c.word(p) })
		wg.Wait()
		want := schema.ApprovalConfirmed
		if confirmed != nil {
			want = c.lost
		}
		if c.lost == schema.ApprovalRejected && (confirmed == nil) == (other == nil) {
			t.Errorf("%s: %v and %v", c.name, confirmed, other)
		}
		p.drain()
		if n := p.received("R1", "description "+c.name); want != schema.ApprovalConfirmed && n != 0 {
			t.Errorf("%s: %s, and sent %d times", c.name, want, n)
		}
		p.expectDecided(want)
	}
}

// expectDecided checks what one of several turns on the same device has left.
func (p *proposal) expectDecided(want schema.ApprovalState) {
	p.t.Helper()
	decided, err := p.client.Decided(p.t.Context())
	i := slices.IndexFunc(decided, func(d schema.InboxItem) bool { return d.ToolCallID == p.call.ToolCallID })
	if err != nil || i < 0 || decided[i].State != want {
		p.t.Errorf("%s: want %s: %v %+v", p.session, want, err, decided)
	}
	checkOnce(p.t, p.seen)
	if n := p.received("R1", "description "+p.session); n > 1 {
		p.t.Errorf("%s was sent %d times", p.session, n)
	}
	p.result()
}

// TestTakenInTimeAndHeardLate: a word that was accepted before the deadline counts, also when the worker comes back after it.
func TestTakenInTimeAndHeardLate(t *testing.T) {
	t.Setenv("COPILOT_APPROVAL_WAIT", "3s")
	s := startSite(t)
	p := s.propose("in-time", "R1")
	s.first.Kill()
	if reply := p.confirm(); reply.Status != "accepted" {
		t.Errorf("%+v", reply)
	}
	s.until(func() bool { return time.Now().After(p.call.ExpiresAt.Add(time.Second)) })
	s.newWorker()
	p.drain()
	if n := s.received("R1", p.lines[1]); n != 1 {
		t.Errorf("the line reached the device %d times; %+v", n, p.result())
	}
}
