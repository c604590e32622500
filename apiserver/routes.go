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
	turns, events := describeStream(api, true), describeStream(api, false)
	for _, prefix := range prefixes {
		register(s, api, http.MethodPost, prefix+"/stream", "Send a message and follow the turn", s.postStream, turns)
		register(s, api, http.MethodPost, prefix+"/inject", "Have a fault injected for practice, and follow the turn", s.postInject, turns)
		register(s, api, http.MethodGet, prefix+"/sessions", "List your sessions", s.listSessions)
		register(s, api, http.MethodPatch, prefix+"/sessions/{session_id}", "Rename a session", s.rename)
		register(s, api, http.MethodDelete, prefix+"/sessions/{session_id}", "Delete a session", s.deleteSession)
		register(s, api, http.MethodPut, prefix+"/sessions/{session_id}/pin", "Pin a session", s.pin)
		register(s, api, http.MethodDelete, prefix+"/sessions/{session_id}/pin", "Unpin a session", s.unpin)
		register(s, api, http.MethodGet, prefix+"/sessions/{session_id}/history", "Read a conversation", s.history)
		register(s, api, http.MethodGet, prefix+"/sessions/{session_id}/events", "Follow a turn again", s.followEvents, events)
		register(s, api, http.MethodPost, prefix+"/sessions/{session_id}/abort", "Abort the running turn", s.abort, stopsWithoutGNS3)
		register(s, api, http.MethodGet, prefix+"/sessions/{session_id}/hitl-status", "See what waits for a human's word", s.hitlStatus)
		register(s, api, http.MethodPost, prefix+"/sessions/{session_id}/hitl/confirm", "Confirm calls", s.confirm)
		register(s, api, http.MethodPost, prefix+"/sessions/{session_id}/hitl/reject", "Reject calls", s.reject)
		register(s, api, http.MethodPost, prefix+"/sessions/{session_id}/hitl/modify", "Give a call other arguments", s.modify, bodyLimit(maxModifyBody))
		register(s, api, http.MethodGet, prefix+"/sessions/{session_id}/changes", "See what was sent to devices", s.changes)
		register(s, api, http.MethodGet, prefix+"/sessions/{session_id}/tool-outputs/{tool_call_id}", "Read a tool's whole result", s.toolOutput)
	}
	register(s, api, http.MethodGet, "/v3/copilot/approvals", "See all that waits in your projects", s.inbox)
	register(s, api, http.MethodGet, "/v3/copilot/approvals/history", "See what was decided, and what came of it", s.decided)
	viewer := echo.WrapHandler(docs())
	s.echo.GET(docsPath, viewer)
	s.echo.GET(docsPath+"/*", viewer)
	s.echo.GET(healthRoute, s.healthz)
	s.echo.GET(readyRoute, s.readyz)
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
	if _, may := ctx.Operation().Metadata[withoutGNS3]; may && schema.CodeOf(err) == schema.CodeGNS3Unavailable {
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
