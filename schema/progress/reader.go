package progress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"

	"github.com/nats-io/nats.go/jetstream"
)

// EventID is the opaque id of an event on the wire: the turn and the event's place in the stream.
func EventID(turnID string, seq uint64) string { return turnID + "." + strconv.FormatUint(seq, 10) }

// ParseEventID takes an event's id apart. ok is false for anything that we can't have made.
func ParseEventID(id string) (turnID string, seq uint64, ok bool) {
	turnID, tail, found := strings.Cut(id, ".")
	if !found || turnID == "" {
		return "", 0, false
	}
	seq, err := strconv.ParseUint(tail, 10, 64)
	return turnID, seq, err == nil && seq > 0
}

// Item is an event with its place in the stream. Data is the event as it goes over the wire. Stale is true for what clients should
// not see: what an outdated attempt still sends, and what is told twice.
type Item struct {
	Seq   uint64
	Event schema.Event
	Data  []byte
	Stale bool
}

// Bounds of what a reader asks for at once, in events and in bytes: the server holds that much for each until it is sent, and ends the
// connection of readers for whom it holds too much. An event, of which the server's max_payload is 8 MiB, must fit into the bytes.
const (
	readAhead      = 16
	readAheadBytes = 9 << 20
)

// returnTries is how often a reader tries to take up a stream that was away, after 0, 1, 3 and 7 s. Its Next heeds no context meanwhile.
const returnTries = 4

// closeWait bounds what a reader's end costs when the server doesn't answer.
const closeWait = 2 * time.Second

// Reader follows one turn from its first event. It belongs to one goroutine, but for Close.
type Reader struct {
	js     jetstream.JetStream
	cons   jetstream.Consumer
	it     jetstream.MessagesContext
	filter filter
}

// Follow opens a reader on a turn, whose events may not exist yet. It fails with CodeUnavailable.
func (b *Bus) Follow(ctx context.Context, ref schema.TurnRef) (_ *Reader, err error) {
	ctx, span := observe.Start(ctx, "follow events")
	defer func() { observe.End(span, err) }()
	cons, err := b.readers.OrderedConsumer(ctx, StreamName, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{subject(ref)}, DeliverPolicy: jetstream.DeliverAllPolicy, InactiveThreshold: inactive,
		MaxResetAttempts: returnTries,
	})
	if err != nil {
		return nil, unavailable(fmt.Errorf("follow turn: %w", err))
	}
	// A reader holds little ahead of its client, which may be slow.
	it, err := cons.Messages(jetstream.PullMaxMessagesWithBytesLimit(readAhead, readAheadBytes))
	if err != nil {
		return nil, unavailable(fmt.Errorf("follow turn: %w", err))
	}
	return &Reader{js: b.readers, cons: cons, it: it, filter: newFilter()}, nil
}

// Next gives the turn's next event. It waits until there is one or ctx ends; while the event stream is away, until Close. It fails with
// CodeUnavailable, or with ctx's error.
func (r *Reader) Next(ctx context.Context) (Item, error) {
	msg, err := r.it.Next(jetstream.NextContext(ctx))
	if err != nil {
		if ctx.Err() != nil {
			return Item{}, ctx.Err()
		}
		return Item{}, unavailable(fmt.Errorf("read events: %w", err))
	}
	meta, err := msg.Metadata()
	if err != nil {
		return Item{}, unavailable(fmt.Errorf("read events: %w", err))
	}
	item := Item{Seq: meta.Sequence.Stream, Data: msg.Data()}
	if err := json.Unmarshal(msg.Data(), &item.Event); err != nil {
		return Item{}, fmt.Errorf("read events: %w", err)
	}
	item.Stale = !r.filter.pass(item.Event)
	return item, nil
}

// Close ends the reader; a Next that waits returns. The server is told to forget it: by itself it would keep the place of each client that
// came by for a while.
func (r *Reader) Close() {
	r.it.Stop()
	info := r.cons.CachedInfo()
	if info == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	// Where that fails, the place ends by itself.
	_ = r.js.DeleteConsumer(ctx, StreamName, info.Name)
}

// Last gives the turn's newest event; ok is false when it has none. It fails with CodeUnavailable.
func (b *Bus) Last(ctx context.Context, ref schema.TurnRef) (ev schema.Event, seq uint64, ok bool, err error) {
	stream, err := b.js.Stream(ctx, StreamName)
	if err != nil {
		return ev, 0, false, unavailable(err)
	}
	msg, err := stream.GetLastMsgForSubject(ctx, subject(ref))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return ev, 0, false, nil
	}
	if err != nil {
		return ev, 0, false, unavailable(err)
	}
	if err := json.Unmarshal(msg.Data, &ev); err != nil {
		return ev, 0, false, fmt.Errorf("read events: %w", err)
	}
	return ev, msg.Sequence, true, nil
}

// Oldest is the place of the oldest event that is still kept, of any turn, and when it was stored; the time is zero when none is kept.
// It fails with CodeUnavailable.
func (b *Bus) Oldest(ctx context.Context) (seq uint64, at time.Time, err error) {
	state, err := b.state(ctx)
	return state.FirstSeq, state.FirstTime, err
}

// filter knows which attempt of each message is current and what has been told. Since a reader starts at the turn's first event,
// wherever its client resumes, every reader leaves out the same events.
type filter struct {
	attempts map[string]int
	told     map[string]bool
}

func newFilter() filter { return filter{attempts: map[string]int{}, told: map[string]bool{}} }

func (f filter) pass(ev schema.Event) bool {
	switch ev.Type {
	case schema.EventContent, schema.EventToolCall, schema.EventRetry:
		if ev.Attempt < f.attempts[ev.MessageID] {
			return false
		}
		f.attempts[ev.MessageID] = ev.Attempt
	case schema.EventToolStart, schema.EventToolEnd:
		key := string(ev.Type) + ev.ToolCallID
		if f.told[key] {
			return false
		}
		f.told[key] = true
	}
	return true
}
