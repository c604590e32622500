package activities

import (
	"time"

	"gns3copilot/activities/llm"
	"gns3copilot/schema"
	"gns3copilot/schema/progress"
	"gns3copilot/schema/store"
)

// callInterval is the least time between two events that show a growing tool call: ten a second are enough to watch.
const callInterval = 100 * time.Millisecond

// sink publishes an answer as it comes.
type sink struct {
	pub     *progress.Publisher
	id      string
	in      schema.CallModelInput
	attempt int
	sent    bool
	shown   map[int]time.Time // when each call was last
}

func newSink(pub *progress.Publisher, id string, in schema.CallModelInput, attempt int) *sink {
	return &sink{pub: pub, id: id, in: in, attempt: attempt, shown: map[int]time.Time{}}
}

// delta publishes one piece.
func (s *sink) delta(d llm.Delta) error {
	if d.Content != "" {
		return s.send(schema.Event{Type: schema.EventContent, Content: d.Content, MessageID: s.id, Attempt: try(s.in, s.attempt)})
	}
	if d.ToolCall != nil && d.ToolCall.Name != "" {
		return s.grow(*d.ToolCall)
	}
	return nil
}

// grow publishes a call that is being written. Its first event has no arguments yet, whatever came with the name.
func (s *sink) grow(c llm.ToolCallDelta) error {
	id, name := callID(s.in, c.Index), cleanName(c.Name)
	shown, known := s.shown[c.Index]
	if !known {
		s.shown[c.Index] = time.Time{}
		if err := s.call(id, name, "", false); err != nil {
			return err
		}
	}
	if c.Arguments == "" || time.Since(shown) < callInterval {
		return nil
	}
	s.shown[c.Index] = time.Now()
	return s.call(id, name, c.Arguments, false)
}

func (s *sink) send(ev schema.Event) error {
	s.sent = true
	return s.pub.Send(ev)
}

// begun is the message's id once readers may have seen something of it, before that "".
func (s *sink) begun() string {
	if !s.sent {
		return ""
	}
	return s.id
}

// complete publishes each call once more, with its whole arguments.
func (s *sink) complete(calls []store.ToolCall) error {
	for _, c := range calls {
		if err := s.call(c.ID, c.Name, c.Arguments, true); err != nil {
			return err
		}
	}
	return nil
}

// call publishes a call as it stands. Each such event has all of the arguments so far, so long ones are cut here.
func (s *sink) call(id, name, arguments string, complete bool) error {
	arguments = schema.CutText(arguments, schema.MaxItemText)
	return s.send(schema.Event{
		Type: schema.EventToolCall, MessageID: s.id, Attempt: try(s.in, s.attempt),
		ToolCall: &schema.ToolCallView{
			ID: id, Type: "function",
			Function: schema.FunctionView{Name: name, Arguments: arguments, Complete: complete},
		},
	})
}
