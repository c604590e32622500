package llm

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"

	"gns3copilot/schema"
)

const (
	// maxKept bounds what one answer may hold in memory.
	maxKept = 32 << 20
	// maxCalls bounds the tool calls of one answer, each of which costs a search.
	maxCalls = 128
)

// assembler builds the answer from events and hands each piece on.
type assembler struct {
	on        func(Delta) error
	key       secret
	content   strings.Builder
	reasoning int // bytes
	kept      int // bytes, with the JSON around the text
	calls     calls
	extra     extras
	finish    string
	whole     bool // the answer came as one document, which needs no finish to be complete
	usage     Usage
	heard     bool   // an event has come, of whatever kind
	foreign   []byte // the beginning of an event that is no part of a chat answer, for the error message
}

// receiverError is the error of the function that receives the deltas, told apart from everything that the provider does.
type receiverError struct{ err error }

func (e *receiverError) Error() string { return "hand over a piece of the answer: " + e.err.Error() }
func (e *receiverError) Unwrap() error { return e.err }

// event takes one event. What it has of an answer is used before an error that it has too.
func (a *assembler) event(data []byte) error {
	a.heard = true
	if len(data) > 0 && data[0] == '[' { // Gemini wraps its errors so
		for one := range elements(data) {
			if err := a.event(one); err != nil {
				return err
			}
		}
		return nil
	}
	var failure []byte
	known := false
	for key, value := range fields(data) {
		switch string(key) {
		case "choices":
			known = true
			for choice := range elements(value) {
				failed, err := a.choice(choice)
				if err != nil {
					return err
				}
				if failed != nil {
					failure = failed
				}
			}
		case "usage":
			known = true
			a.readUsage(value)
		case "error":
			if says(value) {
				failure = value
			}
		case "object", "type":
			if s, _ := text(value); s == "error" && failure == nil {
				failure = data
			}
		}
	}
	if failure != nil {
		return answerError(failure, a.key)
	}
	if !known && a.foreign == nil {
		a.foreign = append(a.foreign, data[:min(len(data), 200)]...)
	}
	return nil
}

// says tells whether an error member means one: many servers send null, "" or {} with each event.
func says(value []byte) bool {
	switch string(value) {
	case "null", `""`, "{}", "[]", "false":
		return false
	}
	return true
}

// choice takes a choice of a stream (delta) or of a whole document (message), and gives the error object in it if there is one.
func (a *assembler) choice(choice []byte) (failure []byte, err error) {
	var delta, message []byte
	finish := ""
	for key, value := range fields(choice) {
		switch string(key) {
		case "delta":
			delta = value
		case "message":
			message = value
		case "finish_reason":
			finish, _ = text(value)
		case "usage":
			a.readUsage(value)
		case "error":
			if says(value) {
				failure = value
			}
		}
	}
	switch {
	case isObject(delta):
		err = a.message(delta)
	case isObject(message):
		a.whole = true
		err = a.message(message)
	}
	// Whatever its word, a finish is the provider's statement that the answer is complete.
	if finish != "" && finish != string(openai.FinishReasonNull) {
		a.finish = finish
	}
	return failure, err
}

// message takes a message or a piece of one. What isn't known is kept for the next request.
func (a *assembler) message(m []byte) error {
	if a.kept += len(m); a.kept > maxKept {
		return schema.Errorf(schema.CodeModelBroken, "The model's answer is larger than %d MiB.", maxKept>>20)
	}
	reasoning := ""
	for key, value := range fields(m) {
		var err error
		switch string(key) {
		case "role", "function_call": // known, and of no use: the role is ours, the call is the old form of tool_calls
		case "content", "refusal":
			words, thoughts := contentText(value)
			reasoning += thoughts
			err = a.text(words)
		case "tool_calls":
			err = a.toolCalls(value)
		case "reasoning_content", "reasoning", "thinking":
			if s, ok := text(value); ok && reasoning == "" { // some send the same text under two names
				reasoning = s
			}
			a.extra.add(key, value)
		default:
			a.extra.add(key, value)
		}
		if err != nil {
			return err
		}
	}
	if reasoning == "" {
		return nil
	}
	a.reasoning += len(reasoning)
	return a.hand(Delta{Reasoning: reasoning})
}

func (a *assembler) text(s string) error {
	if s == "" {
		return nil
	}
	s = strings.ReplaceAll(s, "\x00", string(utf8.RuneError)) // no text for people, and PostgreSQL stores none that has it
	a.content.WriteString(s)
	return a.hand(Delta{Content: s})
}

// contentText gives the text of content that is a string or a list of parts, and the reasoning in it: Mistral's thinking is a part that is
// itself a list.
func contentText(value []byte) (words, thoughts string) {
	if s, ok := text(value); ok {
		return s, ""
	}
	var all, thought strings.Builder
	for part := range elements(value) {
		for key, v := range fields(part) {
			switch string(key) {
			case "text":
				s, _ := text(v)
				all.WriteString(s)
			case "thinking":
				thought.WriteString(thinkingText(v))
			}
		}
	}
	return all.String(), thought.String()
}

// thinkingText gives the text of a part's thinking, a string or a list of its own.
func thinkingText(value []byte) string {
	all, _ := text(value)
	for part := range elements(value) {
		for key, v := range fields(part) {
			if s, ok := text(v); ok && string(key) == "text" {
				all += s
			}
		}
	}
	return all
}

func (a *assembler) toolCalls(value []byte) error {
	var pieces []piece
	if isObject(value) {
		pieces = append(pieces, readPiece(value))
	}
	for one := range elements(value) {
		pieces = append(pieces, readPiece(one))
	}
	touched := a.calls.add(pieces)
	if len(a.calls.list) > maxCalls {
		return schema.Errorf(schema.CodeModelBroken, "The model asks for more than %d tool calls at once.", maxCalls)
	}
	for _, k := range touched {
		if k.ordinal < 0 {
			continue
		}
		d := Delta{ToolCall: &ToolCallDelta{Index: k.ordinal, Name: k.name, Arguments: k.args.String()}}
		if err := a.hand(d); err != nil {
			return err
		}
	}
	return nil
}

func (a *assembler) hand(d Delta) error {
	if err := a.on(d); err != nil {
		return &receiverError{err}
	}
	return nil
}

// readUsage keeps the last counts: a provider that sends them with each event sends running totals. Some send what was read with the first
// event alone, and what was written with the last.
func (a *assembler) readUsage(value []byte) {
	for key, v := range fields(value) {
		n, err := strconv.Atoi(string(v))
		if err != nil || n <= 0 { // a zero is what a server sends that doesn't count
			continue
		}
		switch string(key) {
		case "prompt_tokens", "input_tokens":
			a.usage.Input = n
		case "completion_tokens", "output_tokens":
			a.usage.Output = n
		}
	}
}

// answer gives what has arrived. requestSize is for the estimate of the input.
func (a *assembler) answer(requestSize int) Answer {
	out := Answer{Content: a.content.String(), FinishReason: a.finish, Usage: a.usage, Extra: a.extra.object()}
	size := a.content.Len() + a.reasoning
	for _, k := range a.calls.settle() {
		out.ToolCalls = append(out.ToolCalls, k.toolCall())
		size += k.args.Len()
	}
	if out.Usage.Input == 0 { // there is no request of no tokens
		out.Usage.Input, out.Usage.Estimated = (requestSize+3)/4, true
	}
	if out.Usage.Output == 0 && size > 0 {
		out.Usage.Output, out.Usage.Estimated = (size+3)/4, true
	}
	return out
}

// verdict judges an answer whose stream is over: done is whether the provider said so with [DONE], junk what it sent beside events.
func (a *assembler) verdict(done bool, junk []byte) error {
	// Any of the three is an end that the provider meant. Without one the connection was cut, even if it was closed in good order.
	terminal := a.finish != "" || a.whole || done
	empty := a.content.Len() == 0 && len(a.calls.list) == 0
	nothing := empty && a.reasoning == 0
	switch {
	case nothing && a.finish == "" && (junk != nil || a.foreign != nil):
		if junk == nil {
			junk = a.foreign
		}
		return brokenError(fmt.Sprintf("The answer is not one of a chat model: %s", a.key.quote(string(junk))), nil)
	case !terminal && nothing:
		return schema.Errorf(schema.CodeModelUnreachable, "The model provider closed the connection without an answer.").
			WithHint("Try again. If it stays so, check the base URL and the provider's state.")
	case !terminal:
		return schema.Errorf(schema.CodeModelUnreachable, "The model's answer broke off before it was finished.").WithHint("Try again.")
	case a.finish == "" && nothing:
		return brokenError("The model provider ended the stream without an answer.", nil)
	case a.finish == "error":
		return schema.Errorf(schema.CodeModelUnreachable, "The model provider ended its answer with an error.").WithHint("Try again.")
	case cutShort(a.finish):
		return a.truncated(empty)
	case a.finish == string(openai.FinishReasonContentFilter) && empty:
		return schema.Errorf(schema.CodeModelRefused, "The model provider's content filter withheld the answer.").
			WithHint("Put the request in other words.")
	}
	return nil
}

// cutShort tells that the output limit ended the answer, in the words of OpenAI, Anthropic and Gemini.
func cutShort(finish string) bool {
	return strings.EqualFold(finish, string(openai.FinishReasonLength)) || strings.EqualFold(finish, "max_tokens")
}

// truncated judges an answer that the output limit ended: text that is cut is of use, half a tool call or bare thoughts are not.
func (a *assembler) truncated(empty bool) error {
	hint := "Raise the output limit (max_tokens) of this model, or ask for less at once."
	if empty {
		return schema.Errorf(schema.CodeModelTruncated, "The output limit ended the model's answer before it said anything.").WithHint("%s", hint)
	}
	for _, k := range a.calls.settle() {
		if !validObject(k.args.String()) { // no arguments at all are cut too
			return schema.Errorf(schema.CodeModelTruncated, "The output limit cut the model's tool call %q in the middle.", k.name).WithHint("%s", hint)
		}
	}
	return nil
}
