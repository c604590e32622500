package llm

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// Events are walked in place instead of being decoded into structs: providers disagree about the type of nearly every field, unknown
// fields have to be kept, and a piece of a few bytes shouldn't cost twenty allocations. All of this expects valid JSON.

// fields yields the members of an object in order: the key without quotes, the value raw. Anything else has none.
func fields(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		i, ok := enter(object, '{')
		for ok && object[i] == '"' {
			end := valueEnd(object, i)
			key := object[i+1 : end-1]
			if bytes.IndexByte(key, '\\') >= 0 {
				plain, _ := text(object[i:end])
				key = []byte(plain)
			}
			colon := skipSpace(object, end)
			i = skipSpace(object, colon+1)
			end = valueEnd(object, i)
			if !yield(key, object[i:end]) {
				return
			}
			i, ok = following(object, end)
		}
	}
}

// elements yields the raw elements of an array. Anything else has none.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		i, ok := enter(array, '[')
		for ok && array[i] != ']' {
			end := valueEnd(array, i)
			if !yield(array[i:end]) {
				return
			}
			i, ok = following(array, end)
		}
	}
}

// enter finds the first thing behind the opening bracket.
func enter(b []byte, bracket byte) (int, bool) {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != bracket {
		return 0, false
	}
	return skipSpace(b, i+1), true
}

// following finds what comes behind the comma after a value.
func following(b []byte, end int) (int, bool) {
	i := skipSpace(b, end)
	if i >= len(b) || b[i] != ',' {
		return 0, false
	}
	return skipSpace(b, i+1), true
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// valueEnd gives the end of the value that starts at i.
func valueEnd(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			i = stringEnd(b, i)
			if depth == 0 {
				return i + 1
			}
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 { // the bracket around a bare number or word
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || isSpace(c)):
			return i
		}
	}
	return i
}

// stringEnd gives the place of the quote that closes the one at i.
func stringEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ { // valid JSON has it
		if b[i] == '\\' {
			i++
		}
	}
	return i
}

// text decodes a JSON string; false for any other value.
func text(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	plain := value[1 : len(value)-1]
	if bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return string(plain), true
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err == nil
}

// isObject tells whether a raw value from fields or elements is an object.
func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
