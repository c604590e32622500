package apiserver

import (
	"net/http"
	"reflect"

	"gns3copilot/schema"

	"github.com/danielgtaylor/huma/v2"
	swagger "github.com/swaggest/swgui/v5emb"
)

// docsPath is where the API's description is shown, by a viewer that the program brings along: a lab often has no internet.
const docsPath = "/docs"

func docs() http.Handler { return swagger.New("GNS3 Copilot", "/openapi.json", docsPath) }

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
		{schema.EventContent, "A piece of the assistant's text.", []string{"content", "message_id", "attempt"}, nil},
		{schema.EventToolCall, "A tool call as far as the model has written it; complete on its last.", []string{"tool_call", "message_id", "attempt"}, nil},
		{schema.EventToolStart, "A tool begins to run.", []string{"tool_name", "tool_call_id"}, nil},
		{schema.EventDeviceProgress, "Where a device stands within a tool call.", []string{"tool_call_id", "device_name", "state", "detail", "done", "total"}, nil},
		{schema.EventToolEnd, "A tool's result, as JSON text.", []string{"tool_name", "tool_call_id", "tool_output"}, nil},
		{schema.EventHITLRequired, "Calls wait for a human's word.", []string{"hitl_session_id", "pending_tools", "timeout", "expires_at"}, nil},
		{schema.EventHITLResolved, "A call waits no longer.", []string{"hitl_session_id", "tool_call_id", "outcome", "decided_by"}, []string{"reason"}},
		{schema.EventRetry, "Discard what was shown of this message: it begins again.", []string{"message_id", "attempt", "reason"}, nil},
		{schema.EventWaiting, "The turn stands still until something outside happens.", []string{"reason"}, []string{"code"}},
		{schema.EventTitle, "The session has a title.", []string{"title"}, nil},
		{schema.EventError, "Something went wrong; unless done follows, the turn itself goes on.", []string{"error", "code"}, []string{"hint"}},
		{schema.EventAbort, "The turn was aborted.", []string{"reason"}, nil},
		{schema.EventDone, "The turn is over; nothing follows.", []string{"turn_id", "stop_reason"}, []string{"usage"}},
		{schema.EventReset, "The stream can't go on behind the given Last-Event-ID.", []string{"reason"}, nil},
		{schema.EventHeartbeat, "A sign of life after a time of silence; it has no id.", nil, nil},
	}
}

// describeStream adds the events, and the conversation that stream: false answers with, to what an operation is described to answer.
func describeStream(api huma.API, withoutStream bool) func(*huma.Operation) {
	registry := api.OpenAPI().Components.Schemas
	event := registry.Schema(reflect.TypeFor[schema.Event](), false, "Event")
	one := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}}
	for _, shape := range eventShapes() {
		name := "Event-" + string(shape.kind)
		registry.Map()[name] = shape.schema(event)
		ref := "#/components/schemas/" + name
		one.OneOf = append(one.OneOf, &huma.Schema{Ref: ref})
		one.Discriminator.Mapping[string(shape.kind)] = ref
	}
	answer := &huma.Response{
		Description: "Server-sent events: each has an id, but for heartbeats and what concerns this stream alone, and one of these objects as its data.",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: one}},
	}
	if withoutStream {
		answer.Content["application/json"] = &huma.MediaType{Schema: registry.Schema(reflect.TypeFor[schema.ConversationHistory](), true, "")}
	}
	return func(op *huma.Operation) { op.Responses = map[string]*huma.Response{"200": answer} }
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
