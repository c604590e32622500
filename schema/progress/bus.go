// Package progress is the event stream of turns: workers publish what happens, readers follow it live and pick it up again
// where they left. It runs on NATS JetStream, one subject for each turn.
package progress

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// StreamName is the JetStream stream that holds the events of all turns.
const StreamName = "COPILOT"

// Bounds of what is kept for readers that come back, and of how long a repeated publication is recognised.
const (
	maxAge      = 24 * time.Hour
	maxBytes    = 1 << 30
	dedupWindow = 10 * time.Minute
)

// ackWait bounds the wait for the stream to acknowledge an event.
const ackWait = 10 * time.Second

// Options says where NATS is. InProcess, when set, is used in place of URL.
type Options struct {
	URL, Token string
	InProcess  nats.InProcessConnProvider
	Logger     *slog.Logger
}

// Bus is the connection to the event stream, safe for concurrent use.
type Bus struct {
	nc *nats.Conn
	js jetstream.JetStream
	// reading is a connection of the readers' own: a server that can't get rid of what many of them ask for at once ends their connection,
	// and that must not be the one which turns publish on.
	reading *nats.Conn
	readers jetstream.JetStream
	log     *slog.Logger
}

// Connect dials NATS and makes sure that the stream is there. It fails with CodeUnavailable.
func Connect(ctx context.Context, o Options) (*Bus, error) {
	opts := []nats.Option{
		nats.Name("gns3-copilot"), nats.Token(o.Token), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectBufSize(-1), // a publication while disconnected fails at once, and Temporal tries again
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Logger.Warn("NATS", "error", err) }),
	}
	if o.InProcess != nil {
		opts = append(opts, nats.InProcessServer(o.InProcess))
	}
	b := &Bus{log: o.Logger}
	var err error
	if b.nc, b.js, err = dial(o.URL, opts, jetstream.WithPublishAsyncMaxPending(16384)); err != nil {
		return nil, err
	}
	if b.reading, b.readers, err = dial(o.URL, append(opts, nats.ErrorHandler(b.readerFault))); err != nil {
		b.nc.Close()
		return nil, err
	}
	_, err = b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: StreamName, Subjects: []string{"turn.>"}, Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld,
		MaxAge: maxAge, MaxBytes: maxBytes, Duplicates: dedupWindow, AllowDirect: true,
	})
	if err != nil {
		b.Close()
		return nil, unavailable(fmt.Errorf("open the event stream: %w", err))
	}
	return b, nil
}

// readerFault logs what goes wrong for readers. What a reader asks for fills its channel to the brim, so the server's word behind it, that this was
// all, finds no room: the client calls that a slow consumer, and no event is lost by it.
func (b *Bus) readerFault(_ *nats.Conn, _ *nats.Subscription, err error) {
	level := slog.LevelWarn
	if errors.Is(err, nats.ErrSlowConsumer) {
		level = slog.LevelDebug
	}
	b.log.Log(context.Background(), level, "NATS", "error", err)
}

// addressOf is what of the URL may be told: a token may stand before it.
func addressOf(natsURL string) string {
	u, err := url.Parse(natsURL)
	if err != nil || u.Host == "" {
		return "its address"
	}
	return u.Host
}

func dial(natsURL string, opts []nats.Option, more ...jetstream.JetStreamOpt) (*nats.Conn, jetstream.JetStream, error) {
	nc, err := nats.Connect(natsURL, opts...)
	if errors.Is(err, nats.ErrAuthorization) {
		return nil, nil, schema.Errorf(schema.CodeUnavailable, "NATS at %s refuses the token.", addressOf(natsURL)).
			WithHint("Give the same --nats-token (COPILOT_NATS_TOKEN) as to the NATS server.").WithCause(err)
	}
	if err != nil {
		return nil, nil, schema.Errorf(schema.CodeUnavailable, "NATS can't be reached at %s.", addressOf(natsURL)).
			WithHint("Look whether it runs, and at --nats-url (COPILOT_NATS_URL).").WithCause(err)
	}
	js, err := jetstream.New(nc, more...)
	if err != nil {
		nc.Close()
		return nil, nil, unavailable(err)
	}
	return nc, js, nil
}

// Close ends the connections.
func (b *Bus) Close() {
	b.reading.Close()
	b.nc.Close()
}

// Connected tells whether NATS can be reached now.
func (b *Bus) Connected() bool { return b.nc.IsConnected() }

// JetStream gives the connection to what else lives in NATS.
func (b *Bus) JetStream() jetstream.JetStream { return b.js }

// Ping checks that the stream answers. It fails with CodeUnavailable.
func (b *Bus) Ping(ctx context.Context) error {
	_, err := b.js.Stream(ctx, StreamName)
	return unavailable(err)
}

// Newest is the place of the newest event of any turn. It fails with CodeUnavailable.
func (b *Bus) Newest(ctx context.Context) (seq uint64, err error) {
	state, err := b.state(ctx)
	return state.LastSeq, err
}

// state is what the stream holds now.
func (b *Bus) state(ctx context.Context) (jetstream.StreamState, error) {
	stream, err := b.js.Stream(ctx, StreamName)
	if err != nil {
		return jetstream.StreamState{}, unavailable(err)
	}
	return stream.CachedInfo().State, nil
}

// Forget removes what is kept of a session's turns up to that place. It fails with CodeUnavailable.
func (b *Bus) Forget(ctx context.Context, sessionKey string, upTo uint64) error {
	stream, err := b.js.Stream(ctx, StreamName)
	if err == nil {
		err = stream.Purge(ctx, jetstream.WithPurgeSubject("turn."+sessionKey+".>"), jetstream.WithPurgeSequence(upTo+1))
	}
	if err != nil {
		return unavailable(fmt.Errorf("purge events: %w", err))
	}
	return nil
}

func subject(ref schema.TurnRef) string { return "turn." + ref.SessionKey + "." + ref.TurnID }

// Publish adds an event and waits until it is stored. An id makes a repeated publication harmless within ten minutes; it is
// unique within the turn. It fails with CodeUnavailable.
func (b *Bus) Publish(ctx context.Context, ref schema.TurnRef, ev schema.Event, id string) (err error) {
	ctx, span := observe.Start(ctx, "publish "+string(ev.Type))
	defer func() { observe.End(span, err) }()
	ctx, cancel := context.WithTimeout(ctx, ackWait)
	defer cancel()
	var opts []jetstream.PublishOpt
	if id != "" {
		opts = append(opts, jetstream.WithMsgID(ref.TurnID+"/"+id))
	}
	if _, err := b.js.PublishMsg(ctx, message(ref, ev), opts...); err != nil {
		return unavailable(fmt.Errorf("publish %s: %w", ev.Type, err))
	}
	return nil
}

// Tell adds an event without waiting: one that may get lost. An id is what it is for Publish. It fails with CodeUnavailable.
func (b *Bus) Tell(ref schema.TurnRef, ev schema.Event, id string) error {
	m := message(ref, ev)
	if id != "" {
		m.Header = nats.Header{jetstream.MsgIDHeader: {ref.TurnID + "/" + id}}
	}
	return unavailable(b.nc.PublishMsg(m))
}

func message(ref schema.TurnRef, ev schema.Event) *nats.Msg {
	ev.SessionID = ref.SessionID
	return &nats.Msg{Subject: subject(ref), Data: schema.Text(ev)}
}

// Publisher sends a turn's events without waiting for each. It belongs to one goroutine.
type Publisher struct {
	bus  *Bus
	ref  schema.TurnRef
	acks []jetstream.PubAckFuture
}

// Publisher makes a publisher for a turn; Flush must follow the last Send.
func (b *Bus) Publisher(ref schema.TurnRef) *Publisher { return &Publisher{bus: b, ref: ref} }

// Send hands an event to the stream. It fails with CodeUnavailable, also when an earlier event turns out not to be stored.
func (p *Publisher) Send(ev schema.Event) error {
	if err := p.settle(); err != nil {
		return err
	}
	ack, err := p.bus.js.PublishMsgAsync(message(p.ref, ev))
	if err != nil {
		return unavailable(fmt.Errorf("publish %s: %w", ev.Type, err))
	}
	p.acks = append(p.acks, ack)
	return nil
}

// settle lets go of the oldest events as far as they are stored: a long answer must not be held in memory until its end.
func (p *Publisher) settle() error {
	for len(p.acks) > 0 {
		select {
		case <-p.acks[0].Ok():
			p.acks[0] = nil
			p.acks = p.acks[1:]
		case err := <-p.acks[0].Err():
			return notStored(err)
		default:
			return nil
		}
	}
	return nil
}

// Flush waits until everything sent is stored. It fails with CodeUnavailable.
func (p *Publisher) Flush(ctx context.Context) (err error) {
	ctx, span := observe.Start(ctx, "wait for the event stream")
	defer func() { observe.End(span, err) }()
	ctx, cancel := context.WithTimeout(ctx, ackWait)
	defer cancel()
	for _, ack := range p.acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return notStored(err)
		case <-ctx.Done():
			return unavailable(fmt.Errorf("wait for the event stream: %w", ctx.Err()))
		}
	}
	p.acks = nil
	return nil
}

func notStored(err error) error { return unavailable(fmt.Errorf("event not stored: %w", err)) }

func unavailable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return schema.Errorf(schema.CodeUnavailable, "The event stream can't be used at the moment.").
		WithHint("Try again; if it stays, look whether NATS is running and has room on its disk.").WithCause(err)
}
