package apiserver

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"gns3copilot/schema"
	"gns3copilot/schema/store"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
)

type renameInput struct {
	SessionPath
	Body struct {
		_     struct{} `json:"-" additionalProperties:"true"`
		Title string   `json:"title" minLength:"1" maxLength:"255" doc:"In characters; no model changes it afterwards."`
	}
}

// rename gives a session a title of its user's own.
func (s *Server) rename(ctx context.Context, r request, in *renameInput) (*body[schema.ChatSession], error) {
	if !visible(in.Body.Title) || strings.ContainsFunc(in.Body.Title, breaksLine) {
		return nil, schema.Errorf(schema.CodeInvalid, "1 validation error: title must be one line with something to read in it")
	}
	scope, session, err := s.ownSession(ctx, r, in.SessionPath, "rename chat sessions")
	if err != nil {
		return nil, err
	}
	session, err = scope.Rename(ctx, session, in.Body.Title)
	return changed(session, err)
}

// breaksLine reports whether a title with this character isn't one line.
func breaksLine(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) }

// pin puts a session before the others of the list.
func (s *Server) pin(ctx context.Context, r request, in *sessionInput) (*body[schema.ChatSession], error) {
	return s.setPinned(ctx, r, in.SessionPath, true, "pin chat sessions")
}

// unpin puts a session back among the others.
func (s *Server) unpin(ctx context.Context, r request, in *sessionInput) (*body[schema.ChatSession], error) {
	return s.setPinned(ctx, r, in.SessionPath, false, "unpin chat sessions")
}

func (s *Server) setPinned(ctx context.Context, r request, path SessionPath, pinned bool, verb string) (*body[schema.ChatSession], error) {
	scope, session, err := s.ownSession(ctx, r, path, verb)
	if err != nil {
		return nil, err
	}
	session, err = scope.Pin(ctx, session, pinned)
	return changed(session, err)
}

func changed(session store.Session, err error) (*body[schema.ChatSession], error) {
	if err != nil {
		return nil, err
	}
	return &body[schema.ChatSession]{Body: chatSession(session)}, nil
}

// stopWait bounds how long a deletion waits for the session's running turn to end: a console is left tidy first.
const stopWait = 10 * time.Second

// deleteSession removes a session and what was said in it, after its running turn has been aborted.
func (s *Server) deleteSession(ctx context.Context, r request, in *sessionInput) (*struct{}, error) {
	scope, session, err := s.ownSession(ctx, r, in.SessionPath, "delete chat sessions")
	if err != nil {
		return nil, err
	}
	return nil, s.remove(ctx, scope, session, r.User, schema.AbortUser)
}

// remove deletes a session after its running turn has been aborted. It fails as endTurn does, and with CodeNotFound when it is gone.
func (s *Server) remove(ctx context.Context, scope store.Scope, session store.Session, by schema.User, why schema.AbortReason) error {
	if err := s.endTurn(ctx, session, by, why); err != nil {
		return err
	}
	// A session of that name may begin at once, so what is removed behind the deletion is bounded beforehand.
	newest, err := s.bus.Newest(ctx)
	if err != nil {
		return err
	}
	runs, err := scope.RunIDs(ctx, session)
	if err != nil {
		return err
	}
	if err := scope.Delete(ctx, session); err != nil {
		return err
	}
	s.removeCopies(context.WithoutCancel(ctx), session.Key, newest, runs)
	return nil
}

// copiesWait bounds the removal of a deleted session's copies.
const copiesWait = 10 * time.Second

// removeCopies removes what else holds a deleted session's words: its events, and the histories of its turns, which begin with the user's
// message. Nobody can reach them any more, and where this fails they go by themselves when their time is over.
func (s *Server) removeCopies(ctx context.Context, sessionKey string, newest uint64, runs []string) {
	ctx, cancel := context.WithTimeout(ctx, copiesWait)
	defer cancel()
	if err := s.bus.Forget(ctx, sessionKey, newest); err != nil {
		s.log.ErrorContext(ctx, "events of a deleted session kept", "error", err)
	}
	var gone *serviceerror.NotFound
	for _, run := range runs {
		_, err := s.temporal.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: s.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: schema.WorkflowID(sessionKey), RunId: run},
		})
		if err != nil && !errors.As(err, &gone) {
			s.log.ErrorContext(ctx, "histories of a deleted session kept", "run", run, "error", err)
			return
		}
	}
}

// endTurn aborts what runs in the session and waits until it has ended. It fails with CodeUnavailable when Temporal doesn't answer, and
// with CodeTurnRunning when the turn takes longer.
func (s *Server) endTurn(ctx context.Context, session store.Session, by schema.User, why schema.AbortReason) error {
	run, err := s.describe(ctx, session.Key, "")
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &none):
		run.closed = true // Temporal keeps closed runs for a while only
	case err != nil:
		return turnUnreachable(err)
	}
	if !run.closed {
		if err := s.abortTurn(ctx, session, by, why); err != nil {
			return err
		}
		wait, cancel := context.WithTimeout(ctx, stopWait)
		defer cancel()
		// However it ended, it is closed.
		_ = s.temporal.GetWorkflow(wait, schema.WorkflowID(session.Key), run.runID).Get(wait, nil)
		if wait.Err() != nil {
			return schema.Errorf(schema.CodeTurnRunning, "The session's turn is still being stopped.").WithHint("Try again in a moment.")
		}
	}
	// A turn that an operator terminated has left its books open.
	return s.store.CloseAbandoned(ctx, schema.TurnRef{
		TurnID: session.LastTurnID, SessionKey: session.Key, SessionID: session.ThreadID, UserID: session.UserID, ProjectID: session.ProjectID,
	})
}
