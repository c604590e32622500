package window

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gns3copilot/activities/llm"
	"gns3copilot/schema"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func system(text string) llm.Message { return llm.Message{Role: "system", Content: text} }
func user(text string) llm.Message   { return llm.Message{Role: "user", Content: text} }
func answer(text string) llm.Message { return llm.Message{Role: "assistant", Content: text} }

// round is an answer with calls, and their results.
func round(name string, results ...string) []llm.Message {
	calls := llm.Message{Role: "assistant"}
	list := make([]llm.Message, 1)
	for i, result := range results {
		id := fmt.Sprintf("call_%s_%d", name, i)
		calls.ToolCalls = append(calls.ToolCalls, llm.ToolCall{ID: id, Name: "execute_multiple_device_commands", Arguments: `{"device_configs":[]}`})
		list = append(list, llm.Message{Role: "tool", Content: result, ToolCallID: id})
	}
	list[0] = calls
	return list
}

// outputs is a standard result with a text for each device.
func outputs(texts ...string) string {
	var items []schema.ToolItem
	for i, text := range texts {
		items = append(items, schema.ToolItem{ID: fmt.Sprint("node-", i), Name: fmt.Sprint("R", i), Status: schema.ItemSuccess, Result: text})
	}
	return string(schema.TextIndent(schema.NewToolResponse("execute_multiple_device_commands", items, time.Second, noon)))
}

// show is device output of so many bytes.
func show(size int) string {
	const lines = "GigabitEthernet0/%d is up, line protocol is up\n  Internet address is 10.0.%d.1/24\n     reliability 255/255, txload 1/255, rxload 1/255\n"
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, lines, i, i%256)
	}
	return b.String()[:size]
}

func tools() []llm.Tool {
	parameters := json.RawMessage(`{"type": "object", "properties": {"id": {"type": "string"}}}`)
	return []llm.Tool{
		{Name: "execute_multiple_device_commands", Description: "Runs commands.", Parameters: parameters},
		{Name: schema.ToolReadOutput, Description: "Reads results.", Parameters: parameters},
	}
}

// random makes a conversation such as the store keeps: answers and users by turns, each call with its result.
func random(r *rand.Rand) llm.Request {
	scale := 1 << r.IntN(6)
	words := func(most int) string {
		switch n := 1 + r.IntN(most/scale+1); r.IntN(4) {
		case 0:
			return strings.Repeat("网络设备接口 ", n/19+1)
		case 1:
			return strings.Repeat("x", n)
		default:
			return show(n)
		}
	}
	result := func() string {
		if r.IntN(8) == 0 {
			return words(20 << 10)
		}
		var texts []string
		for range 1 + r.IntN(4)*r.IntN(20) {
			texts = append(texts, words(1<<r.IntN(15)))
		}
		return outputs(texts...)
	}
	n := 0
	rounds := func(most int) (list []llm.Message) {
		for range r.IntN(most + 1) {
			var results []string
			for range 1 + r.IntN(3) {
				results = append(results, result())
			}
			n++
			list = append(list, round(fmt.Sprint(n), results...)...)
			if first := &list[len(list)-1-len(results)]; r.IntN(3) == 0 {
				first.Extra, first.ExtraFrom = json.RawMessage(fmt.Sprintf(`{"reasoning_content":%q}`, words(2000))), []string{"", "elsewhere"}[r.IntN(2)]
			}
		}
		return list
	}
	request := llm.Request{Tools: tools()[:1+r.IntN(2)], MaxTokens: r.IntN(2) * r.IntN(20_000)}
	if r.IntN(10) > 0 {
		request.Messages = append(request.Messages, system(words(1<<r.IntN(15))))
	}
	for range r.IntN(8) {
		request.Messages = slices.Concat(request.Messages, []llm.Message{user(words(4000))}, rounds(4), []llm.Message{answer(words(4000))})
	}
	request.Messages = slices.Concat(request.Messages, []llm.Message{user(words(4000))}, rounds(12))
	return request
}

// broken finds what a strict provider would refuse.
func broken(messages []llm.Message) string {
	open := map[string]bool{}
	for i, m := range messages {
		before := ""
		if i > 0 {
			before = messages[i-1].Role
		}
		switch {
		case m.Role == "system" && i > 0:
			return "a system message that isn't the first"
		case m.Role != "tool" && len(open) > 0:
			return "a call without its result"
		case m.Role == "tool" && !open[m.ToolCallID]:
			return "a result without its call"
		case m.Role != "system" && m.Role != "user" && (before == "" || before == "system"):
			return "the first message isn't a user's"
		case m.Role != "tool" && m.Role == before:
			return "two messages of one role in a row"
		case m.Content == "" && len(m.ToolCalls) == 0:
			return "an empty message"
		}
		delete(open, m.ToolCallID)
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return "a call without its result at the end"
	}
	return ""
}
