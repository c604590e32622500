package apiserver

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gns3copilot/schema"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
	swagger "github.com/swaggest/swgui/v5emb"
)

// docsPath is where the API's description is shown, by a viewer that the program brings along: a lab often has no internet.
const docsPath = "/docs"

func docs() http.Handler { return swagger.New("GNS3 Copilot", "/openapi.json", docsPath) }

// overview is what the description says before its operations.
const overview = `Chat beside a GNS3 project with an assistant that reads and, with a human's word, configures its devices.

Log in at the GNS3 server, which every path that isn't described here is passed on to: POST /v3/access/users/authenticate. Then send the token as
Authorization: Bearer, or as ?token=. A wrong method on a path that is described here goes to the GNS3 server too, which answers 404.

Times come in two forms. Those of sessions and of messages are in UTC with microseconds and have no zone (format date-time-local): append Z before
you parse one, since JavaScript and others would take it for local time. Those of approvals and changes are RFC 3339 with a zone (format date-time).

Expect fields, types of events and error codes that aren't listed yet. Unknown fields of a request's body are ignored, but a decision with one is refused (422).`

// The kinds of operations.
const (
	tagTurns     = "turns"
	tagSessions  = "sessions"
	tagApprovals = "approvals"
	tagModels    = "models"
	tagUsage     = "usage"
	tagService   = "service"
	tagAlias     = "alias"
)

func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: tagTurns, Description: "Send a message, follow what becomes of it, stop it."},
		{Name: tagSessions, Description: "Conversations: each belongs to one user and one project."},
		{Name: tagApprovals, Description: "What waits for a human's word, and what came of it. Whoever may see the project may decide."},
		{Name: tagModels, Description: "Which language models answer: configurations of users, and of groups for their members."},
		{Name: tagUsage, Description: "What model calls have used, and what they may use."},
		{Name: tagService, Description: "The server itself."},
		{Name: tagAlias, Description: "The chat API once more, at " + prefixes[1] + ": the very same operations."},
	}
}

// about describes an operation, and names the statuses of errors that not every operation has.
func about(tag, text string, fails ...int) func(*huma.Operation) {
	return func(op *huma.Operation) {
		op.Tags, op.Description = []string{tag}, text
		op.Errors = append(op.Errors, fails...)
	}
}

// answering describes an answer beside what huma takes from the handler's type, or in its place. Without a schema it has no body.
func answering(status int, text string, body *huma.Schema) func(*huma.Operation) {
	r := &huma.Response{Description: text}
	if body != nil {
		r.Content = map[string]*huma.MediaType{"application/json": {Schema: body}}
	}
	return func(op *huma.Operation) {
		if op.Responses == nil {
			op.Responses = map[string]*huma.Response{}
		}
		op.Responses[strconv.Itoa(status)] = r
	}
}

// schemaOf describes a type that is part of an answer.
func schemaOf[T any](api huma.API) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
}

// toolResult describes the uncut result of a tool. What its metadata has beside the usual fields is the tool's own.
func toolResult(api huma.API) func(*huma.Operation) {
	result := schemaOf[schema.ToolResponse](api)
	api.OpenAPI().Components.Schemas.Map()["ToolMetadata"].AdditionalProperties = true
	return answering(http.StatusOK, "The whole result.", result)
}

// describeSession says that the fields that hold JSON of the database's are objects.
func describeSession(api huma.API) {
	session := api.OpenAPI().Components.Schemas.SchemaFromRef(schemaOf[schema.ChatSession](api).Ref)
	for _, name := range []string{"metadata", "stats"} {
		session.Properties[name].Type = huma.TypeObject
	}
}

// describeTokenBound says what max_tokens of a model configuration can be, which has no one type.
func describeTokenBound(api huma.API) {
	for _, body := range []*huma.Schema{schemaOf[schema.ModelConfigCreate](api), schemaOf[schema.ModelConfigUpdate](api)} {
		bound, least := api.OpenAPI().Components.Schemas.SchemaFromRef(body.Ref).Properties["max_tokens"], 1.0
		bound.AnyOf = []*huma.Schema{{Type: huma.TypeInteger, Minimum: &least}, {Type: huma.TypeString, Pattern: "^([1-9][0-9]*|null)?$"}, {Type: "null"}}
	}
}

// failures says what the statuses of errors mean.
func failures() map[int]string {
	return map[int]string{
		http.StatusBadRequest:            "The body is not JSON, or a decision names nothing that waits; with stream: false also that no model is configured.",
		http.StatusUnauthorized:          "There is no token, or one that the GNS3 server refuses.",
		http.StatusForbidden:             "The project isn't opened, or the GNS3 server doesn't grant the right.",
		http.StatusNotFound:              "There is no such project, session, turn, call or model configuration, or none that the caller may see.",
		http.StatusRequestTimeout:        "The body didn't come within 5 s.",
		http.StatusConflict:              "What is asked for doesn't fit with what has happened meanwhile.",
		http.StatusRequestEntityTooLarge: "The body is over its bound: 32 KiB, for a modification 1 MiB.",
		http.StatusUnsupportedMediaType:  "The body's content type is not JSON.",
		http.StatusUnprocessableEntity:   "A parameter or a field breaks its rule.",
		http.StatusTooManyRequests:       "The user has sent too many requests in a short time, or used up what a day (UTC) allows.",
		http.StatusInternalServerError:   "Something went wrong here. The request id finds it in the server's log.",
		http.StatusBadGateway:            "The GNS3 server, or with stream: false the model, refuses or can't be reached.",
		http.StatusServiceUnavailable:    "Temporal, NATS or the database can't be reached.",
	}
}

// clientCodes lists every code that can reach a client, in an answer or in an event.
func clientCodes() []schema.Code {
	codes := []schema.Code{schema.CodeInternal, schema.CodeCredentialMissing}
	for code := range statuses {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// codesOf lists the codes that come with a status.
func codesOf(status int) string {
	var names []string
	for _, code := range clientCodes() {
		if statusOf(code) == status {
			names = append(names, string(code))
		}
	}
	if len(names) == 0 { // a fault that the HTTP layer finds
		names = append(names, string(codeOf(status)))
	}
	return strings.Join(names, ", ")
}

func codeEnum() []any {
	var enum []any
	for _, code := range clientCodes() {
		enum = append(enum, code)
	}
	return enum
}

const componentRef = "#/components/"

// describeErrors puts the error answers where operations can refer to them. They have the type that clients know, not the one that carries
// an error through huma.
func describeErrors(api huma.API) {
	components := api.OpenAPI().Components
	components.Schemas.RegisterTypeAlias(reflect.TypeFor[answer](), reflect.TypeFor[schema.ErrorBody]())
	body := schemaOf[schema.ErrorBody](api)
	components.Schemas.SchemaFromRef(body.Ref).Properties["code"].Enum = codeEnum()
	text := &huma.Schema{Type: huma.TypeString}
	components.Headers = map[string]*huma.Header{
		echo.HeaderXRequestID:      {Schema: text, Description: "The request's id: the client's own header of that name when it is at most 64 of A-Z a-z 0-9 . _ -, else a new one."},
		echo.HeaderWWWAuthenticate: {Schema: text, Description: "Bearer."},
		echo.HeaderRetryAfter:      {Schema: &huma.Schema{Type: huma.TypeInteger}, Description: "In so many seconds it is worth another try."},
	}
	components.Responses = map[string]*huma.Response{}
	for status, meaning := range failures() {
		r := &huma.Response{
			Description: fmt.Sprintf("%s Code: %s.", meaning, codesOf(status)), Headers: headers(echo.HeaderXRequestID),
			Content: map[string]*huma.MediaType{"application/json": {Schema: body}},
		}
		switch status {
		case http.StatusUnauthorized:
			r.Headers = headers(echo.HeaderXRequestID, echo.HeaderWWWAuthenticate)
		case http.StatusTooManyRequests:
			r.Headers = headers(echo.HeaderXRequestID, echo.HeaderRetryAfter)
		}
		components.Responses[errorName(status)] = r
	}
}

func errorName(status int) string { return "Error" + strconv.Itoa(status) }

func headers(names ...string) map[string]*huma.Param {
	refs := map[string]*huma.Param{}
	for _, name := range names {
		refs[name] = &huma.Param{Ref: componentRef + "headers/" + name}
	}
	return refs
}

// describeHealth adds the two operations that need no login and aren't huma's.
func describeHealth(api huma.API) {
	for path, about := range map[string]struct {
		summary, text, status string
		fails                 []int
	}{
		healthRoute: {"The process lives", "It says nothing about its neighbours.", "ok", nil},
		readyRoute: {"A chat would work", "Temporal, NATS, the database, the workers and the GNS3 server are there; else the error says what isn't.", "ready",
			[]int{http.StatusBadGateway, http.StatusServiceUnavailable}},
	} {
		status := &huma.Schema{Type: huma.TypeObject, Required: []string{"status"},
			Properties: map[string]*huma.Schema{"status": {Type: huma.TypeString, Enum: []any{about.status}}}}
		op := &huma.Operation{Method: http.MethodGet, Path: path, OperationID: operationID(http.MethodGet, path), Summary: about.summary,
			Description: about.text, Tags: []string{tagService}, Errors: about.fails}
		answering(http.StatusOK, "Yes.", status)(op)
		api.OpenAPI().AddOperation(op)
	}
}

// completeDescription adds to the description what is the same for many operations, once all are registered. It is for readers alone: what
// requests are held against was fixed with their registration.
func completeDescription(api huma.API) {
	doc := api.OpenAPI()
	doc.Info.Description, doc.Tags = overview, tags()
	describeSession(api)
	describeTokenBound(api)
	for path, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			describeParameters(op)
			describeAnswers(op)
			if tail, is := strings.CutPrefix(path, prefixes[1]); is {
				op.Tags, op.Description = []string{tagAlias}, fmt.Sprintf("The same as %s %s. %s", op.Method, prefixes[0]+tail, op.Description)
			}
		}
	}
}

// describeParameters says what the parameters are that their fields don't tell.
func describeParameters(op *huma.Operation) {
	texts := map[string]string{
		"limit": "At most so many, the newest.", "copilot_mode": "Only sessions whose last message was in this mode.",
		"tool_call_id":    "The call, as events and the history name it.",
		"hitl_session_id": "Only the calls that wait together under this id: whose, when several users have a session of that name.",
		"Accept-Language": "Texts for people are Chinese when it begins with zh, else English.",
		"Idempotency-Key": "Repeating a decision with the same key gets the same reply.",
	}
	for _, p := range op.Parameters {
		described := *p.Schema // the original is what requests are held against, in words of its own
		switch p.Name {
		case "session_id":
			described.Pattern = "^[A-Za-z0-9_-]{1,128}$"
		case "project_id":
			described.Format = "uuid"
		}
		p.Schema = &described
		if p.Description == "" {
			p.Description = texts[p.Name]
		}
	}
}

// describeAnswers names the errors that an operation can have, and the header that all answers have.
func describeAnswers(op *huma.Operation) {
	for _, r := range op.Responses {
		r.Headers = headers(echo.HeaderXRequestID)
		for _, content := range r.Content {
			if content.Schema.Type == huma.TypeArray {
				content.Schema.Nullable = false // an empty list is []
			}
		}
	}
	fails := op.Errors
	if op.RequestBody != nil {
		fails = append(fails, http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	for _, status := range fails {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: componentRef + "responses/" + errorName(status)}
	}
}

// eventShape says which fields an event of a type has beside type and session_id, and which of them it may lack.
type eventShape struct {
	kind     schema.EventType
	doc      string
	always   []string
	optional []string
}

// eventShapes lists every type that a stream can have.
func eventShapes() []eventShape {
	return []eventShape{
		{schema.EventContent, "A piece of the assistant's text: append it to what came of this message_id. Drop what is of an older attempt than the newest seen. With notice the text is the server's, for clients that know nothing of approvals: others skip it.", []string{"content", "message_id", "attempt"}, []string{"notice"}},
		{schema.EventToolCall, "A tool call as far as the model has written it: the arguments are cumulative text, and complete is true on the call's last.", []string{"tool_call", "message_id", "attempt"}, nil},
		{schema.EventToolStart, "A tool begins to run.", []string{"tool_name", "tool_call_id"}, nil},
		{schema.EventDeviceProgress, "Where a device stands within a tool call.", []string{"tool_call_id", "device_name", "state", "detail", "done", "total"}, nil},
		{schema.EventToolEnd, "A tool's result: a ToolResponse as JSON text. Items over 64 KiB are cut in the middle; …/tool-outputs/{tool_call_id} has the whole.", []string{"tool_name", "tool_call_id", "tool_output"}, nil},
		{schema.EventHITLRequired, "Calls wait for a human's word.", []string{"hitl_session_id", "pending_tools", "timeout", "expires_at"}, nil},
		{schema.EventHITLResolved, "A call waits no longer.", []string{"hitl_session_id", "tool_call_id", "outcome", "decided_by"}, []string{"reason"}},
		{schema.EventRetry, "Discard what was shown of this message: it begins again.", []string{"message_id", "attempt", "reason"}, nil},
		{schema.EventWaiting, "The turn stands still until something outside happens, which reason says: the user's login, a neighbour that is away.", []string{"reason"}, []string{"code", "message_id"}},
		{schema.EventFailover, "A model can't answer, for a reason that code and reason tell, and the next of the configured ones, model, goes on.", []string{"model", "code", "reason"}, nil},
		{schema.EventTrimmed, "The conversation has outgrown what the model reads: so many of its earlier messages are not sent to it any more. The history has them.", []string{"left_out"}, nil},
		{schema.EventTitle, "The session has a title.", []string{"title"}, nil},
		{schema.EventError, "Something went wrong; unless done follows, the turn itself goes on.", []string{"error", "code"}, []string{"hint", "model"}},
		{schema.EventAbort, "The turn was aborted; done follows.", []string{"reason"}, nil},
		{schema.EventDone, "The turn is over; nothing follows. turn_id is what ?turn= of …/events takes. stop_reason is complete (there is an answer), steps, tool_calls, tokens or cost (that limit is reached, the turn's or its user's of the day, as the last text says), aborted or error.", []string{"turn_id", "stop_reason"}, []string{"usage"}},
		{schema.EventReset, "The stream can't go on behind the given Last-Event-ID, or the turn's first events may no longer be kept: read the history. What is kept of the turn follows.", []string{"reason"}, nil},
		{schema.EventHeartbeat, "A sign of life after a time of silence; it has no id.", nil, nil},
	}
}

// describeStream adds the events, and the conversation that stream: false answers with, to what an operation is described to answer.
func describeStream(api huma.API, withoutStream bool) func(*huma.Operation) {
	content := map[string]*huma.MediaType{"text/event-stream": {Schema: describeEvents(api)}}
	if withoutStream {
		content["application/json"] = &huma.MediaType{Schema: schemaOf[schema.ConversationHistory](api)}
	}
	answer := &huma.Response{
		Description: "Server-sent events: each has an id, but for heartbeats and what concerns this stream alone, and one of these objects as its data.",
		Content:     content,
	}
	return func(op *huma.Operation) { op.Responses = map[string]*huma.Response{"200": answer} }
}

// describeEvents gives the choice of all events. The one Go type of them all, which has every field and requires none, isn't part of the
// description.
func describeEvents(api huma.API) *huma.Schema {
	registry := api.OpenAPI().Components.Schemas
	event := registry.Schema(reflect.TypeFor[schema.Event](), false, "")
	event.Properties["code"].Enum = codeEnum()
	one := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}}
	for _, shape := range eventShapes() {
		name := "Event-" + string(shape.kind)
		registry.Map()[name] = shape.schema(event)
		ref := componentRef + "schemas/" + name
		one.OneOf = append(one.OneOf, &huma.Schema{Ref: ref})
		one.Discriminator.Mapping[string(shape.kind)] = ref
	}
	delete(registry.Map(), "Event")
	return one
}

// schema is the shape with the fields as the one Go type of all events has them. Clients must expect fields that they don't know.
func (e eventShape) schema(event *huma.Schema) *huma.Schema {
	s := &huma.Schema{
		Type: huma.TypeObject, Description: e.doc, AdditionalProperties: true,
		Properties: map[string]*huma.Schema{"type": {Type: huma.TypeString, Enum: []any{string(e.kind)}}, "session_id": event.Properties["session_id"]},
		Required:   append([]string{"type", "session_id"}, e.always...),
	}
	for _, list := range [][]string{e.always, e.optional} {
		for _, field := range list {
			s.Properties[field] = event.Properties[field]
		}
	}
	return s
}

// bodyLimit bounds an operation's request body, in bytes: the first size that is too large.
func bodyLimit(bytes int64) func(*huma.Operation) {
	return func(op *huma.Operation) { op.MaxBodyBytes = bytes }
}
