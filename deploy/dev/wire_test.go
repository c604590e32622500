package dev_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
)

// wire is a stream as its bytes are, read more strictly than clients do.
type wire struct {
	t    *testing.T
	resp *http.Response
	r    *bufio.Reader
}

// frameForm is all that a stream may consist of.
var frameForm = regexp.MustCompile(`^(?:id: ([^\r\n]+)\n)?data: (\{[^\r\n]*\})\n\n$`)

// open sends a request that is answered by a stream. The headers are given as name and value in turn.
func (u user) open(url, method, path, body string, headers ...string) *wire {
	u.t.Helper()
	req, err := http.NewRequestWithContext(u.bounded(), method, url+path, strings.NewReader(body))
	if err != nil {
		u.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+u.Token())
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { _ = resp.Body.Close() })
	return &wire{t: u.t, resp: resp, r: bufio.NewReaderSize(resp.Body, 64<<10)}
}

// next gives the next event; ok is false at the stream's end. It fails at anything that isn't a frame.
func (w *wire) next() (ev client.Received, ok bool) {
	w.t.Helper()
	frame := ""
	for !strings.HasSuffix(frame, "\n\n") {
		line, err := w.r.ReadString('\n')
		if err == io.EOF && frame+line == "" {
			return ev, false
		}
		if frame += line; err != nil {
			w.t.Fatalf("%v in %q", err, frame)
		}
	}
	parts := frameForm.FindStringSubmatch(frame)
	if parts == nil {
		w.t.Fatalf("no frame: %q", frame)
	}
	ev.ID = parts[1]
	if err := json.Unmarshal([]byte(parts[2]), &ev.Event); err != nil {
		w.t.Fatalf("%v in %q", err, frame)
	}
	return ev, true
}

// until reads events up to the first one that fits.
func (w *wire) until(fits func(client.Received) bool) []client.Received {
	w.t.Helper()
	var events []client.Received
	for {
		ev, ok := w.next()
		if !ok {
			w.t.Fatalf("the stream ended before the awaited event, after %s", types(events))
		}
		events = append(events, ev)
		if fits(ev) {
			return events
		}
	}
}

// end checks that nothing more comes.
func (w *wire) end() {
	w.t.Helper()
	if ev, ok := w.next(); ok {
		w.t.Errorf("behind the end: %+v", ev)
	}
}
