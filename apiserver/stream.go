package apiserver

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/progress"
	"gns3copilot/schema/store"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
)

// Times of a stream. Limits may give others in place of heartbeatEvery and writeWait.
const (
	heartbeatEvery = 15 * time.Second
	// quiet is how long a stream waits for events alone before it also waits for the run itself: a turn that is terminated in
	// Temporal's UI publishes nothing. Many turns end before that, and cost Temporal nothing.
	quiet     = 2 * time.Second
	writeWait = 90 * time.Second
)

// turnRun is a turn's run in Temporal, whether its books are closed, why a reader may miss some of its events, whether the notice behind its
// last event is known to it, and who the reader is: the turn's owner.
type turnRun struct {
	runID   string
	over    bool
	reset   string
	noticed bool
	owner   request
}

// streamContext ends with the request and with the server.
func (s *Server) streamContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.streams, cancel)
	return ctx, func() { stop(); cancel() }
}

// stream relays a turn's events that come after the given place. A reset, when there is a reason for one, comes first.
func (s *Server) stream(ref schema.TurnRef, run turnRun, after uint64) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		c := echoOf(hc)
		ctx, cancel := s.streamContext(c.Request().Context())
		defer cancel()
		if run.over && after > 0 && s.nothingAfter(ctx, ref, after) {
			_ = c.NoContent(http.StatusNoContent) // which tells an EventSource not to come back
			return
		}
		reader, err := s.bus.Follow(ctx, ref)
		if err != nil { // an error status is still possible
			_ = s.fail(c, err)
			return
		}
		defer s.metrics.Stream(ctx)()
		w := newSSE(c, s.limits.WriteWait)
		if run.reset != "" {
			if w.send("", schema.Text(schema.Event{Type: schema.EventReset, Reason: run.reset, SessionID: ref.SessionID})) != nil {
				reader.Close()
				return
			}
		}
		err = s.follow(ctx, reader, ref, run, after, w.send)
		if err == nil || ctx.Err() != nil {
			return
		}
		s.log.WarnContext(ctx, "stream broke", "request", requestID(c), "turn", ref.TurnID, "error", err)
		e, hint := schema.AsError(err), "The turn goes on. Open the session again to follow it."
		if e.Code == schema.CodeUnauthorized {
			hint = "The turn goes on. Log in to GNS3 again, then open the session to follow it."
		}
		_ = w.send("", schema.Text(schema.Event{Type: schema.EventError, Error: e.Message, Code: e.Code, Hint: hint, SessionID: ref.SessionID}))
	}}
}

// nothingAfter tells whether the client has seen all of a turn.
func (s *Server) nothingAfter(ctx context.Context, ref schema.TurnRef, after uint64) bool {
	_, last, _, err := s.bus.Last(ctx, ref)
	return err == nil && last > 0 && after >= last
}

// sender writes one event to a client.
type sender func(id string, data []byte) error

// follow hands each event to send until done, and closes the reader. A run that closed without one is given an end here.
func (s *Server) follow(ctx context.Context, reader *progress.Reader, ref schema.TurnRef, run turnRun, after uint64, send sender) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer reader.Close() // which ends the pump also while the event stream is away
	defer cancel(nil)
	items, closed := make(chan progress.Item), make(chan struct{})
	wg.Go(func() { pump(ctx, cancel, reader, items) })
	wg.Go(func() { s.watchLogin(ctx, cancel, run.owner.token) })
	wg.Go(func() {
		if s.awaitRun(ctx, ref, run) {
			close(closed)
		}
	})
	beat := time.NewTicker(s.limits.Heartbeat)
	defer beat.Stop()
	// seen is the newest event that came; last, once it is known, the newest that ever will.
	var seen, last uint64
	begun := false // to relay the answer
	narrator := s.narrate(run.owner, ref)
	for {
		select {
		case item := <-items:
			seen = item.Seq
			if !item.Stale && item.Seq > after {
				beat.Reset(s.limits.Heartbeat)
				if err := send(progress.EventID(ref.TurnID, item.Seq), item.Data); err != nil {
					return err
				}
				if !begun && item.Event.Type == schema.EventContent {
					begun = true
					trace.SpanFromContext(ctx).AddEvent(observe.EventFirstContent)
				}
			}
			if notice, ok := narrator.after(item.Event); ok && (item.Seq > after || item.Seq == after && !run.noticed) {
				if err := send(progress.EventID(ref.TurnID, item.Seq)+noticeMark, schema.Text(notice)); err != nil {
					return err
				}
			}
			switch {
			case item.Event.Type == schema.EventDone:
				return nil
			case item.Event.Type == schema.EventWaiting && item.Event.Code == schema.CodeCredentialMissing:
				wg.Go(func() { s.bringLogin(ctx, ref, run.owner) })
			}
		case <-beat.C:
			if err := send("", schema.Text(schema.Event{Type: schema.EventHeartbeat, SessionID: ref.SessionID})); err != nil {
				return err
			}
		case <-closed:
			closed = nil
			var err error
			if _, last, _, err = s.bus.Last(ctx, ref); err != nil {
				return err
			}
			if last == 0 { // nothing was published, or nothing of it is kept
				return s.endFor(ctx, ref, run, send)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if last > 0 && seen >= last {
			return s.endFor(ctx, ref, run, send)
		}
	}
}

// bringLogin gives a turn that waits for its owner's login the one that its reader came with, unless that one has ended, too.
func (s *Server) bringLogin(ctx context.Context, ref schema.TurnRef, owner request) {
	if err := s.identities.again(ctx, owner.token); err != nil {
		return
	}
	s.refreshCredential(ctx, owner, store.Session{Key: ref.SessionKey, ProjectID: ref.ProjectID, LastTurnID: ref.TurnID})
}

// watchLogin ends a stream whose reader's login is no more. While the GNS3 server can't be asked, what it said last holds.
func (s *Server) watchLogin(ctx context.Context, cancel context.CancelCauseFunc, token string) {
	tick := time.NewTicker(s.limits.LoginCheck)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := s.identities.again(ctx, token); schema.CodeOf(err) == schema.CodeUnauthorized {
			cancel(err)
			return
		}
	}
}

// pump reads ahead of a client until the stream ends.
func pump(ctx context.Context, cancel context.CancelCauseFunc, reader *progress.Reader, items chan<- progress.Item) {
	for {
		item, err := reader.Next(ctx)
		if err != nil {
			cancel(err)
			return
		}
		select {
		case items <- item:
		case <-ctx.Done():
			return
		}
	}
}

// awaitRun waits until the turn's run has closed. It returns false when ctx ends first.
func (s *Server) awaitRun(ctx context.Context, ref schema.TurnRef, run turnRun) bool {
	for !run.over {
		select {
		case <-time.After(quiet):
		case <-ctx.Done():
			return false
		}
		err := s.temporal.GetWorkflow(ctx, schema.WorkflowID(ref.SessionKey), run.runID).Get(ctx, nil)
		var failed *temporal.WorkflowExecutionError
		var gone *serviceerror.NotFound
		if err != nil && !errors.As(err, &failed) && !errors.As(err, &gone) {
			continue
		}
		// A workflow that was reset goes on as another run.
		latest, err := s.describe(ctx, ref.SessionKey, "")
		if err != nil && !errors.As(err, &gone) {
			continue
		}
		run.over = err != nil || latest.turnID != ref.TurnID || latest.closed
		run.runID = latest.runID
	}
	return true
}

// endFor tells readers the end of a turn whose own events don't: they are no longer kept, or the turn could not tell any.
func (s *Server) endFor(ctx context.Context, ref schema.TurnRef, run turnRun, send sender) error {
	events := []schema.Event{
		{Type: schema.EventError, Error: "The turn was ended from outside.", Code: schema.CodeInternal,
			Hint: "Send the message again. What was done until then is in the history."},
		{Type: schema.EventDone, TurnID: ref.TurnID, StopReason: schema.StopError},
	}
	turn, err := s.store.Turn(ctx, ref)
	switch {
	case err != nil:
	case turn.SessionKey != ref.SessionKey && turn.SessionKey != turn.ID: // nor a deleted session's
		// Two requests with one Idempotency-Key came at the same time, and the other's turn is the one that there is: its books aren't ours.
		other := errOtherBody()
		events[0] = schema.Event{Type: schema.EventError, Error: other.Message, Code: other.Code, Hint: other.Hint}
	case !turn.State.Over():
		if err := s.store.CloseAbandoned(ctx, ref); err != nil {
			s.log.WarnContext(ctx, "turn not closed", "turn", ref.TurnID, "error", err)
		}
	default:
		events[0] = schema.Event{Type: schema.EventReset, Reason: "The turn's events are no longer kept; the history has what was said."}
		events[1].StopReason = turn.StopReason
		if run.reset != "" { // which has been said
			events = events[1:]
		}
	}
	for _, ev := range events {
		ev.SessionID = ref.SessionID
		if err := send("", schema.Text(ev)); err != nil {
			return err
		}
	}
	return nil
}

// sse writes server-sent events.
type sse struct {
	w    *echo.Response
	rc   *http.ResponseController
	wait time.Duration // for a client that doesn't read
}

func newSSE(c echo.Context, wait time.Duration) *sse {
	w := c.Response()
	h := w.Header()
	h.Set(echo.HeaderContentType, "text/event-stream; charset=utf-8")
	h.Set(echo.HeaderCacheControl, "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")           // nginx would hold the stream back
	h.Set(echo.HeaderConnection, "keep-alive") // as GNS3 says it; HTTP/2 leaves it out
	w.WriteHeader(http.StatusOK)
	w.Flush()
	return &sse{w: w, rc: http.NewResponseController(w), wait: wait}
}

// send writes one event. data is JSON, which has no line ends of its own.
func (s *sse) send(id string, data []byte) error {
	if err := s.rc.SetWriteDeadline(time.Now().Add(s.wait)); err != nil {
		return err
	}
	frame := make([]byte, 0, len(id)+len(data)+16)
	if id != "" {
		frame = append(append(append(frame, "id: "...), id...), '\n')
	}
	frame = append(append(append(frame, "data: "...), data...), "\n\n"...)
	if _, err := s.w.Write(frame); err != nil {
		return err
	}
	return s.rc.Flush()
}
