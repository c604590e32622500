// Package window fits a conversation into what a model can read.
//
// What fits is left alone. Else what can be had again goes first: results of tools are cut to their beginning and end, the oldest first,
// since read_tool_output reads the whole of each. Then whole exchanges are left out, the oldest first: a user's message with everything up
// to the next one. When the last exchange alone is too much, its older rounds are left out: the assistant's calls with all their results.
// The system prompt, the last user's message and its newest round stay. A call is never parted from its results, and the system prompt's
// end tells the model how much is missing.
//
// Each measure goes on a little beyond what is needed, by whole eighths of the room. So the same messages are left out for several steps,
// and what providers keep of a prompt's beginning from one call to the next stays usable.
package window

import (
	"context"
	"log/slog"

	"gns3copilot/activities/llm"
	"gns3copilot/schema"
)

// Budget is how much a request may take up.
type Budget struct {
	Limit    int                    // of the model, in tokens: what it reads and the answer together
	Strategy schema.ContextStrategy // how much of that the request may be, such as schema.ContextBalanced, which is also the default
	// Harder counts how often the provider has found the conversation too long that was fitted before. Each time it is halved, whatever our
	// own count says.
	Harder int
	// Origin is the provider's, see llm.Message.ExtraFrom: other providers' extras are not sent, and so not counted.
	Origin string
	// Brief makes a shorter system prompt for when the request doesn't fit and the system prompt alone would be more than half of it. nil if
	// there is none.
	Brief func() string
}

// share is the part of the limit that tools and messages may take up, in percent. The rest is for the answer, and for providers that count
// more tokens than we do.
func (b Budget) share() int {
	switch b.Strategy {
	case schema.ContextConservative:
		return 60
	case schema.ContextAggressive:
		return 85
	default:
		return 75
	}
}

// room is what tools and messages may take up beside an answer of so many tokens. An answer never takes more than half of the limit.
func (b Budget) room(answer int) int {
	return min(b.Limit*b.share()/100, b.Limit-min(answer, b.Limit/2))
}

// Report says what was done to a request, in tokens and messages.
type Report struct {
	Room      int  // what tools and messages might take up together
	Tools     int  // what the tools take up; 0 when nothing had to be counted
	NoTools   int  // tools left out
	Before    int  // what the messages took up; 0 when nothing had to be counted
	After     int  // what they take up now
	Dropped   int  // messages left out
	Shrunk    int  // results cut
	Brief     bool // the shorter system prompt was taken
	MaxTokens int  // the answer's new bound; 0 when it stayed
}

// Trimmed tells whether the conversation was made shorter.
func (r Report) Trimmed() bool { return r.Dropped > 0 || r.Shrunk > 0 || r.Brief }

// LogValue makes a group of a report.
func (r Report) LogValue() slog.Value {
	return slog.GroupValue(
		slog.Int("room", r.Room), slog.Int("tools", r.Tools), slog.Int("no_tools", r.NoTools), slog.Int("before", r.Before), slog.Int("after", r.After),
		slog.Int("dropped", r.Dropped), slog.Int("shrunk", r.Shrunk), slog.Bool("brief", r.Brief), slog.Int("max_tokens", r.MaxTokens),
	)
}

// Window fits requests. It remembers what it has counted, so there is one for all of a worker's turns; it may be used from several
// goroutines at once.
type Window struct{ counter *counter }

// New makes a window. The vocabulary is read when something is counted for the first time.
func New() *Window { return &Window{counter: newCounter()} }

// offered leaves the last tools out, until the rest take up no more than half of the room: a model that reads little is better off with some
// tools and a conversation than with all tools and none. It is the same for all requests to a model.
func (w *Window) offered(tools []llm.Tool, room int) []llm.Tool {
	if toolsCost(tools, size) <= room/2 { // no text has more tokens than bytes
		return tools
	}
	for len(tools) > 1 && toolsCost(tools, w.counter.tokens) > room/2 {
		tools = tools[:len(tools)-1]
	}
	return tools
}

// Fit makes a request small enough for a budget: always the whole conversation's, whatever was left out of the one before. It fails with
// CodeModelContext when not even what has to stay fits, when a harder trim finds nothing more to leave out, and with the context's error.
func (w *Window) Fit(ctx context.Context, r llm.Request, b Budget) (llm.Request, Report, error) {
	report := Report{Room: b.room(r.MaxTokens)}
	all := len(r.Tools)
	r.Tools = w.offered(r.Tools, report.Room)
	report.NoTools = all - len(r.Tools)
	if b.Harder == 0 {
		// No text has more tokens than bytes.
		if most := toolsCost(r.Tools, size) + messagesCost(r.Messages, b.Origin, size); most <= min(report.Room, b.Limit-r.MaxTokens) {
			return r, report, nil
		}
	}
	p, err := w.plan(ctx, r, b)
	if err != nil {
		return r, report, err
	}
	report.Tools, report.Before = toolsCost(r.Tools, w.counter.tokens), p.total
	if !p.reach(report.Room - report.Tools) {
		return r, report, p.tooLarge(report)
	}
	if b.Harder > 0 {
		sent := p.total
		p.reach((report.Tools+sent)>>b.Harder - report.Tools)
		if p.total >= sent {
			return r, report, schema.Errorf(schema.CodeModelContext, "The model finds the conversation too long, and nothing more of it can be left out.").
				WithHint("Set context_limit to what the model really reads, or use a model that reads more.")
		}
	}
	report.After, report.Dropped, report.Shrunk, report.Brief = p.total, p.dropped, len(p.shrunk), p.brief
	if used := report.Tools + report.After; used > b.Limit-r.MaxTokens {
		// As above, an eighth of what we counted is for providers that count more.
		report.MaxTokens = max(1, b.Limit-used-used/8)
		r.MaxTokens = report.MaxTokens
	}
	r.Messages = p.result()
	return r, report, nil
}

// tooLarge says what takes up the room.
func (p *plan) tooLarge(r Report) error {
	system, last := 0, 0
	for i, cost := range p.cost {
		if i < p.head {
			system += cost
		} else if !p.gone[i] {
			last += cost
		}
	}
	err := schema.Errorf(schema.CodeModelContext,
		"This is too much for the model's context: it leaves room for %d tokens, but the tools need about %d, the instructions with the lab's topology %d, and your last message with the newest results %d.",
		r.Room, r.Tools, system, last)
	if last > max(system, r.Tools) {
		return err.WithHint("Send a shorter message, raise context_limit if the model reads more, or use a model that does.")
	}
	return err.WithHint("Raise context_limit if the model reads more, or use a model that does.")
}
