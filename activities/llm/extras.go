package llm

import (
	"bytes"
	"encoding/json"
	"strings"
)

// extras collects the fields of a streamed object that only the provider understands. A field may come whole, once, or in pieces over
// many events; the pieces are kept raw and put together at the end.
type extras []extra

type extra struct {
	key    string
	pieces []json.RawMessage
}

// maxFields bounds the fields of one object; each piece costs a search.
const maxFields = 64

// add keeps a piece. Numbers, booleans and null describe the event, not the message, and are not kept.
func (x *extras) add(key, value []byte) {
	if len(value) == 0 || !bytes.ContainsRune([]byte(`"{[`), rune(value[0])) {
		return
	}
	piece := json.RawMessage(bytes.Clone(value))
	for i := range *x {
		if e := &(*x)[i]; e.key == string(key) {
			e.pieces = append(e.pieces, piece)
			return
		}
	}
	if len(*x) == maxFields {
		return
	}
	*x = append(*x, extra{key: string(key), pieces: []json.RawMessage{piece}})
}

// addAll keeps the pieces of another object of the same kind.
func (x *extras) addAll(other extras) {
	for _, e := range other {
		for _, piece := range e.pieces {
			x.add([]byte(e.key), piece)
		}
	}
}

// object gives the JSON object of all fields, nil when there are none.
func (x extras) object() json.RawMessage {
	if len(x) == 0 {
		return nil
	}
	out := []byte{'{'}
	for i, e := range x {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, quoted(e.key)...)
		out = append(out, ':')
		out = append(out, e.value()...)
	}
	return append(out, '}')
}

// value joins the pieces. What came whole stays byte for byte as it was.
func (e extra) value() []byte {
	if len(e.pieces) == 1 {
		return e.pieces[0]
	}
	if s, ok := joinText(e.key, e.pieces); ok {
		return quoted(s)
	}
	var all any
	for _, piece := range e.pieces {
		all = merge(e.key, all, decode(piece))
	}
	out, err := marshal(all)
	if err != nil { // what was decoded can be encoded
		return e.pieces[len(e.pieces)-1]
	}
	return out
}

// joinText is merge for the field that comes in thousands of pieces: the reasoning, a string per token.
func joinText(key string, pieces []json.RawMessage) (string, bool) {
	var all strings.Builder
	for _, piece := range pieces {
		s, ok := text(piece)
		if !ok {
			return "", false
		}
		if grows(key) || s != all.String() {
			all.WriteString(s)
		}
	}
	return all.String(), true
}

// merge joins two pieces of one value: text grows, objects and lists are united, of anything else the later one counts.
func merge(key string, a, b any) any {
	switch b := b.(type) {
	case nil:
		return a
	case string:
		if s, ok := a.(string); ok {
			if !grows(key) && s == b {
				return a
			}
			return s + b
		}
	case map[string]any:
		if m, ok := a.(map[string]any); ok {
			for k, v := range b {
				m[k] = merge(k, m[k], v)
			}
			return m
		}
	case []any:
		if list, ok := a.([]any); ok {
			for _, item := range b {
				list = mergeItem(list, item)
			}
			return list
		}
	}
	return b
}

// mergeItem appends an item, or adds it to the last one when both have the same index: blocks of reasoning are streamed that way.
func mergeItem(list []any, item any) []any {
	next, ok := item.(map[string]any)
	if !ok || len(list) == 0 {
		return append(list, item)
	}
	last, _ := list[len(list)-1].(map[string]any)
	if index, ok := next["index"].(json.Number); !ok || last["index"] != index {
		return append(list, item)
	}
	merge("", last, next)
	return list
}

// grows names the texts that are streamed token by token, where two equal pieces in a row are two pieces. Any other string that comes
// again unchanged is the same one, repeated.
func grows(key string) bool {
	switch key {
	case "reasoning_content", "reasoning", "thinking", "text", "summary", "content":
		return true
	}
	return false
}

// decode keeps numbers as they are written.
func decode(value []byte) any {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// marshal is json.Marshal that leaves <, > and & alone.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

func quoted(s string) []byte {
	out, _ := marshal(s) // a string can't fail
	return out
}
