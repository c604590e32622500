package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
)

// Arguments knows the tools' arguments.
type Arguments interface {
	// Modified checks the arguments that a human wrote in place of a call's. It gives them as they would be run, their hash, and
	// what was changed in words. It fails with CodeToolArguments.
	Modified(tool, original string, modified []byte, mode schema.Mode) (args, sha256, summary string, err error)
}

// decisionWait is how long an API call waits for the turn to take a decision up.
const decisionWait = 2 * time.Second

type statusInput struct {
	SessionPath
	HITLSessionID  string `query:"hitl_session_id"`
	AcceptLanguage string `header:"Accept-Language"`
}

// hitlStatus tells what waits in a session. Whoever may see the project may look.
func (s *Server) hitlStatus(ctx context.Context, r request, in *statusInput) (*body[schema.HITLStatus], error) {
	if err := sessionName(in.SessionID); err != nil {
		return nil, err
	}
	if err := s.project(ctx, r.caller, in.ProjectID, ""); err != nil {
		return nil, err
	}
	out := &body[schema.HITLStatus]{Body: schema.HITLStatus{Status: "idle", PendingTools: []schema.PendingTool{}, SessionID: in.SessionID}}
	rows, err := s.approvals(ctx, r, in.SessionPath, in.HITLSessionID)
	if schema.CodeOf(err) == schema.CodeNotFound {
		return out, nil
	}
	for _, a := range rows {
		if a.State == schema.ApprovalPending {
			out.Body.Status, out.Body.HITLSessionID = "waiting", &a.HITLSessionID
			out.Body.PendingTools = append(out.Body.PendingTools, pendingTool(a, in.AcceptLanguage))
		}
	}
	return out, err
}

// configTool is the tool whose calls have a description in Chinese too.
const configTool = "execute_multiple_device_config_commands"

// pendingTool shows a call to people, in their language.
func pendingTool(a store.Approval, language string) schema.PendingTool {
	p := a.View(time.Now())
	p.Description = describe(p, language)
	return p
}

// describe says in words what a call does.
func describe(p schema.PendingTool, language string) string {
	if inChinese(language) && p.ToolName == configTool && p.Preview != nil {
		return fmt.Sprintf("配置 %d 个设备", len(p.Preview.Devices))
	}
	return p.Description
}

func inChinese(language string) bool { return strings.HasPrefix(strings.ToLower(language), "zh") }

// decisionReply has the status 202 when the turn has not taken the decision up yet.
type decisionReply struct {
	Status int
	Body   schema.DecisionReply
}

// decisionInput is a request with a human's word.
type decisionInput[Word any] struct {
	SessionPath
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"255"`
	AcceptLanguage string `header:"Accept-Language"`
	Body           Word
}

func (s *Server) confirm(ctx context.Context, r request, in *decisionInput[schema.ConfirmRequest]) (*decisionReply, error) {
	return s.decide(ctx, r, decision{
		path: in.SessionPath, verb: "use chat", action: schema.DecideConfirm, all: in.Body.ConfirmAll, ids: in.Body.ToolCallIDs,
		second: in.Body.SecondConfirmation, expected: in.Body.ExpectedSHA256, hitlSession: in.Body.HITLSessionID,
		key: in.IdempotencyKey, language: in.AcceptLanguage, text: schema.Text(in.Body),
	})
}

func (s *Server) reject(ctx context.Context, r request, in *decisionInput[schema.RejectRequest]) (*decisionReply, error) {
	return s.decide(ctx, r, decision{
		path: in.SessionPath, action: schema.DecideReject, all: in.Body.RejectAll, ids: in.Body.ToolCallIDs, reason: in.Body.Reason,
		expected: in.Body.ExpectedSHA256, hitlSession: in.Body.HITLSessionID,
		key: in.IdempotencyKey, language: in.AcceptLanguage, text: schema.Text(in.Body),
	})
}

func (s *Server) modify(ctx context.Context, r request, in *decisionInput[schema.ModifyRequest]) (*decisionReply, error) {
	d := decision{
		path: in.SessionPath, verb: "use chat", action: schema.DecideModify, ids: []string{in.Body.ToolCallID}, hitlSession: in.Body.HITLSessionID,
		modified: schema.Text(in.Body.ModifiedArgs), key: in.IdempotencyKey, language: in.AcceptLanguage, text: schema.Text(in.Body),
	}
	if in.Body.ExpectedSHA256 != "" {
		d.expected = map[string]string{in.Body.ToolCallID: in.Body.ExpectedSHA256}
	}
	return s.decide(ctx, r, d)
}

// decision is a human's word as the request has it.
type decision struct {
	path        SessionPath
	verb        string // of the error when the project isn't opened; "" works on a closed one
	action      schema.DecisionAction
	all, second bool
	ids         []string
	expected    map[string]string
	hitlSession string
	reason      string
	modified    []byte
	key         string
	language    string
	text        []byte
}

// decide brings a human's word to the turn and reports what the turn made of it. A word that is refused here changes nothing.
func (s *Server) decide(ctx context.Context, r request, d decision) (*decisionReply, error) {
	if err := sessionName(d.path.SessionID); err != nil {
		return nil, err
	}
	if err := s.project(ctx, r.caller, d.path.ProjectID, d.verb); err != nil {
		return nil, err
	}
	row, known, err := s.repeated(ctx, r, d)
	if err != nil {
		return nil, err
	}
	if known {
		d.hitlSession = row.HITLSessionID
	}
	rows, err := s.approvals(ctx, r, d.path, d.hitlSession)
	if err != nil {
		return nil, err
	}
	if len(rows) > 0 {
		observe.SetTurn(ctx, rows[0].TurnID)
	}
	if !known {
		chosen, err := d.choose(rows, time.Now())
		if err != nil {
			return nil, s.overBefore(ctx, d, err)
		}
		if err := s.mayWrite(ctx, r, d, chosen[0]); err != nil {
			return nil, err
		}
		if row, err = s.newDecision(ctx, r, d, row.ID, chosen); err != nil {
			return nil, err
		}
	}
	if row.Outcome == nil {
		if row.Outcome, err = s.tellTurn(ctx, rows[0].SessionKey, row); err != nil {
			return nil, err
		}
	}
	return d.reply(row, rows)
}

// mayWrite refuses other arguments from somebody who could not use them: a modified call runs with the rights of the turn's owner, so whoever
// may only look at the project could write to its devices. The right is that to the consoles of the project's nodes at large.
func (s *Server) mayWrite(ctx context.Context, r request, d decision, call store.Approval) error {
	if d.action != schema.DecideModify || call.UserID == r.ID {
		return nil
	}
	err := s.gns3.MayUseConsole(ctx, r.token, call.ProjectID, uuid.Nil.String())
	if schema.CodeOf(err) == schema.CodeForbidden {
		return schema.AsError(err).WithHint("Without the right to the project's consoles you can confirm or reject the call of somebody else, and not change it.")
	}
	return err
}

// overBefore tells a call of an earlier message, which was decided, from one that never was. Any other refusal stays as it is.
func (s *Server) overBefore(ctx context.Context, d decision, refusal error) error {
	if schema.CodeOf(refusal) != schema.CodeMalformed || len(d.ids) == 0 {
		return refusal
	}
	state, err := s.store.CallState(ctx, d.path.ProjectID, d.path.SessionID, d.ids)
	if err != nil || state == "" || state == schema.ApprovalPending {
		return refusal
	}
	return over("The call", state)
}

// over refuses a word on a call that waits no longer.
func over(call string, state schema.ApprovalState) error {
	if state == schema.ApprovalExpired {
		return schema.Errorf(schema.CodeExpired, "%s has expired.", call)
	}
	return schema.Errorf(schema.CodeConflict, "%s was already %s.", call, state)
}

// repeated finds the decision that an earlier request with the same key brought.
func (s *Server) repeated(ctx context.Context, r request, d decision) (row store.DecisionRow, known bool, err error) {
	if d.key == "" {
		return store.DecisionRow{ID: uuid.NewString()}, false, nil
	}
	id := store.TurnID(r.ID, d.path.ProjectID, "decision\x00"+d.path.SessionID+"\x00"+d.key)
	row, err = s.store.Decision(ctx, id)
	if schema.CodeOf(err) == schema.CodeNotFound {
		return store.DecisionRow{ID: id}, false, nil
	}
	if err == nil && row.BodySHA256 != d.hash() {
		err = errOtherBody()
	}
	return row, err == nil, err
}

// hash tells one decision from another.
func (d decision) hash() string { return store.Hash(string(d.action) + "\n" + string(d.text)) }

// newDecision stores the decision, with who takes it, before the turn hears of it.
func (s *Server) newDecision(ctx context.Context, r request, d decision, id string, chosen []store.Approval) (store.DecisionRow, error) {
	row := store.DecisionRow{
		ID: id, HITLSessionID: chosen[0].HITLSessionID, Action: d.action, Second: d.second, DecidedBy: r.ID, DeciderName: r.Username,
		DecidedAt: time.Now().UTC(), Reason: strings.TrimSpace(d.reason), BodySHA256: d.hash(),
	}
	for _, a := range chosen {
		row.CallIDs = append(row.CallIDs, a.ToolCallID)
	}
	if d.action == schema.DecideModify {
		a := chosen[0]
		turn, err := s.store.Turn(ctx, schema.TurnRef{TurnID: a.TurnID, UserID: a.UserID, ProjectID: a.ProjectID})
		if err != nil {
			return row, err
		}
		row.ModifiedArgs, row.ModifiedSHA, row.Summary, err = s.arguments.Modified(a.ToolName, a.Arguments, d.modified, turn.Mode)
		if err != nil {
			e := schema.AsError(err)
			return row, schema.Errorf(schema.CodeInvalid, "1 validation error: modified_args: %s", e.Message).WithCause(err)
		}
	}
	return s.store.PutDecision(ctx, row)
}

// tellTurn signals the turn and waits for its answer; nil means that it has not answered in time.
func (s *Server) tellTurn(ctx context.Context, sessionKey string, row store.DecisionRow) (*schema.RecordDecisionOutput, error) {
	outcome, stop, err := s.bus.OnDecision(row.ID)
	if err != nil {
		return nil, err
	}
	defer stop()
	heard, err := s.signal(ctx, sessionKey, schema.SignalDecide, schema.Decision{ID: row.ID, DecidedAt: row.DecidedAt})
	if err != nil {
		return nil, err
	}
	if !heard { // the turn has ended meanwhile
		return &schema.RecordDecisionOutput{}, nil
	}
	select {
	case out := <-outcome:
		return &out, nil
	case <-time.After(decisionWait):
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reply words the outcome.
func (d decision) reply(row store.DecisionRow, rows []store.Approval) (*decisionReply, error) {
	say := func(english, chinese string, args ...any) string {
		if inChinese(d.language) {
			return fmt.Sprintf(chinese, args...)
		}
		return fmt.Sprintf(english, args...)
	}
	if row.Outcome == nil {
		return &decisionReply{Status: http.StatusAccepted, Body: schema.DecisionReply{Status: "accepted",
			Message: say("Kept. The turn takes it up as soon as a worker runs.", "已收到，工作进程恢复后执行")}}, nil
	}
	if row.Outcome.Refused != "" {
		return nil, schema.Errorf(schema.CodeInvalid, "1 validation error: modified_args: %s", row.Outcome.Refused)
	}
	want := map[schema.DecisionAction]schema.ApprovalState{schema.DecideConfirm: schema.ApprovalConfirmed,
		schema.DecideReject: schema.ApprovalRejected, schema.DecideModify: schema.ApprovalModified}[d.action]
	reply := schema.DecisionReply{Status: string(want)}
	done := 0
	for _, c := range row.Outcome.Calls {
		switch {
		case c.Applied && c.State == want:
			done++
		case c.State == schema.ApprovalPending:
			reply.StillPending = append(reply.StillPending, c.ID)
		}
	}
	switch {
	case done == 0 && len(reply.StillPending) == 0:
		return nil, schema.Errorf(schema.CodeConflict, "Somebody else decided first, or the time was over.").WithHint("Look at what became of it.")
	case done == 0:
		reply.Status = string(schema.ApprovalPending)
		reply.Message = say("A second confirmation is needed for %d tool(s)", "%d 个工具需要二次确认", len(reply.StillPending))
	case d.action == schema.DecideConfirm:
		reply.ConfirmedCount = done
		reply.Message = say("Confirmed %d tool(s)", "已确认 %d 个工具执行", done)
	case d.action == schema.DecideReject:
		reply.Message = say("Rejected %d tool(s): %s", "已拒绝 %d 个工具执行: %s", done, toolNames(row, rows))
	default:
		reply.ModificationSummary = row.Summary
		reply.Message = say("The modification was passed on to the assistant", "已将修改反馈给 AI")
	}
	return &decisionReply{Status: http.StatusOK, Body: reply}, nil
}

// toolNames lists the tools of the calls that a decision is about.
func toolNames(row store.DecisionRow, rows []store.Approval) string {
	var names []string
	for _, a := range rows {
		if slices.Contains(row.CallIDs, a.ToolCallID) {
			names = append(names, a.ToolName)
		}
	}
	return strings.Join(names, ", ")
}
