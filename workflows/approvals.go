package workflows

import (
	"cmp"
	"slices"
	"time"

	"gns3copilot/schema"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// waiting is what a step's calls that need a human's word are at. All of them share one deadline.
type waiting struct {
	t      *turn
	step   int
	calls  []string // in the model's order
	states map[string]schema.ApprovalState
}

// awaitDecisions begins to watch the deadline of the calls that wait. Nothing is held while they do but a timer.
func (t *turn) awaitDecisions(verdicts []schema.Verdict, deadline time.Time) {
	t.waiting = &waiting{t: t, step: t.step, states: map[string]schema.ApprovalState{}}
	for _, v := range verdicts {
		if v.Approve {
			t.waiting.calls = append(t.waiting.calls, v.ID)
			t.waiting.states[v.ID] = cmp.Or(v.State, schema.ApprovalPending)
		}
	}
	if len(t.waiting.calls) > 0 {
		w := t.waiting
		workflow.Go(t.books, func(own workflow.Context) { w.watch(own, deadline) })
	}
}

// watch ends what nobody decides: by the clock, or by an abort.
func (w *waiting) watch(own workflow.Context, deadline time.Time) {
	t := w.t
	t.say("Waiting for approval of %d tool calls, until %s", len(w.calls), deadline.Format(time.RFC3339))
	t.note(t.become(schema.TurnWaitingApproval))
	state := schema.ApprovalExpired
	came, err := workflow.AwaitWithTimeout(own, deadline.Sub(workflow.Now(own)), func() bool { return t.aborted || len(w.pending()) == 0 })
	if err != nil {
		return
	}
	switch {
	case came && t.aborted:
		state = schema.ApprovalAborted
	case !came && len(t.decisions) > 0:
		// What was decided in time counts, also when it is recorded late.
		if _, err := workflow.AwaitWithTimeout(own, localBound, func() bool { return t.aborted || len(t.decisions) == 0 }); err != nil {
			return
		}
	}
	if len(w.pending()) > 0 {
		w.end(own, state)
	}
	t.note(t.become(schema.TurnRunning))
}

func (w *waiting) pending() []string {
	return slices.DeleteFunc(slices.Clone(w.calls), func(id string) bool { return w.states[id] != schema.ApprovalPending })
}

// end ends what is pending. A decision that is just being recorded may win: its calls are left to it. When the end can't be stored the
// calls count as ended all the same: nothing of them may run.
func (w *waiting) end(own workflow.Context, state schema.ApprovalState) {
	out := schema.ExpireOutput{Ended: w.pending()}
	err := workflow.ExecuteLocalActivity(w.t.local("End what waits: "+string(state), localBound), schema.ActivityEndApprovals, schema.ExpireInput{
		TurnRef: w.t.in.TurnRef, Step: w.step, Calls: out.Ended, State: state, Reason: w.t.endedBy(state),
	}).Get(own, &out)
	w.t.note(err)
	for _, id := range out.Ended {
		w.states[id] = state
	}
	// A decision may be stored whose recording failed afterwards.
	for _, c := range out.Decided {
		if w.states[c.ID] == schema.ApprovalPending {
			w.states[c.ID] = c.State
		}
	}
}

// endedBy is why calls end that nobody decides, when that says more than the state.
func (t *turn) endedBy(state schema.ApprovalState) string {
	if state == schema.ApprovalAborted && t.abortReason == schema.AbortProjectDeleted {
		return "the project was deleted"
	}
	return ""
}

// decide records the turn's decisions one after the other for as long as it runs. One that comes too late is recorded as such, so that
// whoever took it is told. One that comes before there is anything to decide waits: after a worker's death or a reset the turn comes again
// to calls that people have seen and decided meanwhile.
func (t *turn) decide(own workflow.Context) {
	ready := func() bool { return t.ending || (t.waiting != nil && !t.judging) }
	for workflow.Await(own, func() bool { return len(t.decisions) > 0 && ready() }) == nil {
		t.record(own, t.decisions[0])
		t.decisions = t.decisions[1:]
	}
}

// record applies a decision, for as long as it takes while something waits for it: what it needs may be away.
func (t *turn) record(own workflow.Context, d schema.Decision) {
	in := schema.RecordDecisionInput{TurnRef: t.in.TurnRef, Step: t.step, Decision: d}
	if t.waiting != nil {
		in.Step = t.waiting.step
	}
	var out schema.RecordDecisionOutput
	for {
		err := workflow.ExecuteLocalActivity(t.local("Record a decision", localBound), schema.ActivityRecordDecision, in).Get(own, &out)
		t.note(err)
		if err == nil || !passing(err) || t.aborted || t.waiting == nil || len(t.waiting.pending()) == 0 {
			break
		}
		if workflow.Sleep(own, recordPause) != nil {
			break
		}
	}
	for _, c := range out.Calls {
		if t.waiting != nil && t.waiting.states[c.ID] == schema.ApprovalPending {
			t.waiting.states[c.ID] = c.State
		}
		if c.Grant != "" {
			t.grants = append(t.grants, c.Grant)
		}
	}
}

// decided waits for a call's end of waiting and tells whether it may run.
func (w *waiting) decided(own workflow.Context, id string) bool {
	err := workflow.Await(own, func() bool { return w.states[id] != schema.ApprovalPending })
	return err == nil && w.states[id] == schema.ApprovalConfirmed
}

// note logs what the turn can live with.
func (t *turn) note(err error) {
	if err != nil {
		workflow.GetLogger(t.books).Error("the turn goes on", "error", err)
	}
}

// queues keeps the calls that go to one device, and those that change the lab, in the model's order: a call waits for those before it,
// decided or not.
type queues map[string][]workflow.Future

// Where the changes of the lab meet that wait for nobody's word, and where what reads is seen by them.
const (
	labNow = "the lab, now"
	reads  = "reads"
)

// enter puts a call behind the earlier ones that it has a place in common with. wait returns when it is its turn; done lets the next one in.
func (q queues) enter(ctx workflow.Context, v schema.Verdict) (wait func(workflow.Context), done func()) {
	var before []workflow.Future
	end, settle := workflow.NewFuture(ctx)
	places := slices.Concat(v.Devices, v.Order)
	switch {
	case v.ChangesLab && !v.Approve:
		places = append(places, labNow)
		before = append(before, q[reads]...)
	case v.Run && len(v.Devices) == 0: // side by side with the other ones
		q[reads] = append(q[reads], end)
	}
	for _, p := range places {
		before = append(before, q[p]...)
		q[p] = append(q[p], end)
	}
	if v.After {
		before = append(before, q[labNow]...)
	}
	return func(own workflow.Context) {
		for _, f := range before {
			_ = f.Get(own, nil) // it only tells that the earlier call is over
		}
	}, func() { settle.SetValue(nil) }
}

// push sends a confirmed call to its devices, side by side, each at most once.
func (t *turn) push(own workflow.Context, v schema.Verdict) {
	wg := workflow.NewWaitGroup(own)
	for _, device := range v.Devices {
		wg.Add(1)
		workflow.Go(own, func(each workflow.Context) {
			defer wg.Done()
			t.pushDevice(each, v, device)
		})
	}
	wg.Wait(own)
	err := workflow.ExecuteLocalActivity(t.local("Collect what the devices said", localBound), schema.ActivityCollectPushes, schema.CollectInput{
		TurnRef: t.in.TurnRef, Step: t.step, Call: v.Call, Devices: v.Devices, Aborted: t.aborted,
	}).Get(own, nil)
	t.note(err)
}

// pushDevice runs the one activity that may send to the device for this call. Whatever goes wrong, the journal is settled and nothing is
// sent again.
func (t *turn) pushDevice(own workflow.Context, v schema.Verdict, device string) {
	in := schema.PushInput{TurnRef: t.in.TurnRef, Step: t.step, Mode: t.in.Mode, Call: v.Call, Device: device}
	err := t.once(own, v.Queue, v.Summary+" ("+device+")", schema.ActivityPushDevice, in)
	if err == nil {
		return
	}
	err = workflow.ExecuteLocalActivity(t.local("Settle "+device, localBound), schema.ActivitySettlePush, in).Get(own, nil)
	t.note(err)
}

// changeLab runs the one activity that may change the lab for this call. Whatever goes wrong, the journal is settled and nothing is done
// again.
func (t *turn) changeLab(own workflow.Context, v schema.Verdict) {
	t.labChanged = true
	in := schema.ChangeLabInput{
		TurnRef: t.in.TurnRef, Step: t.step, Mode: t.in.Mode, Call: v.Call, Items: v.Devices, Confirmed: v.Approve || v.Granted,
	}
	err := t.once(own, v.Queue, v.Summary, schema.ActivityChangeLab, in)
	if err == nil {
		return
	}
	in.Aborted, in.Failure = t.aborted, failureOf(err)
	err = workflow.ExecuteLocalActivity(t.local("Settle the changes of the lab", localBound), schema.ActivitySettleLab, in).Get(own, nil)
	t.note(err)
}

// once runs an activity that changes the world. It is not tried again, but for one that could claim nothing because the owner's login was
// missing. An error says why it did not come to its end.
func (t *turn) once(own workflow.Context, queue, summary, activity string, in any) error {
	ctx := workflow.WithActivityOptions(t.work, workflow.ActivityOptions{
		TaskQueue:              queue,
		StartToCloseTimeout:    toolBound,
		ScheduleToStartTimeout: noWorkerWait,
		HeartbeatTimeout:       heartbeat,
		WaitForCancellation:    true,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                summary,
	})
	for !t.aborted {
		err := workflow.ExecuteActivity(ctx, activity, in).Get(own, nil)
		if err == nil || codeOf(err) != schema.CodeCredentialMissing || t.aborted {
			return err
		}
		if err := t.awaitCredential(own); err != nil {
			return err
		}
	}
	return temporal.NewCanceledError()
}
