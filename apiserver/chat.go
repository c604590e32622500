package apiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/store"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
)

type postInput struct {
	ProjectPath
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"255" doc:"Repeating a request with the same key attaches to the turn it began."`
	Body           schema.ChatRequest
}

// postStream begins a turn and relays its events. Once the stream has begun nothing of the turn can be lost, whether the client stays or
// not.
func (s *Server) postStream(ctx context.Context, r request, in *postInput) (*huma.StreamResponse, error) {
	return s.post(ctx, r, in, "use chat")
}

type injectInput struct {
	ProjectPath
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"255" doc:"As in POST …/stream."`
	Body           schema.InjectRequest
}

// injectMessage is what a request for a fault says that doesn't say anything.
const injectMessage = "Inject a network fault for troubleshooting practice"

// postInject begins a turn that makes a fault for its user to find.
func (s *Server) postInject(ctx context.Context, r request, in *injectInput) (*huma.StreamResponse, error) {
	b := in.Body
	if b.Message == "" {
		b.Message = injectMessage
	}
	return s.post(ctx, r, &postInput{ProjectPath: in.ProjectPath, IdempotencyKey: in.IdempotencyKey, Body: schema.ChatRequest{
		Message: b.Message, SessionID: b.SessionID, TurnOptions: b.TurnOptions, CopilotMode: schema.ModeInjection,
	}}, "use fault injection")
}

func (s *Server) post(ctx context.Context, r request, in *postInput, verb string) (*huma.StreamResponse, error) {
	if err := checkMessage(&in.Body); err != nil {
		return nil, err
	}
	if err := s.project(ctx, r.caller, in.ProjectID, verb); err != nil {
		return nil, err
	}
	if err := s.turns.allow(r.ID, "messages"); err != nil {
		return nil, err
	}
	input := s.turnInput(r, in)
	observe.SetTurn(ctx, input.TurnID)
	run, err := s.beginOrAttach(ctx, r, input, in)
	if err != nil {
		return nil, err
	}
	run.owner = r
	if in.Body.Stream != nil && !*in.Body.Stream {
		return s.conversationWhenDone(input.TurnRef, run), nil
	}
	return s.stream(input.TurnRef, run, 0), nil
}

// checkMessage refuses what no turn can begin with.
func checkMessage(body *schema.ChatRequest) error {
	switch {
	case !visible(body.Message):
		return schema.Errorf(schema.CodeInvalid, "1 validation error: message must not be blank")
	case !utf8.ValidString(body.Message) || strings.ContainsRune(body.Message, 0):
		return schema.Errorf(schema.CodeInvalid, "1 validation error: message must be text without NUL")
	case body.SessionID != "":
		return sessionName(body.SessionID)
	}
	return nil
}

// visible reports whether there is something to read in the text.
func visible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

func (s *Server) turnInput(r request, in *postInput) schema.TurnInput {
	t := schema.TurnInput{
		TurnRef:     schema.TurnRef{TurnID: uuid.NewString(), SessionID: in.Body.SessionID, ProjectID: in.ProjectID, UserID: r.ID},
		UserName:    r.Username,
		Message:     in.Body.Message,
		Temperature: in.Body.Temperature,
		StopBelow:   s.limits.StopBelow, CredentialWait: int(s.limits.CredentialWait.Seconds()),
		ApprovalWait: int(s.limits.ApprovalWait.Seconds()),
		Limits:       s.limits.Turn,
	}
	if in.Body.MaxTokens != nil {
		t.MaxTokens = *in.Body.MaxTokens
	}
	s.setMode(&t, cmp.Or(in.Body.CopilotMode, s.limits.Mode))
	if in.IdempotencyKey != "" {
		t.TurnID = store.TurnID(r.ID, in.ProjectID, in.IdempotencyKey)
	}
	t.BodySHA256 = store.Hash(string(schema.Text(in.Body)))
	if t.SessionID == "" {
		t.SessionID = uuid.NewSHA1(uuid.MustParse(t.TurnID), []byte("session")).String()
	}
	t.SessionKey = store.SessionKey(r.ID, in.ProjectID, t.SessionID)
	return t
}

// setMode sets what the assistant may do in the turn, and how many steps that may take.
func (s *Server) setMode(t *schema.TurnInput, mode schema.Mode) {
	t.Mode, t.Steps = mode, s.limits.Steps
	if mode == schema.ModeInjection {
		t.Steps = s.limits.InjectionSteps
	}
}

// beginOrAttach starts the turn, or finds the one that an earlier request with the same key began.
func (s *Server) beginOrAttach(ctx context.Context, r request, in schema.TurnInput, asked *postInput) (turnRun, error) {
	if asked.IdempotencyKey != "" {
		turn, err := s.store.Turn(ctx, in.TurnRef)
		if err == nil {
			if turn.BodySHA256 != in.BodySHA256 {
				return turnRun{}, errOtherBody()
			}
			if session, err := s.store.Scope(in.UserID, in.ProjectID).Session(ctx, in.SessionID); err == nil {
				s.refreshCredential(ctx, r, session)
			}
			return s.runOf(ctx, turn, 0)
		}
		if schema.CodeOf(err) != schema.CodeNotFound {
			return turnRun{}, err
		}
	}
	if err := s.chooseModels(ctx, r, &in, asked.Body); err != nil {
		return turnRun{}, err
	}
	if (len(in.Models) == 0 || in.Models[0] == schema.ServerModels) && s.bus.NoModel(ctx) {
		return turnRun{}, schema.NoModel()
	}
	if err := s.checkDay(ctx, in.UserID, in.Limits); err != nil {
		return turnRun{}, err
	}
	if err := s.vault.Put(ctx, in.TurnRef, r.token); err != nil {
		return turnRun{}, err
	}
	// A client that leaves now must not leave a turn behind that was started without its token. For the same reason the token stays
	// when it isn't certain that the turn wasn't started: it ends by itself.
	ctx = context.WithoutCancel(ctx)
	runID, err := s.startTurn(ctx, in)
	if schema.CodeOf(err) == schema.CodeTurnRunning {
		if err := s.vault.Drop(ctx, in.TurnID, in.UserID); err != nil {
			s.log.WarnContext(ctx, "token not dropped", "error", err)
		}
		err = s.wakeRunning(ctx, r, in.TurnRef, err)
	}
	return turnRun{runID: runID}, err
}

func errOtherBody() *schema.Error {
	return schema.Errorf(schema.CodeInvalid, "1 validation error: Idempotency-Key: it was used with another body").
		WithHint("Use a new key for a new request.")
}

// wakeRunning gives the turn that keeps the session busy its owner's token, if that is what it waits for, and says so.
func (s *Server) wakeRunning(ctx context.Context, r request, ref schema.TurnRef, busy error) error {
	session, err := s.store.Scope(ref.UserID, ref.ProjectID).Session(ctx, ref.SessionID)
	if err != nil || !s.refreshCredential(ctx, r, session) {
		return busy
	}
	return schema.Errorf(schema.CodeTurnRunning, "The session was waiting for your GNS3 login, and goes on with its last message now.").
		WithHint("Follow it (chat --attach), or wait for its end, or abort it.")
}

// conversationWhenDone answers a request with stream: false: the turn's messages, once it is over.
func (s *Server) conversationWhenDone(ref schema.TurnRef, run turnRun) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		c := echoOf(hc)
		ctx, cancel := s.streamContext(c.Request().Context())
		defer cancel()
		reader, err := s.bus.Follow(ctx, ref)
		if err != nil {
			_ = s.fail(c, err)
			return
		}
		var failure *schema.Error
		err = s.follow(ctx, reader, ref, run, 0, func(_ string, data []byte) error {
			var ev schema.Event
			if err := json.Unmarshal(data, &ev); err != nil {
				return err
			}
			switch ev.Type {
			case schema.EventError:
				failure = &schema.Error{Code: ev.Code, Message: ev.Error, Hint: ev.Hint}
			case schema.EventAbort:
				failure = schema.Errorf(schema.CodeAborted, "The turn was aborted.").WithHint("The session's history has what was said until then.")
			}
			return nil
		})
		if err == nil && failure != nil {
			err = failure
		}
		var h schema.ConversationHistory
		if err == nil {
			h, err = s.turnHistory(ctx, ref)
		}
		if err != nil {
			_ = s.fail(c, err)
			return
		}
		_ = c.JSON(http.StatusOK, h)
	}}
}
