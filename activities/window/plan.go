package window

import (
	"context"
	"fmt"
	"slices"

	"gns3copilot/activities/llm"
	"gns3copilot/schema"
)

// The sizes that results are cut to, in bytes: old ones at first, those of the last exchange when nothing else is left, and the newest ones,
// by halves.
const (
	shortResult    = 4 << 10
	tinyResult     = 1 << 10
	largestNewest  = 32 << 10
	smallestNewest = 512
)

// In how many steps of the room things are left out, and what part of it the newest results may take up before that.
const (
	stepsOfRoom  = 8
	newestOfRoom = 2
)

// The roles of messages.
const (
	roleSystem = "system"
	roleUser   = "user"
	roleAnswer = "assistant"
	roleResult = "tool"
)

// plan is a conversation that is being fitted.
type plan struct {
	source   []llm.Message
	messages []llm.Message // as they are to be sent
	cost     []int         // of each, in tokens
	gone     []bool        // what is left out
	total    int           // of what is there, the note about the rest included

	head    int // how many system messages there are in front
	current int // where the last exchange begins
	newest  int // where its last round begins: an answer, and the results of its calls

	dropped, steps int // messages left out; how many of them are rounds of the last exchange
	shrunk         map[int]bool
	brief          bool
	reader         bool // read_tool_output is among the request's tools

	budget Budget
	of     measure
}

// plan counts a conversation and finds its parts.
func (w *Window) plan(ctx context.Context, r llm.Request, b Budget) (*plan, error) {
	p := &plan{
		source: r.Messages, messages: slices.Clone(r.Messages), cost: make([]int, len(r.Messages)), gone: make([]bool, len(r.Messages)),
		shrunk: map[int]bool{}, budget: b, of: w.counter.tokens,
		reader: slices.ContainsFunc(r.Tools, func(t llm.Tool) bool { return t.Name == schema.ToolReadOutput }),
	}
	for i, m := range p.messages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.cost[i] = messageCost(m, b.Origin, p.of)
		p.total += p.cost[i]
	}
	for p.head < len(p.messages) && p.messages[p.head].Role == roleSystem {
		p.head++
	}
	p.current, p.newest = p.head, len(p.messages)
	for i := p.head; i < len(p.messages); i++ {
		switch p.messages[i].Role {
		case roleUser:
			p.current, p.newest = i, len(p.messages)
		case roleAnswer:
			p.newest = i
		}
	}
	return p, nil
}

// reach takes one measure after the other until the conversation has no more than so many tokens, and tells whether it does.
func (p *plan) reach(goal int) bool {
	measures := []func(goal int){
		p.takeBrief,
		func(goal int) { p.shrinkOld(p.head, shortResult, p.beyond(goal)) },
		p.boundNewest,
		func(goal int) { p.dropExchanges(p.beyond(goal)) },
		func(goal int) { p.shrinkOld(p.current, tinyResult, p.beyond(goal)) },
		func(goal int) { p.dropRounds(p.beyond(goal)) },
		p.shrinkNewest,
	}
	for _, take := range measures {
		if p.total <= goal {
			break
		}
		take(goal)
	}
	return p.total <= goal
}

// beyond is how far a measure goes: down from the total by whole steps.
func (p *plan) beyond(goal int) int {
	step := max(1, goal/stepsOfRoom)
	return p.total - (p.total-goal+step-1)/step*step
}

// takeBrief takes the shorter system prompt when the long one would crowd out the conversation.
func (p *plan) takeBrief(goal int) {
	if p.brief || p.head == 0 || p.budget.Brief == nil || p.cost[0] <= goal/2 {
		return
	}
	p.brief = p.replace(0, p.budget.Brief())
}

// shrinkOld cuts the results between a place and the newest round, the oldest first: they have been read and answered, and the newest are
// what the model is working with. Large ones are not taken out of turn, so that it doesn't depend on a later one whether one is cut.
func (p *plan) shrinkOld(from, size, goal int) {
	for i := from; i < p.newest && p.total > goal; i++ {
		p.shrink(i, size)
	}
}

// boundNewest keeps the newest results from taking the place of all that was said before.
func (p *plan) boundNewest(goal int) {
	taken := 0
	for _, cost := range p.cost[p.newest:] {
		taken += cost
	}
	if most := goal / newestOfRoom; taken > most {
		p.shrinkNewest(max(goal, p.total-(taken-most)))
	}
}

// shrinkNewest cuts the newest results, the largest of them first.
func (p *plan) shrinkNewest(goal int) {
	for size := largestNewest; size >= smallestNewest; size /= 2 {
		for i := p.newest; i < len(p.messages) && p.total > goal; i++ {
			p.shrink(i, size)
		}
	}
}

// shrink cuts a result to so many bytes, if it has more.
func (p *plan) shrink(i, size int) {
	if p.gone[i] || p.messages[i].Role != roleResult || len(p.messages[i].Content) <= size {
		return
	}
	if p.replace(i, shorten(p.source[i], size, p.reader)) {
		p.shrunk[i] = true
	}
}

// replace gives a message another content, if that costs less.
func (p *plan) replace(i int, content string) bool {
	m := p.messages[i]
	m.Content = content
	cost := messageCost(m, p.budget.Origin, p.of)
	if cost >= p.cost[i] {
		return false
	}
	p.total += cost - p.cost[i]
	p.messages[i], p.cost[i] = m, cost
	return true
}

// dropExchanges leaves out the exchanges before the last one, the oldest first.
func (p *plan) dropExchanges(goal int) {
	for from := p.head; from < p.current && p.total > goal; {
		to := from + 1
		for to < p.current && p.messages[to].Role != roleUser {
			to++
		}
		p.drop(from, to)
		from = to
	}
}

// dropRounds leaves out rounds of the last exchange, the oldest first and never the newest.
func (p *plan) dropRounds(goal int) {
	from := p.current + 1
	for from < p.newest && p.messages[from].Role != roleAnswer {
		from++
	}
	for from < p.newest && p.total > goal {
		to := from + 1
		for to < p.newest && p.messages[to].Role != roleAnswer {
			to++
		}
		p.steps += p.drop(from, to)
		from = to
	}
}

func (p *plan) drop(from, to int) (dropped int) {
	for i := from; i < to; i++ {
		if p.gone[i] {
			continue
		}
		p.gone[i] = true
		p.total -= p.cost[i]
		dropped++
	}
	if p.dropped == 0 && dropped > 0 {
		p.total += p.of(note(maxNoted, maxNoted)) + aroundMessage
	}
	p.dropped += dropped
	return dropped
}

// maxNoted makes the longest note there is.
const maxNoted = 1_000_000

// note tells the model what it doesn't see.
func note(dropped, steps int) string {
	s := fmt.Sprintf("\n\n[Earlier messages left out of this conversation for length: %d.", dropped)
	if steps > 0 {
		s += fmt.Sprintf(" Among them are %d of your steps since the user's last message: go on from the newest, which follow it.", steps)
	}
	return s + "]"
}

// result is the conversation as it is to be sent.
func (p *plan) result() []llm.Message {
	if p.dropped == 0 {
		return p.messages
	}
	out := make([]llm.Message, 0, len(p.messages)-p.dropped+1)
	if p.head == 0 {
		out = append(out, llm.Message{Role: roleSystem})
	}
	for i, m := range p.messages {
		if !p.gone[i] {
			out = append(out, m)
		}
	}
	out[0].Content += note(p.dropped, p.steps)
	return out
}
