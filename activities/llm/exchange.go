package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"

	"go.opentelemetry.io/otel/trace"
)

const (
	maxErrorBody = 64 << 10
	// afterFinish bounds the wait for the usage and [DONE] once the answer is complete: some servers never close.
	afterFinish = 5 * time.Second
	// afterDone bounds the wait for the end of the body, which lets the connection be used again.
	afterDone = 50 * time.Millisecond
)

var errSilent = errors.New("not a byte within the idle limit")

// exchange is the http.RoundTripper of one model call. It sends our request body in the place of go-openai's and gives go-openai a
// stream that it can't misread. A refusal comes out as an error and not as a response, because go-openai drops the Retry-After
// header and any body that is not the JSON it expects.
type exchange struct {
	base   http.RoundTripper
	body   []byte
	key    secret
	header string // carries the key as it is; empty for Authorization
	// rewrite gives another body to try after a refusal, nil for none.
	rewrite func(refusal []byte) ([]byte, error)
	watch   *watchdog
	events  *eventReader // of the answer; nil before it begins
}

var _ http.RoundTripper = (*exchange)(nil)

// RoundTrip sends the request. A *schema.Error is the provider's refusal; anything else is the connection's.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close() // go-openai's stub, in memory
	}
	for {
		resp, err := x.send(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
			x.events = newEventReader(resp.Body)
			resp.Body = &repairedBody{events: x.events, watch: x.watch, upstream: resp.Body}
			return resp, nil
		}
		if err := x.refused(resp); err != nil {
			return nil, err
		}
	}
}

// send sends the body as it is now.
func (x *exchange) send(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	if x.header != "" && x.key != "" {
		out.Header.Del("Authorization")
		out.Header.Set(x.header, string(x.key))
	}
	body := x.body
	out.ContentLength = int64(len(body))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.Body, _ = out.GetBody()

	x.watch.arm()
	resp, err := x.base.RoundTrip(out)
	x.watch.disarm()
	if err != nil {
		return nil, err
	}
	trace.SpanFromContext(req.Context()).AddEvent(observe.EventHeaders)
	resp.Body = &watchedBody{ReadCloser: resp.Body, watch: x.watch}
	return resp, nil
}

// refused reads a response that is no answer. It gives nil when the body has been rewritten without what the provider refused to know.
func (x *exchange) refused(resp *http.Response) error {
	defer resp.Body.Close()
	words, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what could be read is shown
	refusal := statusError(resp, words, x.key)
	if refusal.Code != schema.CodeModelRefused {
		return refusal
	}
	body, err := x.rewrite(words)
	if err != nil {
		return err
	}
	if body == nil {
		return refusal
	}
	x.body = body
	return nil
}

// ended tells whether the provider has said [DONE].
func (x *exchange) ended() bool { return x.events != nil && x.events.done }

// junk is the beginning of what the provider sent beside events, nil if nothing.
func (x *exchange) junk() []byte {
	if x.events == nil {
		return nil
	}
	return x.events.junk
}

// repairedBody is the stream that go-openai reads: "data: " and JSON in one line for each event, then [DONE] if there was one.
type repairedBody struct {
	events   *eventReader
	watch    *watchdog
	upstream io.ReadCloser
	line     []byte
	rest     []byte // of line, not read yet
	err      error
}

// Read gives one event, or a part of it.
func (b *repairedBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.err = b.fill()
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	if n == 0 && len(p) > 0 {
		return 0, b.err
	}
	return n, nil
}

func (b *repairedBody) fill() error {
	event, err := b.events.next()
	switch {
	case b.events.done:
		event = []byte(donePayload)
	case err != nil:
		return err
	}
	b.line = append(b.line[:0], "data: "...)
	// go-openai takes a line that begins with {"error": for the first of an error document and swallows what follows. With a space
	// behind the brace it is an event like any other, and our own reading of it decides.
	if bytes.HasPrefix(event, []byte(`{"error":`)) {
		b.line = append(b.line, "{ "...)
		event = event[1:]
	}
	b.line = append(append(b.line, event...), '\n')
	b.rest = b.line
	return err
}

// Close reads to the end of the body if the answer was complete, so that the connection can serve the next call, and closes it.
func (b *repairedBody) Close() error {
	if b.events.done {
		b.watch.finishWithin(afterDone)
		_, _ = io.Copy(io.Discard, io.LimitReader(b.events.src, maxErrorBody)) // only a courtesy
	}
	return b.upstream.Close()
}

// watchdog cancels a call whose upstream is silent for too long. It is armed only while we wait for bytes: the time that the receiver
// of a delta takes is not the provider's.
type watchdog struct {
	timer *time.Timer
	limit time.Duration
	until time.Time // when set, the end of all waiting
}

func newWatchdog(limit time.Duration, cancel context.CancelCauseFunc) *watchdog {
	w := &watchdog{limit: limit, timer: time.AfterFunc(limit, func() { cancel(errSilent) })}
	w.disarm()
	return w
}

func (w *watchdog) arm() {
	limit := w.limit
	if !w.until.IsZero() {
		limit = min(limit, time.Until(w.until))
	}
	w.timer.Reset(limit)
}

func (w *watchdog) disarm() { w.timer.Stop() }

// finishWithin sets the end of all waiting, if none earlier is set.
func (w *watchdog) finishWithin(d time.Duration) {
	if until := time.Now().Add(d); w.until.IsZero() || until.Before(w.until) {
		w.until = until
	}
}

// watchedBody arms the watchdog around each read.
type watchedBody struct {
	io.ReadCloser
	watch *watchdog
}

// Read waits for bytes under the watchdog.
func (b *watchedBody) Read(p []byte) (int, error) {
	b.watch.arm()
	defer b.watch.disarm()
	return b.ReadCloser.Read(p)
}
