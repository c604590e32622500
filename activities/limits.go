package activities

import (
	"context"
	"fmt"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// limitNote is what the assistant says last in a turn that a limit ends, "" in others.
func limitNote(in schema.FinishTurnInput) string {
	const more = " Ask me to go on if you want more."
	switch limit := in.Limit; {
	case in.StopReason == schema.StopSteps:
		return fmt.Sprintf("I stopped after %d steps, which is what one message may take.", in.Steps) + more
	case limit == nil:
		return ""
	case limit.Day:
		return "I stopped because you have used " + limit.Extent() + " today; it begins anew at 00:00 UTC. Ask me to go on then."
	case limit.Asked > 0:
		return fmt.Sprintf("I stopped after %s, which is what one message may take: the last step asked for %d more, and none of them was run.",
			limit.Extent(), limit.Asked) + more
	default:
		return "I stopped after " + limit.Extent() + ", which is what one message may take." + more
	}
}

// tellLimit ends a turn that has reached a limit with a message that says which and how far, in the stream and in the history. Run again it
// tells the same message again.
func (t *Turns) tellLimit(ctx context.Context, in schema.FinishTurnInput) error {
	note := limitNote(in)
	if note == "" {
		return nil
	}
	step := in.Steps + 1
	m, err := t.Store.Assistant(ctx, in.TurnRef, step)
	if schema.CodeOf(err) == schema.CodeNotFound {
		m, err = t.Store.PutAssistant(ctx, in.TurnRef, step, 1, store.Message{ID: messageID(in.TurnID, step), Content: note})
	}
	if err != nil {
		return err
	}
	ev := schema.Event{Type: schema.EventContent, Content: m.Content, MessageID: m.ID, Attempt: 1}
	return t.Bus.Publish(ctx, in.TurnRef, ev, "last/budget")
}

// balance puts what the books of model calls say into the turn's usage: they know the tokens of calls that failed, too. A turn that began
// before there were such books has used more than they say.
func (t *Turns) balance(ctx context.Context, in *schema.FinishTurnInput) error {
	booked, err := t.Store.TurnUsage(ctx, in.TurnRef)
	if err != nil || booked.TotalTokens < in.Usage.TotalTokens {
		return err
	}
	booked.LLMCalls, booked.ToolCalls = in.Usage.LLMCalls, in.Usage.ToolCalls
	in.Usage = booked
	return nil
}
