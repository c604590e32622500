package activities

import (
	"context"
	"fmt"
	"log/slog"

	"gns3copilot/schema"
	"gns3copilot/schema/progress"
)

// trouble tells a turn's readers what its work has failed for and is tried again: a neighbour that is away, or a provider that asks for a
// pause. message is the id of the assistant's message whose beginning readers have seen, so that it stays the last they heard of.
// It is for watching only: the event may get lost.
func trouble(ctx context.Context, bus *progress.Bus, log *slog.Logger, ref schema.TurnRef, message string, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	e := schema.AsError(err)
	ev := schema.Event{Type: schema.EventWaiting, Code: e.Code, MessageID: message}
	switch {
	case e.RetryAfter > 0:
		ev.Reason = fmt.Sprintf("%s. It is asked again in %s.", e.Message, e.RetryAfter)
	case e.Code == schema.CodeUnavailable, e.Code == schema.CodeGNS3Unavailable:
		ev.Reason = e.Message + " It is tried again; if it stays so, look at the server's log."
	default:
		return
	}
	if err := bus.Tell(ref, ev, "trouble/"+string(e.Code)+"/"+e.Message); err != nil {
		log.WarnContext(ctx, "trouble not told", "turn", ref.TurnID, "error", err)
	}
}
