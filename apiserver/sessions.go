package apiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/progress"
	"gns3copilot/schema/store"

	"github.com/danielgtaylor/huma/v2"
	"go.temporal.io/api/serviceerror"
)

type listInput struct {
	ProjectPath
	UserID      string      `query:"user_id" doc:"Somebody else's sessions are never shown."`
	CopilotMode schema.Mode `query:"copilot_mode" enum:"teaching_assistant,lab_automation_assistant,troubleshooting_injection"`
	Limit       int         `query:"limit" default:"100" minimum:"1" maximum:"1000"`
}

type body[T any] struct{ Body T }

// listSessions lists the caller's sessions in the project.
func (s *Server) listSessions(ctx context.Context, r request, in *listInput) (*body[[]schema.ChatSession], error) {
	if err := s.project(ctx, r.caller, in.ProjectID, "access chat sessions"); err != nil {
		return nil, err
	}
	out := &body[[]schema.ChatSession]{Body: []schema.ChatSession{}}
	if in.UserID != "" && in.UserID != r.ID {
		return out, nil
	}
	sessions, err := s.store.Scope(r.ID, in.ProjectID).Sessions(ctx, in.CopilotMode, in.Limit)
	for _, session := range sessions {
		out.Body = append(out.Body, chatSession(session))
	}
	return out, err
}

func chatSession(s store.Session) schema.ChatSession {
	c := schema.ChatSession{
		ID: s.ID, ThreadID: s.ThreadID, UserID: s.UserID, ProjectID: s.ProjectID, Title: s.Title,
		MessageCount: s.MessageCount, LLMCallsCount: s.LLMCallsCount,
		InputTokens: s.InputTokens, OutputTokens: s.OutputTokens, TotalTokens: s.TotalTokens,
		CreatedAt: schema.Time(s.CreatedAt), UpdatedAt: schema.Time(s.UpdatedAt),
		Metadata: schema.Text(s.Metadata), Stats: schema.Text(s.Stats), Pinned: s.Pinned,
	}
	if s.LastMessageAt != nil {
		t := schema.Time(*s.LastMessageAt)
		c.LastMessageAt = &t
	}
	return c
}

// ownSession finds the caller's session, once the project lets them. Without one it fails with CodeNotFound and gives an empty session of
// that name.
func (s *Server) ownSession(ctx context.Context, r request, path SessionPath, verb string) (store.Scope, store.Session, error) {
	scope := s.store.Scope(r.ID, path.ProjectID)
	if err := sessionName(path.SessionID); err != nil {
		return scope, store.Session{}, err
	}
	if err := s.project(ctx, r.caller, path.ProjectID, verb); err != nil {
		return scope, store.Session{}, err
	}
	session, err := scope.Session(ctx, path.SessionID)
	if schema.CodeOf(err) == schema.CodeNotFound {
		session = store.Session{ThreadID: path.SessionID, Title: store.NewSessionTitle}
	}
	return scope, session, err
}

type historyInput struct {
	SessionPath
	AcceptLanguage string `header:"Accept-Language"`
	Limit          int    `query:"limit" default:"100" minimum:"1" maximum:"1000"`
}

// history gives a session's newest messages. A session that the caller doesn't have is an empty one.
func (s *Server) history(ctx context.Context, r request, in *historyInput) (*body[schema.ConversationHistory], error) {
	scope, session, err := s.ownSession(ctx, r, in.SessionPath, "access chat history")
	if schema.CodeOf(err) == schema.CodeNotFound && session.ThreadID != "" {
		return &body[schema.ConversationHistory]{Body: conversation(session, nil)}, nil
	}
	if err != nil {
		return nil, err
	}
	s.refreshCredential(ctx, r, session)
	messages, err := scope.History(ctx, session, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &body[schema.ConversationHistory]{Body: conversation(session, nil)}
	out.Body.Messages, err = s.withNotices(ctx, r, scope, session, messages, in.Limit)
	return out, err
}

// turnHistory gives the messages of one turn.
func (s *Server) turnHistory(ctx context.Context, ref schema.TurnRef) (schema.ConversationHistory, error) {
	session, err := s.store.Scope(ref.UserID, ref.ProjectID).Session(ctx, ref.SessionID)
	if err != nil {
		return schema.ConversationHistory{}, err
	}
	all, err := s.store.Conversation(ctx, ref)
	var own []store.Message
	for _, m := range all {
		if m.TurnID == ref.TurnID {
			own = append(own, m)
		}
	}
	return conversation(session, own), err
}

func conversation(session store.Session, messages []store.Message) schema.ConversationHistory {
	h := schema.ConversationHistory{
		ThreadID: session.ThreadID, Title: session.Title, LLMCalls: session.LLMCallsCount, Messages: []schema.ChatMessage{},
	}
	for _, m := range messages {
		h.Messages = append(h.Messages, chatMessage(m))
	}
	return h
}

func chatMessage(m store.Message) schema.ChatMessage {
	c := schema.ChatMessage{
		ID: m.ID, Role: m.Role, Content: m.Content,
		Metadata: map[string]any{"created_at": schema.Time(m.CreatedAt)},
	}
	if m.Role == store.RoleTool {
		c.Name, c.ToolCallID = &m.Name, &m.ToolCallID
	}
	for _, call := range m.ToolCalls {
		c.ToolCalls = append(c.ToolCalls, schema.ChatToolCall{
			ID: call.ID, Type: "function", Function: schema.ChatFunction{Name: call.Name, Arguments: argumentsView(call.Arguments)},
		})
	}
	return c
}

// argumentsView is the object that the text stands for, with its keys in the model's order, else the text.
func argumentsView(text string) any {
	if json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimSpace(text), "{") {
		return json.RawMessage(text)
	}
	return text
}

// abort stops the session's running turn. Without one it has no effect, and says ok too. Since it reaches the caller's own session alone, it
// doesn't need the GNS3 server's word on the project when that server is away.
func (s *Server) abort(ctx context.Context, r request, in *sessionInput) (*body[schema.AbortReply], error) {
	if err := sessionName(in.SessionID); err != nil {
		return nil, err
	}
	if err := s.project(ctx, r.caller, in.ProjectID, ""); err != nil && schema.CodeOf(err) != schema.CodeGNS3Unavailable {
		return nil, err
	}
	reply := &body[schema.AbortReply]{Body: schema.AbortReply{Status: "ok", SessionID: in.SessionID}}
	session, err := s.store.Scope(r.ID, in.ProjectID).Session(ctx, in.SessionID)
	if schema.CodeOf(err) == schema.CodeNotFound {
		// Its first turn may be just about to begin.
		_, err := s.signal(ctx, store.SessionKey(r.ID, in.ProjectID, in.SessionID), schema.SignalAbort, schema.AbortRequest{})
		return reply, err
	}
	if err != nil {
		return nil, err
	}
	return reply, s.abortTurn(ctx, session, r.User, schema.AbortUser)
}

// abortTurn tells the session's turn, if one runs, to stop. Nobody in particular may have asked for it.
func (s *Server) abortTurn(ctx context.Context, session store.Session, by schema.User, why schema.AbortReason) error {
	observe.SetTurn(ctx, session.LastTurnID)
	_, signalled := s.signal(ctx, session.Key, schema.SignalAbort, schema.AbortRequest{Reason: why})
	// The signal is what can't be lost; this makes it quicker, and reaches a worker while Temporal is away.
	if err := s.bus.Abort(session.LastTurnID); err != nil {
		s.log.WarnContext(ctx, "abort not broadcast", "turn", session.LastTurnID, "error", err)
	}
	if err := s.store.NoteAbort(ctx, session, by.ID, by.Username); err != nil {
		s.log.ErrorContext(ctx, "abort not noted", "turn", session.LastTurnID, "error", err)
	}
	return signalled
}

// signal tells the session's workflow something. heard is false when none runs. It fails with CodeUnavailable.
func (s *Server) signal(ctx context.Context, sessionKey, name string, payload any) (heard bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	err = s.temporal.SignalWorkflow(ctx, schema.WorkflowID(sessionKey), "", name, payload)
	var gone *serviceerror.NotFound
	if err == nil || errors.As(err, &gone) {
		return err == nil, nil
	}
	return false, turnUnreachable(err)
}

func turnUnreachable(err error) error {
	return schema.Errorf(schema.CodeUnavailable, "The turn could not be reached: Temporal doesn't answer.").
		WithHint("Try again in a moment; if it stays, look whether Temporal is running and has room on its disk.").WithCause(err)
}

// refreshCredential gives the session's running turn the token that its owner uses now, and wakes it when it waits for one. A turn that
// doesn't run needs none. woken tells whether one was waiting.
func (s *Server) refreshCredential(ctx context.Context, r request, session store.Session) (woken bool) {
	ref := schema.TurnRef{TurnID: session.LastTurnID, UserID: r.ID, ProjectID: session.ProjectID}
	turn, err := s.store.Turn(ctx, ref)
	if err == nil && turn.State.Over() || session.LastTurnID == "" {
		return false
	}
	if err == nil {
		err = s.vault.Put(ctx, ref, r.token)
	}
	// The state is read again, after the token is there: the turn looks for the token after it has set the state.
	if err == nil {
		turn, err = s.store.Turn(ctx, ref)
	}
	if err == nil && turn.State == schema.TurnWaitingCredential {
		woken, err = s.signal(ctx, session.Key, schema.SignalCredential, struct{}{})
	}
	if err != nil {
		s.log.WarnContext(ctx, "credential not refreshed", "turn", session.LastTurnID, "error", err)
	}
	return woken
}

type eventsInput struct {
	SessionPath
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event that was read; the stream goes on behind it."`
	Turn        string `query:"turn" doc:"Which turn; the session's last one when absent."`
}

// followEvents attaches to a turn again, while it runs or after.
func (s *Server) followEvents(ctx context.Context, r request, in *eventsInput) (*huma.StreamResponse, error) {
	scope, session, err := s.ownSession(ctx, r, in.SessionPath, "access chat sessions")
	if err != nil {
		return nil, err
	}
	s.refreshCredential(ctx, r, session)
	turnID := in.Turn
	if turnID == "" {
		turnID = session.LastTurnID
	}
	place := resumePoint{turnID: turnID}
	if in.LastEventID != "" {
		if place, err = s.resumeFrom(ctx, scope, session, in, turnID); err != nil {
			return nil, err
		}
	}
	turn, err := scope.Turn(ctx, session, place.turnID)
	if err != nil {
		return nil, err
	}
	observe.SetTurn(ctx, turn.ID)
	ref := schema.TurnRef{TurnID: turn.ID, SessionKey: session.Key, SessionID: session.ThreadID, ProjectID: in.ProjectID, UserID: r.ID}
	run, err := s.runOf(ctx, turn, place.after)
	if err != nil {
		return nil, err
	}
	run.reset, run.noticed, run.owner = cmp.Or(place.reset, run.reset), place.noticed, r
	return s.stream(ref, run, place.after), nil
}

// runOf is a turn's run for a reader that starts behind the given place.
func (s *Server) runOf(ctx context.Context, turn store.Turn, after uint64) (turnRun, error) {
	run := turnRun{runID: turn.RunID, over: turn.State.Over()}
	if after > 0 {
		return run, nil
	}
	// Events are dropped oldest first, so all of a turn are kept when something older than the turn is.
	seq, at, err := s.bus.Oldest(ctx)
	if err == nil && seq > 1 && at.After(turn.StartedAt) {
		run.reset = "The turn's first events may no longer be kept."
	}
	return run, err
}

// resumePoint is where a stream goes on; reset says why it can't go on where the client wants. noticed tells whether the client has read the
// notice that belongs to its last event, too.
type resumePoint struct {
	turnID  string
	after   uint64
	noticed bool
	reset   string
}

// resumeFrom looks whether nothing is missing behind the client's last event.
func (s *Server) resumeFrom(ctx context.Context, scope store.Scope, session store.Session, in *eventsInput, fallback string) (resumePoint, error) {
	reset := func(why string) (resumePoint, error) { return resumePoint{turnID: fallback, reset: why}, nil }
	id, noticed := strings.CutSuffix(in.LastEventID, noticeMark)
	turnID, seq, ok := progress.ParseEventID(id)
	if !ok {
		return reset("The event id can't be read.")
	}
	if in.Turn != "" && in.Turn != turnID {
		return reset("The event id belongs to another turn.")
	}
	if _, err := scope.Turn(ctx, session, turnID); schema.CodeOf(err) == schema.CodeNotFound {
		return reset("The event id belongs to no turn of this session.")
	} else if err != nil {
		return resumePoint{}, err
	}
	_, last, _, err := s.bus.Last(ctx, schema.TurnRef{TurnID: turnID, SessionKey: session.Key})
	if err != nil {
		return resumePoint{}, err
	}
	oldest, _, err := s.bus.Oldest(ctx)
	switch {
	case err != nil:
		return resumePoint{}, err
	case seq+1 < oldest:
		return reset("Events after this id are no longer kept.")
	case seq > last:
		return reset("The event id is newer than the turn's events.")
	}
	return resumePoint{turnID: turnID, after: seq, noticed: noticed}, nil
}

type outputInput struct {
	SessionPath
	ToolCallID string `path:"tool_call_id"`
}

type outputReply struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// toolOutput gives a tool call's uncut result.
func (s *Server) toolOutput(ctx context.Context, r request, in *outputInput) (*outputReply, error) {
	scope, session, err := s.ownSession(ctx, r, in.SessionPath, "access chat history")
	if err != nil {
		return nil, err
	}
	text, err := scope.ToolOutput(ctx, session, in.ToolCallID)
	return &outputReply{ContentType: "application/json", Body: []byte(text)}, err
}
