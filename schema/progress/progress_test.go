package progress

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// openBus runs a real server in this process.
func openBus(t *testing.T) *Bus { return openBusOn(t, &server.Options{}) }

func openBusOn(t *testing.T, o *server.Options) *Bus {
	t.Helper()
	o.DontListen = true
	return connect(t, Options{InProcess: startServer(t, o), Logger: quiet()})
}

func startServer(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	o.JetStream, o.StoreDir, o.NoSigs = true, t.TempDir(), true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("NATS isn't ready")
	}
	return s
}

func connect(t *testing.T, o Options) *Bus {
	t.Helper()
	b, err := Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

var ref = schema.TurnRef{TurnID: "t1", SessionKey: "k1", SessionID: "s1"}

func text(s string, attempt int) schema.Event {
	return schema.Event{Type: schema.EventContent, Content: s, MessageID: "m1", Attempt: attempt}
}

func next(t *testing.T, r *Reader) Item {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	item, err := r.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

func TestReaderSeesWhatWasAndWhatComes(t *testing.T) {
	b := openBus(t)
	p := b.Publisher(ref)
	for i := range 3 {
		if err := p.Send(text(fmt.Sprint(i), 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := ref
	other.TurnID = "t2"
	if err := b.Publish(t.Context(), other, text("another turn", 1), ""); err != nil {
		t.Fatal(err)
	}
	r, err := b.Follow(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var last uint64
	for i := range 3 {
		item := next(t, r)
		if item.Event.Content != fmt.Sprint(i) || item.Event.SessionID != "s1" || item.Seq <= last {
			t.Fatalf("event %d: %+v", i, item)
		}
		last = item.Seq
	}
	if err := b.Publish(t.Context(), ref, schema.Event{Type: schema.EventDone}, "done"); err != nil {
		t.Fatal(err)
	}
	if item := next(t, r); item.Event.Type != schema.EventDone {
		t.Fatalf("want done, got %+v", item)
	}
}

// logLines is a log that gives each of its lines once.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// TestReadingALongTurnIsNoFault: a reader asks for more when half of what it asked for is read; a client that is slow then fills it to the brim.
func TestReadingALongTurnIsNoFault(t *testing.T) {
	log := make(logLines, 100)
	b := connect(t, Options{
		InProcess: startServer(t, &server.Options{DontListen: true}),
		Logger:    slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	p := b.Publisher(ref)
	const events = 4 * readAhead
	for i := range events {
		if err := p.Send(text(fmt.Sprint(i), 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := b.Follow(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range events {
		if item := next(t, r); item.Event.Content != fmt.Sprint(i) {
			t.Fatalf("event %d is %q", i, item.Event.Content)
		}
		if i != readAhead/2+1 {
			continue
		}
		select {
		case line := <-log:
			if !strings.Contains(line, "level=DEBUG") {
				t.Error(line)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("nothing finds no room any more: readerFault can go")
		}
	}
}

func TestPublisherHoldsWhatIsNotYetStoredAlone(t *testing.T) {
	b := openBus(t)
	p := b.Publisher(ref)
	for range 3 {
		for range 200 {
			if err := p.Send(text("a", 1)); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-b.js.PublishAsyncComplete():
		case <-time.After(20 * time.Second):
			t.Fatal("the events aren't stored")
		}
	}
	if err := p.Send(text("b", 1)); err != nil {
		t.Fatal(err)
	}
	if n := len(p.acks); n != 1 {
		t.Fatalf("%d events are held, all but one of which are stored", n)
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, seq, _, err := b.Last(t.Context(), ref); err != nil || seq != 601 {
		t.Fatalf("%d events are stored, %v", seq, err)
	}
}

func TestClosedReadersLeaveNothingBehind(t *testing.T) {
	b := openBus(t)
	for range 20 {
		r, err := b.Follow(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	stream, err := b.js.Stream(t.Context(), StreamName)
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Consumers; n != 0 {
		t.Fatalf("the server still keeps the places of %d readers", n)
	}
}

func TestRepeatedPublicationIsStoredOnce(t *testing.T) {
	b := openBus(t)
	for range 3 {
		if err := b.Publish(t.Context(), ref, schema.Event{Type: schema.EventToolStart, ToolCallID: "c"}, "start/c"); err != nil {
			t.Fatal(err)
		}
	}
	_, first, _, err := b.Last(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if first != 1 {
		t.Fatalf("stored %d times", first)
	}
}

func TestOutdatedAttemptsAreStale(t *testing.T) {
	b := openBus(t)
	events := []struct {
		ev    schema.Event
		stale bool
	}{
		{text("a", 1), false},
		{schema.Event{Type: schema.EventRetry, MessageID: "m1", Attempt: 2}, false},
		{text("zombie", 1), true},
		{text("b", 2), false},
		{schema.Event{Type: schema.EventContent, MessageID: "m2", Content: "another message", Attempt: 1}, false},
		{schema.Event{Type: schema.EventToolStart, ToolCallID: "c"}, false},
		{schema.Event{Type: schema.EventToolStart, ToolCallID: "c"}, true},
		{schema.Event{Type: schema.EventToolEnd, ToolCallID: "c"}, false},
		{schema.Event{Type: schema.EventToolEnd, ToolCallID: "c"}, true},
	}
	for _, e := range events {
		if err := b.Publish(t.Context(), ref, e.ev, ""); err != nil {
			t.Fatal(err)
		}
	}
	r, err := b.Follow(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i, e := range events {
		if item := next(t, r); item.Stale != e.stale {
			t.Errorf("event %d %+v: stale %v, want %v", i, e.ev, item.Stale, e.stale)
		}
	}
}

func TestLargeEventsKeepTheirText(t *testing.T) {
	s, err := server.NewServer(&server.Options{JetStream: true, StoreDir: t.TempDir(), DontListen: true, NoSigs: true, MaxPayload: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("NATS isn't ready")
	}
	b, err := Connect(t.Context(), Options{InProcess: s, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	big := make([]byte, 3<<20)
	for i := range big {
		big[i] = 'a' + byte(i%26)
	}
	if err := b.Publish(t.Context(), ref, schema.Event{Type: schema.EventToolEnd, ToolOutput: string(big)}, ""); err != nil {
		t.Fatal(err)
	}
	r, err := b.Follow(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if item := next(t, r); item.Event.ToolOutput != string(big) {
		t.Fatal("the text came back changed")
	}
}

// TestTurnsPublishWhateverReadersAskFor has readers ask for more than the server holds for a connection, which it ends then: turns must not
// notice.
func TestTurnsPublishWhateverReadersAskFor(t *testing.T) {
	b := openBusOn(t, &server.Options{MaxPending: 1 << 20})
	p := b.Publisher(ref)
	for range readAhead {
		if err := p.Send(text(strings.Repeat("x", 500_000), 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := b.Follow(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	reading := make(chan error)
	go func() {
		for err == nil {
			_, err = r.Next(t.Context())
		}
		reading <- err
	}()
	defer func() {
		r.Close()
		<-reading
	}()
	other := ref
	other.TurnID = "t2"
	for deadline := time.Now().Add(20 * time.Second); b.reading.Stats().Reconnects == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the readers didn't ask for too much")
		}
		if err := b.Publish(t.Context(), other, text("a word", 1), ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.nc.Stats().Reconnects; n != 0 {
		t.Errorf("the turns' connection was ended %d times", n)
	}
}

func TestAbortReachesWhoWatches(t *testing.T) {
	b := openBus(t)
	told := make(chan struct{}, 1)
	stop, err := b.OnAbort("t1", func() { told <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := b.Abort("t2"); err != nil {
		t.Fatal(err)
	}
	if err := b.Abort("t1"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-told:
	case <-time.After(20 * time.Second):
		t.Fatal("the abort didn't come")
	}
	if len(told) > 0 {
		t.Fatal("another turn's abort came too")
	}
}

func TestEventIDs(t *testing.T) {
	turn, seq, ok := ParseEventID(EventID("t1", 7))
	if turn != "t1" || seq != 7 || !ok {
		t.Fatalf("%q %d %v", turn, seq, ok)
	}
	for _, bad := range []string{"", "t1", ".", "t1.", ".7", "t1.x", "t1.-1", "t1.0", "t1.7.8", "t1.99999999999999999999"} {
		if _, _, ok := ParseEventID(bad); ok {
			t.Errorf("%q is taken for an id", bad)
		}
	}
}

// TestUnreachable: who can't connect is told where and which flag says so, and never the token, which may be a part of the URL.
func TestUnreachable(t *testing.T) {
	s := startServer(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, Authorization: "another"})
	for name, c := range map[string]struct{ address, flag string }{
		"nothing listens":       {"127.0.0.1:1", "--nats-url"},
		"the token isn't right": {s.Addr().String(), "--nats-token"},
	} {
		for _, o := range []Options{{URL: "nats://" + c.address, Token: "s3cret"}, {URL: "nats://s3cret@" + c.address}} {
			o.Logger = quiet()
			_, err := Connect(t.Context(), o)
			if e := schema.AsError(err); schema.CodeOf(err) != schema.CodeUnavailable || !strings.Contains(e.Message, c.address) || !strings.Contains(e.Hint, c.flag) {
				t.Errorf("%s: %v", name, err)
			}
			if strings.Contains(fmt.Sprint(err), "s3cret") {
				t.Errorf("%s: the token is told: %v", name, err)
			}
		}
	}
}
