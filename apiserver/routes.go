package apiserver

import (
	"context"
	"net/http"
	"strings"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
)

// prefixes are where the chat API lives; the documents and the GNS3 web UI use both.
var prefixes = []string{"/v3/copilot/projects/{project_id}/chat", "/v3/projects/{project_id}/chat"}

// Bounds of a request's body, in bytes: the first size that is too large.
const (
	maxBody       = 32<<10 + 1
	maxModifyBody = 1<<20 + 1 // the arguments of a change to many devices
)

// ProjectPath is the part of a path that names the project. It is exported since huma looks into exported embedded structs alone.
type ProjectPath struct {
	ProjectID string `path:"project_id" doc:"The GNS3 project's UUID."`
}

// Resolve makes one spelling of the id: the same project must not have two sets of sessions.
func (p *ProjectPath) Resolve(huma.Context) []error {
	p.ProjectID = strings.ToLower(p.ProjectID)
	return nil
}

// SessionPath names a session of the project.
type SessionPath struct {
	ProjectPath
	SessionID string `path:"session_id" doc:"The client's name for the conversation."`
}

// sessionInput is the input of operations that need to know the session alone.
type sessionInput struct{ SessionPath }

func (s *Server) routes(version string) {
	config := huma.DefaultConfig("GNS3 Copilot", version)
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"gns3": {Type: "http", Scheme: "bearer", Description: "An access token of the GNS3 server: POST /v3/access/users/authenticate."},
	}
	// Answers are what the documents say, without a $schema field.
	config.CreateHooks = nil
	config.DocsPath = ""
	format := huma.DefaultJSONFormat
	format.Unmarshal = readJSON
	config.Formats = map[string]huma.Format{"application/json": format, "json": format}
	api := humaecho.New(s.echo, config)
	api.UseMiddleware(s.authenticate)
	describeErrors(api)
	for _, prefix := range prefixes {
		s.turnRoutes(api, prefix)
		s.sessionRoutes(api, prefix)
		s.decisionRoutes(api, prefix)
	}
	register(s, api, http.MethodGet, "/v3/copilot/approvals", "See all that waits in your projects", s.inbox,
		about(tagApprovals, "Of all users, in the projects that the GNS3 server shows you, the nearest deadline first. limit is for the history alone: this lists up to 1000."))
	register(s, api, http.MethodGet, "/v3/copilot/approvals/history", "See what was decided, and what came of it", s.decided,
		about(tagApprovals, "Newest first: what was proposed, who decided what and why, and what the devices said. It outlasts the sessions."))
	s.modelRoutes(api)
	register(s, api, http.MethodPost, "/v3/copilot/reload/skills", "Read the skills repository anew", s.reloadSkills,
		about(tagService, `All workers read skills, prompts and forbidden commands again; what can't be read stays as it was, and errors says which files and why.
For administrators of the GNS3 server. 503 (unavailable) also when no worker answers.`, http.StatusForbidden))
	register(s, api, http.MethodGet, "/v3/copilot/usage", "See what your turns have used, and what they may use", s.usage,
		about(tagUsage, "Model calls by day and by session, those for titles too. A deleted session's count for their day.", http.StatusForbidden))
	describeHealth(api)
	completeDescription(api)
	viewer := echo.WrapHandler(docs())
	s.echo.GET(docsPath, viewer)
	s.echo.GET(docsPath+"/*", viewer)
	s.echo.GET(healthRoute, s.healthz)
	s.echo.GET(readyRoute, s.readyz)
}

// turnRoutes are the operations on turns.
func (s *Server) turnRoutes(api huma.API, prefix string) {
	turns, events := describeStream(api, true), describeStream(api, false)
	register(s, api, http.MethodPost, prefix+"/stream", "Send a message and follow the turn", s.postStream, turns,
		about(tagTurns, `The answer is a stream of events up to done. A session answers one message at a time: a second one is a 409 (turn_running).
A client that leaves doesn't stop the turn: follow it again at …/events. After the stream has begun, an error is an event.

With stream: false the answer is the turn's messages, once it is over, however long a pending approval makes it wait. A turn that fails is answered with
its error's status, one that is aborted with 409 (aborted). In both cases the history has what was said.`,
			http.StatusForbidden, http.StatusConflict))
	register(s, api, http.MethodPost, prefix+"/inject", "Have a fault injected for practice, and follow the turn", s.postInject, turns,
		about(tagTurns, "As POST …/stream, in the mode troubleshooting_injection: the assistant breaks something for its user to find.",
			http.StatusForbidden, http.StatusConflict))
	register(s, api, http.MethodGet, prefix+"/sessions/{session_id}/events", "Follow a turn again", s.followEvents, events,
		answering(http.StatusNoContent, "The turn is over, and nothing comes behind Last-Event-ID.", nil),
		about(tagTurns, "A turn that runs or one that has ended: behind Last-Event-ID, or from its beginning. Ids of events are opaque; a turn's id is in its done event.",
			http.StatusForbidden))
	register(s, api, http.MethodPost, prefix+"/sessions/{session_id}/abort", "Abort the running turn", s.abort, stopsWithoutGNS3,
		about(tagTurns, "It says ok also when nothing runs, and of an unknown session. The project needn't be opened."))
	register(s, api, http.MethodGet, prefix+"/sessions/{session_id}/tool-outputs/{tool_call_id}", "Read a tool's whole result", s.toolOutput, toolResult(api),
		about(tagTurns, "Events and the history have results with items cut at 64 KiB.", http.StatusForbidden))
}

// sessionRoutes are the operations on conversations.
func (s *Server) sessionRoutes(api huma.API, prefix string) {
	register(s, api, http.MethodGet, prefix+"/sessions", "List your sessions", s.listSessions,
		about(tagSessions, "Pinned ones first, then the last changed.", http.StatusForbidden))
	register(s, api, http.MethodPatch, prefix+"/sessions/{session_id}", "Rename a session", s.rename,
		about(tagSessions, "No model changes the title afterwards.", http.StatusForbidden))
	register(s, api, http.MethodDelete, prefix+"/sessions/{session_id}", "Delete a session", s.deleteSession,
		about(tagSessions, `What was said is deleted, after the running turn was aborted; 409 (turn_running) when that takes over 10 s. What was sent to devices and
who allowed it stays, in GET /v3/copilot/approvals/history alone.`, http.StatusForbidden, http.StatusConflict))
	register(s, api, http.MethodPut, prefix+"/sessions/{session_id}/pin", "Pin a session", s.pin,
		about(tagSessions, "It stands before the others of the list.", http.StatusForbidden))
	register(s, api, http.MethodDelete, prefix+"/sessions/{session_id}/pin", "Unpin a session", s.unpin,
		about(tagSessions, "It stands among the others of the list.", http.StatusForbidden))
	register(s, api, http.MethodGet, prefix+"/sessions/{session_id}/history", "Read a conversation", s.history,
		about(tagSessions, "The newest messages, oldest first. A session that you don't have is an empty one.", http.StatusForbidden))
}

// decisionRoutes are the operations on calls that wait for a human's word, and on what came of it.
func (s *Server) decisionRoutes(api huma.API, prefix string) {
	const refused = ` Refused decisions change nothing: 400 (malformed) without criteria or for an unknown call, 404 for an unknown session, 409 (conflict,
expired) for a call that waits no longer or isn't what was looked at, 422 (invalid) for an unknown field.`
	accepted := answering(http.StatusAccepted, "The decision is kept; no worker has taken it up within 2 s. status is accepted.", schemaOf[schema.DecisionReply](api))
	register(s, api, http.MethodGet, prefix+"/sessions/{session_id}/hitl-status", "See what waits for a human's word", s.hitlStatus,
		about(tagApprovals, "An unknown session is idle. The project needn't be opened."))
	register(s, api, http.MethodPost, prefix+"/sessions/{session_id}/hitl/confirm", "Confirm calls", s.confirm, accepted,
		about(tagApprovals, `A call of high danger needs a second confirmation, by its id and with second_confirmation: true; after the first one status is pending.`+refused,
			http.StatusForbidden, http.StatusConflict))
	register(s, api, http.MethodPost, prefix+"/sessions/{session_id}/hitl/reject", "Reject calls", s.reject, accepted,
		about(tagApprovals, "The project needn't be opened."+refused, http.StatusConflict))
	register(s, api, http.MethodPost, prefix+"/sessions/{session_id}/hitl/modify", "Give a call other arguments", s.modify, bodyLimit(maxModifyBody), accepted,
		about(tagApprovals, `The model is told and calls again; a call with just these arguments then runs without another word, unless the danger of the one that was modified was high. 422 (invalid) for
unknown devices and lines that the policy forbids.`+refused, http.StatusForbidden, http.StatusConflict))
	register(s, api, http.MethodGet, prefix+"/sessions/{session_id}/changes", "See what was sent to devices", s.changes,
		about(tagApprovals, "Each push of the session to a device, in the order in which they began.", http.StatusForbidden))
}

// request is what a handler knows about where its input comes from.
type request struct {
	caller
	echo echo.Context
}

type requestKey struct{}

func register[I, O any](s *Server, api huma.API, method, path, summary string, handle func(context.Context, request, *I) (*O, error),
	more ...func(*huma.Operation)) {
	op := huma.Operation{
		Method: method, Path: path, Summary: summary, OperationID: operationID(method, path), MaxBodyBytes: maxBody,
		Security: []map[string][]string{{"gns3": {}}},
		Errors: []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusBadGateway,
			http.StatusServiceUnavailable},
	}
	for _, add := range more {
		add(&op)
	}
	huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
		r := ctx.Value(requestKey{}).(request)
		out, err := handle(ctx, r, in)
		if err != nil {
			return nil, s.answerOf(r.echo, err)
		}
		return out, nil
	})
}

func operationID(method, path string) string {
	return strings.ToLower(method) + strings.NewReplacer("/", "-", "{", "", "}", "").Replace(path)
}

// authenticate is the door of every operation.
func (s *Server) authenticate(ctx huma.Context, next func(huma.Context)) {
	c := echoOf(ctx)
	who, err := s.caller(ctx.Context(), c.Request())
	_, stops := ctx.Operation().Metadata[withoutGNS3]
	switch {
	case err == nil && !stops: // no limit keeps people from stopping what runs
		err = s.requests.allow(who.ID, "requests")
	case stops && schema.CodeOf(err) == schema.CodeGNS3Unavailable:
		if last, ok := s.lastCaller(c.Request()); ok {
			who, err = last, nil
		}
	}
	if err != nil {
		// The client is gone when this can't be written.
		_ = s.fail(c, err)
		return
	}
	observe.SetUser(ctx.Context(), who.ID)
	next(huma.WithValue(ctx, requestKey{}, request{caller: who, echo: c}))
}

func echoOf(ctx huma.Context) echo.Context { return humaecho.Unwrap(ctx) }

// sessionName refuses names that could not go into subjects and workflow ids.
func sessionName(id string) error {
	if !schema.ValidSessionID(id) {
		return schema.Errorf(schema.CodeInvalid, "1 validation error: session_id must match [A-Za-z0-9_-]{1,128}")
	}
	return nil
}

// stopsWithoutGNS3 lets people stop their own turns while the GNS3 server is away.
func stopsWithoutGNS3(op *huma.Operation) { op.Metadata = map[string]any{withoutGNS3: true} }
