package dev_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"gns3copilot/schema"
)

// frame is one event as it is on the wire, line ends included.
type frame struct {
	raw, id string
	data    []byte
	ev      schema.Event
}

// goldenStream is an open stream. What is read of it is written down when the file wants it.
type goldenStream struct {
	g *golden
	r *bufio.Reader
}

// open sends a request that is answered with a stream, and writes down all but the events.
func (g *golden) open(title, method, path, body string, headers ...string) *goldenStream {
	g.t.Helper()
	return g.streamOf(g.request(title, method, path, body, headers))
}

// begin sends a message whose turn's events are not for the file, or not all of them.
func (g *golden) begin(session, message string) *goldenStream {
	g.t.Helper()
	return g.streamOf(g.send(http.MethodPost, g.chatPath("/stream"), saying(session, message), nil))
}

// streamOf is the answer's stream. Anything else ends the test.
func (g *golden) streamOf(resp *http.Response) *goldenStream {
	g.t.Helper()
	if resp.StatusCode != http.StatusOK {
		g.t.Fatalf("%s: %d %s", resp.Request.URL, resp.StatusCode, g.read(resp))
	}
	return &goldenStream{g: g, r: bufio.NewReader(resp.Body)}
}

// saying is the body that says something in a session.
func saying(session, message string) string {
	return fmt.Sprintf(`{"message": %q, "session_id": %q}`, message, session)
}

// next reads one event. A frame is an optional id line, a data line and an empty line, and nothing else.
func (s *goldenStream) next() frame {
	s.g.t.Helper()
	var f frame
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			s.g.t.Fatalf("the stream ended before the awaited event: %v behind %q", err, f.raw)
		}
		f.raw += line
		if line == "\n" {
			break
		}
	}
	lines := strings.Split(strings.TrimSuffix(f.raw, "\n\n"), "\n")
	if id, is := strings.CutPrefix(lines[0], "id: "); is {
		f.id, lines = id, lines[1:]
	}
	data, is := strings.CutPrefix(lines[0], "data: ")
	if !is || len(lines) != 1 {
		s.g.t.Fatalf("not a frame of this API: %q", f.raw)
	}
	f.data = []byte(data)
	if err := json.Unmarshal(f.data, &f.ev); err != nil {
		s.g.t.Fatal(err)
	}
	return f
}

// until reads up to the first event that fits. Sooner or later done comes, and nothing behind it.
func (s *goldenStream) until(fits func(schema.Event) bool) []frame {
	s.g.t.Helper()
	var frames []frame
	for {
		f := s.next()
		frames = append(frames, f)
		if fits(f.ev) {
			return frames
		}
		if f.ev.Type == schema.EventDone {
			s.g.t.Fatalf("no such event in the turn; it was done with %s", f.data)
		}
	}
}

// rest reads the turn to its end.
func (s *goldenStream) rest() []frame {
	s.g.t.Helper()
	frames := s.until(ofType(schema.EventDone))
	if more, err := s.r.ReadByte(); err == nil {
		s.g.t.Errorf("behind done: %q", more)
	}
	return frames
}

func ofType(want schema.EventType) func(schema.Event) bool {
	return func(ev schema.Event) bool { return ev.Type == want }
}

// frames writes down events as they are on the wire.
func (g *golden) frames(frames []frame) {
	for _, f := range arranged(frames) {
		g.text.WriteString(f.raw)
	}
}

// only writes down the events of a type, each as it is on the wire and once more in a form that is easier to read.
func (g *golden) only(kind schema.EventType, frames []frame) {
	g.t.Helper()
	found := 0
	for _, f := range frames {
		if f.ev.Type != kind {
			continue
		}
		found++
		var indented bytes.Buffer
		if err := json.Indent(&indented, f.data, "", "  "); err != nil {
			g.t.Fatal(err)
		}
		fmt.Fprintf(g.text, "%s[its data, indented]\n%s\n\n", f.raw, indented.Bytes())
	}
	if found == 0 {
		g.t.Errorf("no event of type %s", kind)
	}
}

// arranged gives a turn's events an order that is the same every time. Of a call that is being written the first two events and the last stay:
// how many there are between them depends on how fast the model is. Calls that run side by side come one after the other, as the model has
// them, and so do the devices of a call, by name.
func arranged(frames []frame) []frame {
	var calls []string
	shown := map[string]int{}
	var kept []frame
	for _, f := range frames {
		if c := f.ev.ToolCall; c != nil {
			if shown[c.ID]++; shown[c.ID] == 1 {
				calls = append(calls, c.ID)
			}
			if shown[c.ID] > 2 && !c.Function.Complete {
				continue
			}
		}
		kept = append(kept, f)
	}
	for from := 0; from < len(kept); {
		to := from
		for to < len(kept) && runs(kept[to].ev) {
			to++
		}
		slices.SortStableFunc(kept[from:to], func(a, b frame) int { return slices.Compare(place(calls, a.ev), place(calls, b.ev)) })
		from = to + 1
	}
	return kept
}

// runs reports whether an event is of a call that runs.
func runs(ev schema.Event) bool {
	return slices.Contains([]schema.EventType{schema.EventToolStart, schema.EventDeviceProgress, schema.EventToolEnd}, ev.Type)
}

// place is where an event of a running call stands: by its call, then start, devices by name, end.
func place(calls []string, ev schema.Event) []string {
	order := string(rune('a' + slices.Index(calls, ev.ToolCallID) + 1))
	switch ev.Type {
	case schema.EventToolStart:
		return []string{order, "1"}
	case schema.EventToolEnd:
		return []string{order, "3"}
	default:
		return []string{order, "2", ev.DeviceName}
	}
}
