package demomodel

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// bytesPerToken is a rule of thumb: the demo model has no tokenizer, and its usage numbers are estimates.
const bytesPerToken = 4

// argumentPiece is how many bytes of a call's arguments a chunk carries.
const argumentPiece = 12

// reply is what the model says: a text, then the tools it calls, if any.
type reply struct {
	text  string
	calls []toolCall
}

// completion is a reply on its way to the client.
type completion struct {
	reply        reply
	id           string
	model        string
	created      int64
	includeUsage bool
	usage        usage
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func newCompletion(req request, r reply, requestBytes int) completion {
	size := len(r.text)
	for _, c := range r.calls {
		size += len(c.Function.Name) + len(c.Function.Arguments)
	}
	u := usage{Prompt: tokens(requestBytes), Completion: tokens(size)}
	u.Total = u.Prompt + u.Completion
	model := req.Model
	if model == "" {
		model = ModelName
	}
	return completion{
		reply: r, id: "chatcmpl-demo-" + rand.Text(), model: model, created: time.Now().Unix(),
		includeUsage: req.StreamOptions.IncludeUsage, usage: u,
	}
}

func tokens(size int) int { return (size + bytesPerToken - 1) / bytesPerToken }

func (c completion) finishReason() string {
	if len(c.reply.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (c completion) envelope(object string, choices []any) map[string]any {
	return map[string]any{"id": c.id, "object": object, "created": c.created, "model": c.model, "choices": choices}
}

// whole is the answer to a request that doesn't stream.
func (c completion) whole() map[string]any {
	m := map[string]any{"role": "assistant", "content": c.reply.text}
	if len(c.reply.calls) > 0 {
		m["tool_calls"] = c.reply.calls
	}
	out := c.envelope("chat.completion", []any{map[string]any{"index": 0, "message": m, "finish_reason": c.finishReason()}})
	out["usage"] = c.usage
	return out
}

// deltas cuts the reply as real models do: a role, the text word by word, then each call's name and pieces of its arguments.
func (c completion) deltas() []map[string]any {
	all := []map[string]any{{"role": "assistant", "content": ""}}
	for _, word := range strings.SplitAfter(c.reply.text, " ") {
		if word != "" {
			all = append(all, map[string]any{"content": word})
		}
	}
	call := func(index int, rest map[string]any) map[string]any {
		rest["index"] = index
		return map[string]any{"tool_calls": []any{rest}}
	}
	for i, t := range c.reply.calls {
		all = append(all, call(i, map[string]any{
			"id": t.ID, "type": t.Type, "function": map[string]any{"name": t.Function.Name, "arguments": ""},
		}))
		for _, piece := range pieces(t.Function.Arguments, argumentPiece) {
			all = append(all, call(i, map[string]any{"function": map[string]any{"arguments": piece}}))
		}
	}
	return all
}

// pieces cuts s into parts of about n bytes, never inside a character.
func pieces(s string, n int) []string {
	var out []string
	start := 0
	for i := range s {
		if i-start >= n {
			out = append(out, s[start:i])
			start = i
		}
	}
	return append(out, s[start:])
}

// stream writes the answer as server-sent events with a pause between them. It ends early with ctx or the connection.
func (c completion) stream(ctx context.Context, w http.ResponseWriter, pause time.Duration) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	out := eventWriter{w: w, flush: http.NewResponseController(w)}

	for i, d := range c.deltas() {
		if i > 0 {
			if err := wait(ctx, pause); err != nil {
				return err
			}
		}
		if err := out.send(c.chunk(d, nil)); err != nil {
			return err
		}
	}
	if err := out.send(c.chunk(map[string]any{}, c.finishReason())); err != nil {
		return err
	}
	if c.includeUsage {
		last := c.envelope("chat.completion.chunk", []any{})
		last["usage"] = c.usage
		if err := out.send(last); err != nil {
			return err
		}
	}
	return out.write([]byte("[DONE]"))
}

func (c completion) chunk(delta map[string]any, finish any) map[string]any {
	return c.envelope("chat.completion.chunk", []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}})
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type eventWriter struct {
	w     http.ResponseWriter
	flush *http.ResponseController
}

func (e eventWriter) send(v any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("encode chunk: %w", err)
	}
	return e.write(bytes.TrimSpace(b.Bytes()))
}

func (e eventWriter) write(data []byte) error {
	if _, err := fmt.Fprintf(e.w, "data: %s\n\n", data); err != nil {
		return err
	}
	return e.flush.Flush()
}
