package llm

import (
	"slices"
	"strconv"
	"strings"
)

// piece is what one event says about a tool call.
type piece struct {
	index    int
	indexed  bool
	id, name string
	args     string
	extra    extras
	funcs    extras // of the function object
}

// readPiece takes whatever types a provider uses: arguments as an object, an index or an id that is null, a name outside "function".
func readPiece(value []byte) piece {
	var p piece
	for key, v := range fields(value) {
		switch string(key) {
		case "index":
			n, err := strconv.Atoi(strings.Trim(string(v), `"`))
			p.index, p.indexed = n, err == nil && n >= 0
		case "id":
			p.id = loose(v)
		case "type":
		case "function":
			for key, v := range fields(v) {
				if !p.function(string(key), v) {
					p.funcs.add(key, v)
				}
			}
		default:
			if !p.function(string(key), v) {
				p.extra.add(key, v)
			}
		}
	}
	return p
}

func (p *piece) function(key string, value []byte) bool {
	switch key {
	case "name":
		p.name = loose(value)
	case "arguments":
		p.args = loose(value)
	default:
		return false
	}
	return true
}

// loose gives the text of a string, nothing for null, and the JSON of anything else.
func loose(value []byte) string {
	if s, ok := text(value); ok {
		return s
	}
	if string(value) == "null" {
		return ""
	}
	return string(value)
}

// call is a tool call under assembly.
type call struct {
	index    int
	indexed  bool
	id, name string
	args     strings.Builder
	extent   extent
	extra    extras
	funcs    extras
	event    int // the last event that spoke of it
	ordinal  int // its place in the answer, from when it has a name; -1 before
}

// calls puts tool calls together from their pieces. Providers leave out, repeat, or get wrong each of index, id and name, so a piece is
// attributed by whatever identifies it best, and by what the JSON of the arguments so far allows: to arguments that are complete
// nothing can be added, so a name behind them announces another call.
type calls struct {
	list    []*call
	event   int     // number of the current event
	row     []*call // the calls of the last event that spoke of several, in its order
	named   int     // calls that have an ordinal
	settled bool
}

// add attributes the pieces of one event and gives the call of each.
func (c *calls) add(pieces []piece) []*call {
	c.event++
	touched := make([]*call, 0, len(pieces))
	for at, p := range pieces {
		target := c.find(p, at, len(pieces))
		if target == nil || target.endsBefore(p) {
			target = &call{ordinal: -1}
			c.list = append(c.list, target)
		}
		target.absorb(p)
		target.event = c.event
		if target.ordinal < 0 && target.name != "" {
			target.ordinal = c.named
			c.named++
		}
		touched = append(touched, target)
	}
	if len(touched) > 1 {
		c.row = touched
	}
	return touched
}

// find gives the call that a piece speaks of, nil for a new one. Without an id the index counts, without both the order does. With an id
// that is new the index counts only if the piece can't be the beginning of a call: some providers put every call at index 0.
func (c *calls) find(p piece, at, of int) *call {
	var atIndex, sameID, last *call
	if p.indexed {
		atIndex = c.latest(func(k *call) bool { return k.indexed && k.index == p.index })
	}
	if p.id != "" {
		sameID = c.latest(func(k *call) bool { return k.id == p.id })
	}
	if len(c.list) > 0 {
		last = c.list[len(c.list)-1]
	}
	switch {
	case p.id == "" && p.indexed:
		return atIndex
	case p.id == "" && last == nil:
		return nil
	case p.id == "" && of > 1 && p.name == "" && at < len(c.row):
		return c.row[at] // several pieces without any mark: the same calls as before, in the same order
	case p.id == "" && p.name != "" && last.event == c.event:
		return nil // two names in one event are two calls
	case p.id == "":
		return last
	case atIndex != nil && (atIndex.id == p.id || atIndex.id == ""):
		return atIndex
	case sameID != nil && (!p.indexed || atIndex != nil || p.name == ""):
		return sameID // but an index and a name of its own make another call with a repeated id
	case atIndex != nil && p.name == "" && atIndex.name != "" && !atIndex.extent.complete():
		return atIndex // a new id for each piece
	case !p.indexed && last != nil && last.id == "" && last.name == "":
		return last // the arguments came first
	}
	return nil
}

func (c *calls) latest(match func(*call) bool) *call {
	for _, k := range slices.Backward(c.list) {
		if match(k) {
			return k
		}
	}
	return nil
}

// endsBefore tells that the call is over and the piece, although it has the call's marks, begins another.
func (k *call) endsBefore(p piece) bool {
	blank := strings.TrimSpace(p.args) == ""
	switch {
	case !k.extent.complete(), k.repeatedBy(p), k.placeholderFor(p):
		return false
	case p.name == "":
		return !blank && p.id == "" && !p.indexed // without any mark, and perhaps named later: see settle
	case blank:
		return k.name != "" && p.name != k.name
	}
	return true
}

// repeatedBy tells that the piece is the whole call over again, as some providers end their streams.
func (k *call) repeatedBy(p piece) bool {
	return p.name != "" && p.name == k.name && p.args == k.args.String() && (p.id == "" || p.id == k.id)
}

// placeholderFor tells that the arguments so far are the {} that some providers send before the real ones.
func (k *call) placeholderFor(p piece) bool {
	return k.args.String() == "{}" && strings.HasPrefix(p.args, "{") && (p.name == "" || p.id != "" && p.id == k.id)
}

// absorb adds a piece to the call.
func (k *call) absorb(p piece) {
	repeated := k.extent.complete() && k.repeatedBy(p)
	if !k.indexed {
		k.index, k.indexed = p.index, p.indexed
	}
	if k.id == "" {
		k.id = p.id
	}
	switch {
	case p.name == k.name: // repeated with each piece
	case strings.HasPrefix(p.name, k.name): // the first, or all of the name so far
		k.name = p.name
	default:
		k.name += p.name
	}
	k.extra.addAll(p.extra)
	k.funcs.addAll(p.funcs)
	if repeated {
		return
	}
	if k.placeholderFor(p) {
		k.args.Reset()
		k.extent = extent{}
	}
	k.args.WriteString(p.args)
	k.extent.read(p.args)
}

// settle gives the calls of a finished answer. Arguments that never got a name or an id belong to the call before them (a provider that
// counts pieces instead of calls), unless that one is complete and they have an index of their own. A call that remains without
// a name is kept: the model asked for something, and is told that there is no such tool.
func (c *calls) settle() []*call {
	if c.settled {
		return c.list
	}
	var out []*call
	for _, k := range c.list {
		orphan := k.name == "" && k.id == ""
		if orphan && len(out) > 0 {
			if before := out[len(out)-1]; !k.indexed || !before.extent.complete() {
				before.absorb(piece{args: k.args.String(), extra: k.extra, funcs: k.funcs})
				continue
			}
		}
		if orphan && strings.TrimSpace(k.args.String()) == "" {
			continue
		}
		out = append(out, k)
	}
	// A name can come later than that of a call begun later; whoever listens counts by names.
	slices.SortStableFunc(out, func(a, b *call) int {
		return a.place(len(c.list)) - b.place(len(c.list))
	})
	c.list, c.settled = out, true
	return out
}

func (k *call) place(end int) int {
	if k.ordinal < 0 {
		return end
	}
	return k.ordinal
}

// toolCall gives the call as the model meant it. Missing arguments are an empty object: a call without parameters.
func (k *call) toolCall() ToolCall {
	t := ToolCall{ID: k.id, Name: k.name, Arguments: k.args.String()}
	if strings.TrimSpace(t.Arguments) == "" {
		t.Arguments = "{}"
	}
	extra := slices.Clone(k.extra)
	if function := k.funcs.object(); function != nil {
		extra.add([]byte("function"), function)
	}
	t.Extra = extra.object()
	return t
}

// extent follows the brackets of arguments that arrive in pieces, to know in one pass when their JSON is complete.
type extent struct {
	depth             int
	begun             bool
	inString, escaped bool
}

func (e *extent) read(s string) {
	for i := range len(s) {
		switch c := s[i]; {
		case e.escaped:
			e.escaped = false
		case e.inString:
			e.escaped = c == '\\'
			e.inString = c != '"'
		case c == '"':
			e.inString = true
		case c == '{', c == '[':
			e.depth++
			e.begun = true
		case c == '}', c == ']':
			e.depth--
		}
	}
}

func (e *extent) complete() bool { return e.begun && e.depth <= 0 && !e.inString }
