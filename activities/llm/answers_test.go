package llm

import (
	"slices"
	"strings"

	"gns3copilot/schema"
)

// toolCallRows are the ways in which providers stream tool calls; the numbers are those of the collected reports.
func toolCallRows() []row {
	one := []ToolCall{{ID: "A", Name: "show", Arguments: `{"a":1}`}}
	two := []ToolCall{{ID: "A", Name: "show", Arguments: `{"a":1}`}, {ID: "B", Name: "ping", Arguments: `{"b":2}`}}
	noIDs := []ToolCall{{Name: "show", Arguments: `{"a":1}`}, {Name: "ping", Arguments: `{"b":2}`}}
	var rows []row
	for _, c := range []struct {
		name   string
		deltas []string
		want   []ToolCall
	}{
		{"plain", []string{`{"index":0,"id":"A","type":"function","function":{"name":"show","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"a\":"}}`, `{"index":0,"function":{"arguments":"1}"}}`}, one},
		{"A1 index missing", []string{`{"id":"A","function":{"name":"show","arguments":"{\"a\":"}}`, `{"function":{"arguments":"1}"}}`}, one},
		{"A1 index null", []string{`{"index":null,"id":"A","function":{"name":"show","arguments":"{\"a\":"}}`, `{"index":null,"id":null,"function":{"name":null,"arguments":"1}"}}`}, one},
		{"A2 no index, two calls in one event", []string{`{"id":"A","function":{"name":"show","arguments":"{\"a\":1}"}},{"id":"B","function":{"name":"ping","arguments":"{\"b\":2}"}}`}, two},
		{"A2 no index, one call per event", []string{`{"id":"A","function":{"name":"show","arguments":"{\"a\":1}"}}`, `{"id":"B","function":{"name":"ping","arguments":"{\"b\":2}"}}`}, two},
		{"A2 no index, arguments before the name", []string{`{"id":"A","function":{"arguments":"{\"a\":"}}`, `{"id":"B","function":{"arguments":"{\"b\":"}}`, `{"id":"A","function":{"name":"show","arguments":"1}"}}`, `{"id":"B","function":{"arguments":"2}"}}`, `{"id":"B","function":{"name":"ping"}}`}, two},
		{"A2 no index and no id, arguments before the name", []string{`{"function":{"arguments":"{\"a\":1}"}}`, `{"function":{"name":"show"}}`, `{"function":{"arguments":"{\"b\":2}"}}`, `{"function":{"name":"ping"}}`}, noIDs},
		{"A2 no index, two calls continued side by side", []string{`{"id":"A","function":{"name":"show"}},{"id":"B","function":{"name":"ping"}}`, `{"function":{"arguments":"{\"a\":"}},{"function":{"arguments":"{\"b\":"}}`, `{"function":{"arguments":"1}"}},{"function":{"arguments":"2}"}}`}, two},
		{"A2 no index and no id, two calls in one event", []string{`{"function":{"name":"show","arguments":"{\"a\":1}"}},{"function":{"name":"ping","arguments":"{\"b\":2}"}}`}, noIDs},
		{"A2 no index and no id, one call per event", []string{`{"function":{"name":"show","arguments":"{\"a\":1}"}}`, `{"function":{"name":"ping","arguments":"{\"b\":2}"}}`}, noIDs},
		{"A2 no index and no id, two names in one event, then their arguments", []string{`{"function":{"name":"show","arguments":""}},{"function":{"name":"ping","arguments":""}}`, `{"function":{"arguments":"{\"a\":1}"}},{"function":{"arguments":"{\"b\":2}"}}`}, noIDs},
		{"A2 no index, arguments before the id", []string{`{"function":{"arguments":"{\"a\":"}}`, `{"id":"A","function":{"name":"show","arguments":"1}"}}`}, one},
		{"A3 all at index 0 without ids, name and arguments apart", []string{`{"index":0,"function":{"name":"show","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"a\":1}"}}`, `{"index":0,"function":{"name":"ping","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"b\":2}"}}`}, noIDs},
		{"A3 all at index 0", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":"{\"a\":1}"}}`, `{"index":0,"id":"B","function":{"name":"ping","arguments":"{\"b\":2}"}}`}, two},
		{"A3 all at index 1, in pieces", []string{`{"index":1,"id":"A","function":{"name":"show","arguments":"{\"a\":"}}`, `{"index":1,"function":{"arguments":"1}"}}`, `{"index":1,"id":"B","function":{"name":"ping","arguments":"{\"b\":"}}`, `{"index":1,"function":{"arguments":"2}"}}`}, two},
		{"A3 all at index 0, interleaved by id", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":"{\"a\":"}}`, `{"index":0,"id":"B","function":{"name":"ping","arguments":"{\"b\":"}}`, `{"index":0,"id":"A","function":{"arguments":"1}"}}`, `{"index":0,"id":"B","function":{"arguments":"2}"}}`}, two},
		{"A3 all at index 0 without ids", []string{`{"index":0,"function":{"name":"show","arguments":"{\"a\":1}"}}`, `{"index":0,"function":{"name":"ping","arguments":"{\"b\":2}"}}`}, noIDs},
		{"index counts pieces instead of calls", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":""}}`, `{"index":1,"function":{"arguments":"{\"a\":"}}`, `{"index":2,"function":{"arguments":"1}"}}`, `{"index":3,"function":{"arguments":""}}`}, one},
		{"index as text", []string{`{"index":"0","id":"A","function":{"name":"show","arguments":"{\"a\":1}"}}`, `{"index":"1","id":"B","function":{"name":"ping","arguments":"{\"b\":2}"}}`}, two},
		{"M16 an index that is missing is not index 0", []string{`{"id":"A","function":{"name":"show","arguments":"{\"a\":1}"}}`, `{"index":0,"id":"B","function":{"name":"ping","arguments":"{\"b\":2}"}}`}, two},
		{"interleaved by index", []string{`{"index":0,"id":"A","function":{"name":"show"}}`, `{"index":1,"id":"B","function":{"name":"ping"}}`, `{"index":0,"function":{"arguments":"{\"a\":"}}`, `{"index":1,"function":{"arguments":"{\"b\":2}"}}`, `{"index":0,"function":{"arguments":"1}"}}`}, two},
		{"A4 id absent", []string{`{"index":0,"function":{"name":"show","arguments":"{\"a\":1}"}}`}, []ToolCall{{Name: "show", Arguments: `{"a":1}`}}},
		{"A4 id empty", []string{`{"index":0,"id":"","function":{"name":"show","arguments":"{\"a\":"}}`, `{"index":0,"id":"","function":{"arguments":"1}"}}`}, []ToolCall{{Name: "show", Arguments: `{"a":1}`}}},
		{"A5 name repeated", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":""}}`, `{"index":0,"function":{"name":"show","arguments":"{"}}`, `{"index":0,"function":{"name":"show","arguments":"\"a\":"}}`, `{"index":0,"function":{"name":"show","arguments":"1}"}}`, `{"index":0,"function":{"name":"show","arguments":""}}`}, one},
		{"A5 name split", []string{`{"index":0,"id":"A","function":{"name":"sh"}}`, `{"index":0,"function":{"name":"ow","arguments":"{\"a\":1}"}}`}, one},
		{"A5 name growing", []string{`{"index":0,"id":"A","function":{"name":"sh"}}`, `{"index":0,"function":{"name":"show","arguments":"{\"a\":1}"}}`}, one},
		{"A6 id repeated, then empty", []string{`{"index":0,"id":"A","type":"function","function":{"name":"show","arguments":"{"}}`, `{"index":0,"id":"A","type":"function","function":{"arguments":"\"a\""}}`, `{"index":0,"id":"A","type":"function","function":{"arguments":":"}}`, `{"index":0,"id":"","function":{"arguments":"1}"}}`}, one},
		{"a new id with each piece", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":""}}`, `{"index":0,"id":"x1","function":{"arguments":"{\"a\":"}}`, `{"index":0,"id":"x2","function":{"arguments":"1}"}}`}, one},
		{"A8 arguments as an object", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":{"a":1}}}`}, one},
		{"M10 arguments as an object", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":{"a":1}}}`}, one},
		{"A8 arguments null", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":null}}`}, []ToolCall{{ID: "A", Name: "show", Arguments: `{}`}}},
		{"A9 first piece of the arguments with the name", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":"{"}}`, `{"index":0,"function":{"arguments":"\"a\":1}"}}`}, one},
		{"A9 all in one", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":"{\"a\":1}"}}`}, one},
		{"a {} before the arguments", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":"{}"}}`, `{"index":0,"function":{"arguments":"{\"a\":"}}`, `{"index":0,"function":{"arguments":"1}"}}`}, one},
		{"the whole call again at the end", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":"{\"a\":"}}`, `{"index":0,"function":{"arguments":"1}"}}`, `{"index":0,"id":"A","function":{"name":"show","arguments":"{\"a\":1}"}}`}, one},
		{"A22 spliced arguments in one piece", []string{`{"index":0,"id":"A","function":{"name":"runt_5_shell__run","arguments":"{\"a\":1}{\"b\":2}"}}`}, []ToolCall{{ID: "A", Name: "runt_5_shell__run", Arguments: `{"a":1}{"b":2}`}}},
		{"A22 spliced arguments in two pieces", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":"{\"a\":1}"}}`, `{"index":0,"function":{"arguments":"{\"b\":2}"}}`}, []ToolCall{{ID: "A", Name: "show", Arguments: `{"a":1}{"b":2}`}}},
		{"A22 spliced arguments without any mark", []string{`{"id":"A","function":{"name":"show","arguments":"{\"a\":1}"}}`, `{"function":{"arguments":"{\"b\":2}"}}`}, []ToolCall{{ID: "A", Name: "show", Arguments: `{"a":1}{"b":2}`}}},
		{"A30 one id for two calls", []string{`{"index":0,"id":"show:0","function":{"name":"show","arguments":"{\"a\":"}}`, `{"index":0,"function":{"arguments":"1}"}}`, `{"index":1,"id":"show:0","function":{"name":"show","arguments":"{\"a\":"}}`, `{"index":1,"function":{"arguments":"1}"}}`}, []ToolCall{{ID: "show:0", Name: "show", Arguments: `{"a":1}`}, {ID: "show:0", Name: "show", Arguments: `{"a":1}`}}},
		{"A30 one id for two calls, no index", []string{`{"id":"show:0","function":{"name":"show","arguments":"{\"a\":1}"}}`, `{"id":"show:0","function":{"name":"show","arguments":"{\"a\":2}"}}`}, []ToolCall{{ID: "show:0", Name: "show", Arguments: `{"a":1}`}, {ID: "show:0", Name: "show", Arguments: `{"a":2}`}}},
		{"brackets inside strings", []string{`{"index":0,"id":"A","function":{"name":"show","arguments":"{\"a\":\"}\\\"}\""}}`, `{"index":0,"id":"A","function":{"name":"show","arguments":",\"b\":[1]}"}}`}, []ToolCall{{ID: "A", Name: "show", Arguments: `{"a":"}\"}","b":[1]}`}}},
		{"a call that never gets a name", []string{`{"index":0,"function":{"arguments":"{\"a\":1}"}}`}, []ToolCall{{Arguments: `{"a":1}`}}},
		{"an id that is a number, a name outside function", []string{`{"index":0,"id":7,"name":"show","arguments":{"a":1}}`}, []ToolCall{{ID: "7", Name: "show", Arguments: `{"a":1}`}}},
	} {
		body := ""
		for _, d := range c.deltas {
			body += sse(calling(d))
		}
		rows = append(rows, row{name: c.name, script: script{body: body + sse(finish("tool_calls")) + done}, calls: c.want, finish: "tool_calls"})
	}
	return rows
}

// answerRows are the remaining reports about a stream's content and its end.
func answerRows() []row {
	cut := calling(`{"index":0,"id":"A","function":{"name":"configure","arguments":"{\"commands\":[\"interf"}}`)
	usage := `"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}`
	counted := &Usage{Input: 11, Output: 7}
	large := func(n int) row {
		s := strings.Repeat("é\n", n/3)
		return row{script: script{body: sse(words(s), finish("stop")) + done}, content: s, finish: "stop", chunk: 7919}
	}
	rows := []row{
		{name: "plain", script: script{body: sse(delta(`{"role":"assistant","content":""}`), words("Hel"), words("lo"), finish("stop")) + done}, content: "Hello", finish: "stop"},
		{name: "A10 usage with empty choices", script: script{body: sse(words("hi"), finish("stop"), `{"choices":[],`+usage+`}`) + done}, content: "hi", finish: "stop", usage: counted},
		{name: "A10 usage without choices", script: script{body: sse(words("hi"), finish("stop"), `{`+usage+`}`) + done}, content: "hi", finish: "stop", usage: counted},
		{name: "A10 usage in the last content", script: script{body: sse(`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],`+usage+`}`) + done}, content: "hi", finish: "stop", usage: counted},
		{name: "A10 running totals", script: script{body: sse(`{"choices":[{"delta":{"content":"hi"}}],"usage":{"prompt_tokens":11,"completion_tokens":1}}`, `{"choices":[{"delta":{},"finish_reason":"stop"}],`+usage+`}`, `{"choices":null,"usage":null}`) + done}, content: "hi", finish: "stop", usage: counted},
		{name: "A10 usage inside the choice", script: script{body: sse(`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop",`+usage+`}]}`) + done}, content: "hi", finish: "stop", usage: counted},
		{name: "no usage is estimated", script: script{body: sse(words("12345678"), finish("stop")) + done}, content: "12345678", finish: "stop", usage: &Usage{Input: 31, Output: 2, Estimated: true}},
		{name: "usage in two parts", script: script{body: sse(`{"choices":[{"delta":{"content":"hi"}}],"usage":{"input_tokens":11,"output_tokens":1}}`, `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"input_tokens":0,"output_tokens":7}}`) + done}, content: "hi", finish: "stop", usage: counted},
		{name: "half of the usage is estimated", script: script{body: sse(words("12345678"), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":7}}`) + done}, content: "12345678", finish: "stop", usage: &Usage{Input: 31, Output: 7, Estimated: true}},
		{name: "the other half of the usage is estimated", script: script{body: sse(words("12345678"), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":1e308}}`) + done}, content: "12345678", finish: "stop", usage: &Usage{Input: 11, Output: 2, Estimated: true}},
		{name: "NUL in the text", script: script{body: sse(delta(`{"content":"a\u0000b"}`), finish("stop")) + done}, content: "a\uFFFDb", finish: "stop"},
		{name: "A12 comment with a blank line", script: script{body: sse(words("a")) + ": ping\n\n" + sse(words("b"), finish("stop")) + done}, content: "ab", finish: "stop"},
		{name: "A12 empty data", script: script{body: "data:\n\n" + sse(words("a")) + "data: \n\ndata\n\n" + sse(words("b"), finish("stop")) + done}, content: "ab", finish: "stop"},
		{name: "A13 data without a blank", script: script{body: strings.ReplaceAll(sse(words("a b"), finish("stop"))+done, "data: ", "data:")}, content: "a b", finish: "stop"},
		{name: "A15 CRLF and a character of four bytes", script: script{body: strings.ReplaceAll(sse(words("größe 🙂"), finish("stop"))+done, "\n", "\r\n")}, content: "größe 🙂", finish: "stop"},
		{name: "A15 escaped surrogates", script: script{body: sse(delta(`{"content":"\ud83d\ude42"}`), finish("stop")) + done}, content: "🙂", finish: "stop"},
		{name: "no blank lines between events", script: script{body: "data: " + words("a") + "\ndata: " + words("b") + "\ndata: " + finish("stop") + "\ndata: [DONE]\n"}, content: "ab", finish: "stop"},
		{name: "other fields and a byte order mark", script: script{body: "\xef\xbb\xbfid: 1\nretry: 5\nevent: message\n" + sse(words("a")) + "foo: bar\n" + sse(finish("stop")) + done}, content: "a", finish: "stop"},
		{name: "content as parts", script: script{body: sse(delta(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), delta(`{"content":null}`), finish("stop")) + done}, content: "ab", finish: "stop"},
		{name: "thoughts as parts", script: script{body: sse(delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`), delta(`{"content":[{"type":"text","text":"a"}]}`), finish("stop")) + done}, content: "a", reasoning: "hm", finish: "stop"},
		{name: "A20 limit while thinking in parts", script: script{body: sse(delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`), finish("length")) + done}, reasoning: "hm", finish: "length", code: schema.CodeModelTruncated, says: []string{"before it said anything"}},
		{name: "a refusal is shown", script: script{body: sse(delta(`{"content":null,"refusal":"I can't."}`), finish("stop")) + done}, content: "I can't.", finish: "stop"},
		{name: "an error member that says nothing", script: script{body: sse(`{"error":null,"choices":[{"delta":{"content":"a"}}]}`, `{"error":"","choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}`) + done}, content: "ab", finish: "stop"},
		{name: "the word error in the text", script: script{body: sse(words(`{"error":{"message":"no"}}`), finish("stop")) + done}, content: `{"error":{"message":"no"}}`, finish: "stop"},

		{name: "A17 comments only", script: script{body: ": a\n\n: b\n\n"}, code: schema.CodeModelUnreachable, says: []string{"closed the connection without an answer"}},
		{name: "A17 DONE only", script: script{body: done}, code: schema.CodeModelBroken, says: []string{"ended the stream without an answer"}},
		{name: "A17 garbage line", script: script{body: "data: gar bage\n\n"}, code: schema.CodeModelBroken, says: []string{"can't be read: gar bage"}},
		{name: "A17 garbage without data", script: script{body: "Hello, this is port 80\n"}, code: schema.CodeModelBroken, says: []string{"Hello, this is port 80", "base URL"}},
		{name: "A17 garbage after text", script: script{body: sse(words("a"), `{"choices":[{]}`)}, content: "a", code: schema.CodeModelBroken, says: []string{`{"choices":[{]}`}},
		{name: "nothing at all", code: schema.CodeModelUnreachable, says: []string{"without an answer"}},
		{name: "A18 end in the middle", script: script{body: sse(words("Hel"))}, content: "Hel", code: schema.CodeModelUnreachable, says: []string{"broke off"}},
		{name: "A18 reset in the middle", script: script{body: sse(words("Hel")), abort: true}, content: "Hel", code: schema.CodeModelUnreachable, says: []string{"broke"}},
		{name: "A18 end in the middle of an event", script: script{body: sse(words("Hel")) + `data: {"choices":[{"del`}, content: "Hel", code: schema.CodeModelUnreachable, says: []string{"broke off"}},
		{name: "A18 end in the middle of a tool call", script: script{body: sse(calling(`{"index":0,"id":"A","function":{"name":"show","arguments":"{\"a\":1}"}}`))}, calls: []ToolCall{{ID: "A", Name: "show", Arguments: `{"a":1}`}}, code: schema.CodeModelUnreachable},
		{name: "A18 finish without DONE", script: script{body: sse(words("a"), finish("stop"))}, content: "a", finish: "stop"},
		{name: "A18 finish, then a reset", script: script{body: sse(words("a"), finish("stop")), abort: true}, content: "a", finish: "stop"},
		{name: "A18 DONE without finish", script: script{body: sse(words("a")) + done}, content: "a"},
		{name: "A18 unknown finish", script: script{body: sse(words("a"), finish("eos_token")) + done}, content: "a", finish: "eos_token"},
		{name: "A18 finish null as text is none", script: script{body: sse(words("a"), finish("null"))}, content: "a", code: schema.CodeModelUnreachable},
		{name: "A19 tool call cut by the limit", script: script{body: sse(cut, finish("length")) + done}, calls: []ToolCall{{ID: "A", Name: "configure", Arguments: `{"commands":["interf`}}, finish: "length", code: schema.CodeModelTruncated, says: []string{"configure", "max_tokens"}},
		{name: "A19 limit before the arguments", script: script{body: sse(calling(`{"index":0,"id":"A","function":{"name":"configure","arguments":""}}`), finish("length")) + done}, calls: []ToolCall{{ID: "A", Name: "configure", Arguments: `{}`}}, finish: "length", code: schema.CodeModelTruncated},
		{name: "A19 text cut by the limit is an answer", script: script{body: sse(words("a lon"), finish("length")) + done}, content: "a lon", finish: "length"},
		{name: "A20 limit while thinking", script: script{body: sse(delta(`{"reasoning_content":"hmm"}`), finish("length")) + done}, reasoning: "hmm", finish: "length", extra: `{"reasoning_content":"hmm"}`, code: schema.CodeModelTruncated, says: []string{"before it said anything"}},
		{name: "filtered", script: script{body: sse(finish("content_filter")) + done}, finish: "content_filter", code: schema.CodeModelRefused, says: []string{"content filter"}},
	}
	for _, size := range []struct {
		name string
		n    int
	}{{"A14 70 KB in a line", 70 << 10}, {"A14 1.1 MB in a line", 1100 << 10}, {"A14 5 MB in a line", 5 << 20}, {"M14 5 MB in a line", 5 << 20}} {
		r := large(size.n)
		r.name = size.name
		rows = append(rows, r)
	}
	return append(rows,
		row{name: "A14 over the cap", script: script{body: sse(words("a"), words(strings.Repeat("x", maxEvent)))}, content: "a", chunk: 1 << 20, code: schema.CodeModelBroken, says: []string{"larger than 8 MiB"}},
		row{name: "A14 over the cap in many lines", script: script{body: sse(words("a")) + "data: {\n" + strings.Repeat("data: "+strings.Repeat(" x", 1<<15)+"\n", 200)}, content: "a", chunk: 1 << 20, code: schema.CodeModelBroken, says: []string{"larger than 8 MiB"}},
		row{name: "more calls than anyone means", script: script{body: sse(words("a")) + sse(calling(strings.TrimSuffix(strings.Repeat(`{"function":{"name":"show","arguments":"{}"}},`, maxCalls+1), ",")))}, content: "a", chunk: 1021, calls: slices.Repeat([]ToolCall{{Name: "show", Arguments: "{}"}}, maxCalls+1), code: schema.CodeModelBroken, says: []string{"more than 128 tool calls"}},
		row{name: "A33 keep-alives before the first event", script: script{body: strings.Repeat(": ka\n\n", 151) + sse(words("a"), finish("stop")) + done}, content: "a", finish: "stop"},
		row{name: "A33 a flood of them", script: script{body: strings.Repeat(": ka\n\ndata:\n\n\n", 20000) + sse(words("a"), finish("stop")) + done}, content: "a", finish: "stop", chunk: 1021},
	)
}

// extraRows are what only the provider understands and gets back.
func extraRows() []row {
	return []row{
		{name: "A23 reasoning in pieces", script: script{body: sse(delta(`{"role":"assistant","reasoning_content":"ha"}`), delta(`{"reasoning_content":"ha","content":null}`), words("ok"), finish("stop")) + done}, content: "ok", reasoning: "haha", finish: "stop", extra: `{"reasoning_content":"haha"}`},
		{name: "reasoning under two names", script: script{body: sse(delta(`{"reasoning":"ab","reasoning_content":"ab"}`), words("ok"), finish("stop")) + done}, content: "ok", reasoning: "ab", finish: "stop", extra: `{"reasoning":"ab","reasoning_content":"ab"}`},
		{name: "M16 fields that nobody knows", script: script{body: sse(delta(`{"content":"ok","extra_content":{"google":{"thought_signature":"c2ln"}},"other":["x"]}`), finish("stop")) + done}, content: "ok", finish: "stop", extra: `{"extra_content":{"google":{"thought_signature":"c2ln"}},"other":["x"]}`},
		{name: "signature of the message", script: script{body: sse(delta(`{"content":"ok","extra_content":{"google":{"thought":true}}}`), delta(`{"extra_content":{"google":{"thought_signature":"c2ln+/="}}}`), finish("stop")) + done}, content: "ok", finish: "stop", extra: `{"extra_content":{"google":{"thought":true,"thought_signature":"c2ln+/="}}}`},
		{name: "blocks of reasoning", script: script{body: sse(
			delta(`{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"ha"}]}`),
			delta(`{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"ha","signature":null}]}`),
			delta(`{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"sig"}]}`),
			delta(`{"reasoning_details":[{"type":"reasoning.encrypted","index":1,"data":"xyz"}]}`),
			words("ok"), finish("stop")) + done}, content: "ok", finish: "stop",
			extra: `{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"haha","signature":"sig"},{"type":"reasoning.encrypted","index":1,"data":"xyz"}]}`},
		{name: "a string that is repeated", script: script{body: sse(delta(`{"content":"a","provider_tag":"x"}`), delta(`{"content":"b","provider_tag":"x"}`), finish("stop")) + done}, content: "ab", finish: "stop", extra: `{"provider_tag":"x"}`},
		{name: "signatures of the calls", script: script{body: sse(
			calling(`{"index":0,"id":"A","type":"function","extra_content":{"google":{"thought_signature":"s1"}},"function":{"name":"show","arguments":"{}","provider":{"k":"v"}}},{"index":1,"id":"B","function":{"name":"ping","arguments":"{}"}}`),
			finish("tool_calls")) + done}, finish: "tool_calls", calls: []ToolCall{
			{ID: "A", Name: "show", Arguments: "{}", Extra: []byte(`{"extra_content":{"google":{"thought_signature":"s1"}},"function":{"provider":{"k":"v"}}}`)},
			{ID: "B", Name: "ping", Arguments: "{}"}}},
	}
}
