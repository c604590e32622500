package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/deploy/telemetry/collector"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// tracedTurns is how many turns of each kind are looked at.
const tracedTurns = 20

// The spans that the table knows by name: those that are open while others do the work, and the activity that nobody waits for.
const (
	requestSpan  = "POST /v3/copilot/projects/:project_id/chat/stream"
	workflowSpan = "RunWorkflow:ChatTurn"
	besideStart  = "StartActivity:MakeTitle"
	besideRun    = "RunActivity:MakeTitle"
	firstEvent   = "first content"
)

// uncovered begins the names of times that no span covers.
const uncovered = "uncovered: "

// traceTurns runs turns of two kinds one after the other, with tracing on, and prints where their milliseconds go.
func traceTurns(ctx context.Context, binary, dir string) error {
	spans, err := collector.Start()
	if err != nil {
		return err
	}
	defer func() { _ = spans.Close() }()
	if err := os.Setenv("COPILOT_OTLP_ENDPOINT", spans.URL()); err != nil {
		return err
	}
	s, err := startSubject(ctx, binary, dir)
	if err != nil {
		return err
	}
	ids, err := s.turnsToTrace(ctx)
	s.stop() // sends what is left
	if err != nil {
		return err
	}
	traces := byTurn(spans.Spans())
	for _, kind := range tracedKinds() {
		var turns []turnTrace
		for _, id := range ids[kind] {
			if t, ok := traces[id]; ok {
				turns = append(turns, t)
			}
		}
		if len(turns) == 0 {
			return errors.New("no trace has come")
		}
		if err := printTurns(kind, turns); err != nil {
			return err
		}
	}
	return nil
}

// tracedKinds are the messages of the turns that are looked at.
func tracedKinds() []string { return []string{"plain", "one show command"} }

// turnsToTrace gives the ids of the turns that were run, by kind. Each kind has one session, whose first turn isn't looked at: it also makes a
// title and logs on to the console.
func (s *subject) turnsToTrace(ctx context.Context) (map[string][]string, error) {
	arguments, err := json.Marshal(map[string]any{"device_configs": []any{map[string]any{"device_name": "R1", "commands": []string{"show version"}}}})
	if err != nil {
		return nil, err
	}
	s.model.On("plain", func(r *scriptmodel.Reply) { r.Say("fine") })
	s.model.On("one show command", func(r *scriptmodel.Reply) { r.Call("execute_multiple_device_commands", string(arguments)) },
		func(r *scriptmodel.Reply) { r.Say("fine") })
	ids := map[string][]string{}
	for _, kind := range tracedKinds() {
		session := uuid.NewString()
		for i := range tracedTurns + 1 {
			err := s.api.Turn(ctx, s.project, schema.ChatRequest{Message: kind, SessionID: session}, "", func(ev client.Received) error {
				switch {
				case ev.Type == schema.EventError:
					return errors.New(ev.Error)
				case ev.Type == schema.EventDone && i > 0:
					ids[kind] = append(ids[kind], ev.TurnID)
				}
				return nil
			}, nil)
			if err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// turnTrace is the spans of one turn, without what runs beside it.
type turnTrace struct {
	request collector.Span
	spans   []placed
}

// placed is a span with its depth below the request.
type placed struct {
	collector.Span
	depth int
}

// byTurn puts spans together by the turn's id.
func byTurn(all []collector.Span) map[string]turnTrace {
	children := map[string][]collector.Span{}
	for _, s := range all {
		children[s.Parent] = append(children[s.Parent], s)
	}
	turns := map[string]turnTrace{}
	for _, s := range all {
		if s.Name == requestSpan {
			t := turnTrace{request: s}
			t.add(s, 0, children)
			turns[s.Attributes["copilot.turn_id"]] = t
		}
	}
	return turns
}

func (t *turnTrace) add(s collector.Span, depth int, children map[string][]collector.Span) {
	t.spans = append(t.spans, placed{s, depth})
	for _, child := range children[s.ID] {
		if child.Name != besideStart && child.Name != besideRun {
			t.add(child, depth+1, children)
		}
	}
}

// firstContent is when the request relayed the first of the answer, its end if it never did.
func (t turnTrace) firstContent() time.Time {
	for _, e := range t.request.Events {
		if e.Name == firstEvent {
			return e.At
		}
	}
	return t.request.End
}

// shares gives each moment from the request's begin until the end to the deepest span that is open then, the later one of two, and sums
// up by name. So the shares are all of the time, and none counts twice.
func (t turnTrace) shares(end time.Time) map[string]time.Duration {
	edges := []time.Time{t.request.Start, end}
	for _, s := range t.spans {
		for _, at := range []time.Time{s.Start, s.End} {
			if at.After(t.request.Start) && at.Before(end) {
				edges = append(edges, at)
			}
		}
	}
	slices.SortFunc(edges, time.Time.Compare)
	sums := map[string]time.Duration{}
	for i := range len(edges) - 1 {
		from, to := edges[i], edges[i+1]
		deepest := placed{depth: -1}
		for _, s := range t.spans {
			if !s.Start.After(from) && !s.End.Before(to) &&
				(s.depth > deepest.depth || s.depth == deepest.depth && s.Start.After(deepest.Start)) {
				deepest = s
			}
		}
		name := deepest.Name
		if name == requestSpan || name == workflowSpan {
			name = t.gap(from, to)
		}
		sums[name] += to.Sub(from)
	}
	return sums
}

// gap names a time that no span covers, but the request's or the workflow's, by what ended before it and what began after it.
func (t turnTrace) gap(from, to time.Time) string {
	before, after := "the request", "the end"
	var ended, begins time.Time
	for _, s := range t.spans {
		if s.Name == requestSpan || s.Name == workflowSpan {
			continue
		}
		if !s.End.After(from) && s.End.After(ended) {
			before, ended = s.Name, s.End
		}
		if !s.Start.Before(to) && (begins.IsZero() || s.Start.Before(begins)) {
			after, begins = s.Name, s.Start
		}
	}
	return uncovered + before + " … " + after
}

// printTurns prints the medians over turns of one kind.
func printTurns(kind string, turns []turnTrace) error {
	for _, until := range []struct {
		name string
		end  func(turnTrace) time.Time
	}{
		{"first content", turnTrace.firstContent},
		{"done", func(t turnTrace) time.Time { return t.request.End }},
	} {
		var whole []time.Duration
		byName := map[string][]time.Duration{}
		for _, t := range turns {
			end := until.end(t)
			whole = append(whole, end.Sub(t.request.Start))
			for name, d := range t.shares(end) {
				byName[name] = append(byName[name], d)
			}
		}
		fmt.Printf("\n%s, %d turns: request to %s, p50 %v\n", kind, len(turns), until.name, median(whole).Round(10*time.Microsecond))
		if err := printShares(byName, len(turns), median(whole)); err != nil {
			return err
		}
	}
	return nil
}

// least is the smallest median that is worth a line.
const least = 50 * time.Microsecond

func printShares(byName map[string][]time.Duration, turns int, whole time.Duration) error {
	type row struct {
		name string
		self time.Duration
	}
	var rows []row
	var small time.Duration
	for name, all := range byName {
		for len(all) < turns { // turns without such a span
			all = append(all, 0)
		}
		if self := median(all); self >= least {
			rows = append(rows, row{name, self})
		} else {
			small += self
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(b.self, a.self) })
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "span\tself p50\tshare")
	var total, open time.Duration
	for _, r := range append(rows, row{fmt.Sprintf("(spans under %v)", least), small}) {
		fmt.Fprintf(w, "%s\t%v\t%.0f%%\n", r.name, r.self.Round(10*time.Microsecond), 100*float64(r.self)/float64(whole))
		total += r.self
		if strings.HasPrefix(r.name, uncovered) {
			open += r.self
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("no span covers %.0f%%; the medians add up to %.0f%%\n", 100*float64(open)/float64(whole), 100*float64(total)/float64(whole))
	return nil
}
