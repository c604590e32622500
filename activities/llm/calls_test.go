package llm

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// wirePiece is a piece of a tool call as a provider writes it.
type wirePiece struct {
	Index    any          `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// dialect is what a provider says of a call with each piece: the first, the last, or one between.
type dialect struct {
	name        string
	interleaved bool // pieces of different calls may alternate
	write       func(p *wirePiece, call ToolCall, at position)
	noIDs       bool
}

type position struct {
	call, piece, total int // total counts the pieces of all calls before this one
	last               bool
}

func dialects() []dialect {
	first := func(p *wirePiece, c ToolCall, at position) {
		if at.piece == 0 {
			p.ID, p.Function.Name = c.ID, c.Name
		}
	}
	name := func(p *wirePiece, c ToolCall, at position) {
		if at.piece == 0 {
			p.Function.Name = c.Name
		}
	}
	return []dialect{
		{"as documented", true, func(p *wirePiece, c ToolCall, at position) { first(p, c, at); p.Index = at.call }, false},
		{"index, no id", true, func(p *wirePiece, c ToolCall, at position) { name(p, c, at); p.Index = at.call }, true},
		{"index from 1, all repeated", true, func(p *wirePiece, c ToolCall, at position) {
			p.Index, p.ID, p.Function.Name = at.call+1, c.ID, c.Name
		}, false},
		{"id on each piece, no index", true, func(p *wirePiece, c ToolCall, at position) { name(p, c, at); p.ID = c.ID }, false},
		{"id on each piece, index 0", true, func(p *wirePiece, c ToolCall, at position) { name(p, c, at); p.ID, p.Index = c.ID, 0 }, false},
		{"no index", false, first, false},
		{"index 0", false, func(p *wirePiece, c ToolCall, at position) { first(p, c, at); p.Index = 0 }, false},
		{"index 0, all repeated", false, func(p *wirePiece, c ToolCall, _ position) { p.Index, p.ID, p.Function.Name = 0, c.ID, c.Name }, false},
		{"index 0, no id", false, func(p *wirePiece, c ToolCall, at position) { name(p, c, at); p.Index = 0 }, true},
		{"no index, no id", false, name, true},
		{"no index, no id, name repeated", false, func(p *wirePiece, c ToolCall, _ position) { p.Function.Name = c.Name }, true},
		{"name behind the arguments", false, func(p *wirePiece, c ToolCall, at position) {
			if p.ID = c.ID; at.last {
				p.Function.Name = c.Name
			}
		}, false},
		{"index counts pieces", false, func(p *wirePiece, c ToolCall, at position) { first(p, c, at); p.Index = at.total + at.piece }, false},
	}
}

// TestDialects cuts random calls into random pieces, in each dialect: every call has to come out once, and unmixed.
func TestDialects(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			for seed := range uint64(300) {
				r := rand.New(rand.NewPCG(seed, 1))
				want := randomCalls(r)
				events := d.events(t, r, want)
				var heard listener
				a := &assembler{on: heard.take}
				for _, event := range events {
					if err := a.event(event); err != nil {
						t.Fatal(err)
					}
				}
				got := a.answer(0)
				if d.noIDs {
					for i := range want {
						want[i].ID = ""
					}
				}
				if !sameCalls(got.ToolCalls, want, d.interleaved) {
					t.Fatalf("seed %d:\n got %+v\nwant %+v\nfrom %s", seed, got.ToolCalls, want, events)
				}
				heard.agrees(t, got)
			}
		})
	}
}

// sameCalls compares; calls that were begun in any order may come in any order.
func sameCalls(got, want []ToolCall, anyOrder bool) bool {
	if !anyOrder {
		return reflect.DeepEqual(got, want)
	}
	count := map[string]int{}
	for i := range got {
		count[fmt.Sprint(got[i])]++
	}
	for i := range want {
		count[fmt.Sprint(want[i])]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return len(got) == len(want)
}

func randomCalls(r *rand.Rand) []ToolCall {
	names := []string{"show", "show_all", "ping", "s"}
	var out []ToolCall
	for i := range 1 + r.IntN(4) {
		arguments, _ := json.Marshal(map[string]any{"n": i, "text": []string{"}{", `"`, `\`, "é", "[]"}[r.IntN(5)], "list": []any{map[string]any{}, i}})
		out = append(out, ToolCall{ID: fmt.Sprintf("call-%d", i), Name: names[r.IntN(len(names))], Arguments: string(arguments)})
	}
	return out
}

// events cuts the calls into pieces and gives each as an event.
func (d dialect) events(t *testing.T, r *rand.Rand, calls []ToolCall) [][]byte {
	var queues [][][]byte
	total := 0
	for i, c := range calls {
		var queue [][]byte
		rest := []rune(c.Arguments)
		for at := 0; len(rest) > 0; at++ {
			n := 1 + r.IntN(min(len(rest), 9))
			p := wirePiece{Function: wireFunction{Arguments: string(rest[:n])}}
			rest = rest[n:]
			d.write(&p, c, position{call: i, piece: at, total: total, last: len(rest) == 0})
			raw, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			queue = append(queue, []byte(calling(string(raw))))
		}
		total += len(queue)
		queues = append(queues, queue)
	}
	var out [][]byte
	for len(queues) > 0 {
		i := 0
		if d.interleaved {
			i = r.IntN(len(queues))
		}
		out = append(out, queues[i][0])
		if queues[i] = queues[i][1:]; len(queues[i]) == 0 {
			queues = append(queues[:i], queues[i+1:]...)
		}
	}
	return out
}
