package llm

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"gns3copilot/schema"
)

// streamRows are what go-openai alone makes of faulty streams wrongly: section M of the reports, its rows numbered from the top, and what
// belongs to it (A16, A31).
func streamRows() []row {
	said := []string{"kaputt"}
	ok := words("ok")
	whole := `{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok","reasoning_content":"hm","tool_calls":[{"id":"A","type":"function","function":{"name":"show","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`
	plain := row{content: "ok", finish: "stop"}
	complete := row{content: "ok", reasoning: "hm", finish: "tool_calls", extra: `{"reasoning_content":"hm"}`, usage: &Usage{Input: 3, Output: 4}, calls: []ToolCall{{ID: "A", Name: "show", Arguments: "{}"}}}
	failed := func(code schema.Code) row { return row{code: code, says: said} }
	after := func(code schema.Code) row { return row{code: code, says: said, content: "ok"} }

	var rows []row
	for _, c := range []struct {
		name, body string
		want       row
	}{
		{"M1 error first", sse(`{"error":{"message":"kaputt","type":"server_error"}}`), failed(schema.CodeModelUnreachable)},
		{"M2 error behind a comment", ": ping\n" + sse(`{"error":{"message":"kaputt","type":"server_error"}}`), failed(schema.CodeModelUnreachable)},
		{"M3 error under event: error", "event: error\n" + sse(`{"error":{"message":"kaputt","type":"invalid_request_error"}}`), failed(schema.CodeModelRefused)},
		{"M4 error that is not the first key", sse(ok, `{"id":"c1","choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"kaputt"}}`), row{content: "ok", finish: "error", code: schema.CodeModelUnreachable, says: said}},
		{"M5 error with a blank behind the brace", sse(`{ "error": {"message":"kaputt"}}`), failed(schema.CodeModelUnreachable)},
		{"M6 error as a plain string", sse(`{"error":"kaputt"}`), failed(schema.CodeModelUnreachable)},
		{"M7 last line without its end", sse(ok) + "data: " + finish("stop"), plain},
		{"M7 DONE without its end", sse(ok, finish("stop")) + "data: [DONE]", plain},
		{"M8 closed without finish", sse(ok), row{content: "ok", code: schema.CodeModelUnreachable}},
		{"M9 149 keep-alives", strings.Repeat(": ka\n", 149) + sse(ok, finish("stop")) + done, plain},
		{"M9 151 keep-alives", sse(ok) + strings.Repeat(": ka\n", 151) + sse(finish("stop")) + done, plain},
		{"M11 empty data", "data:\n\n" + sse(ok) + "data:\n\n" + sse(finish("stop")) + done, plain},
		{"M12 an event over two lines", "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n" + done, plain},
		{"M12 an event over two lines at the end", "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}", plain},
		{"M13 a web page", "<!DOCTYPE html>\n<html><body>kaputt</body></html>", row{code: schema.CodeModelBroken, says: []string{"web page", "base URL"}}},
		{"M13 a web page in data", "data: <html>kaputt</html>\n\n", row{code: schema.CodeModelBroken, says: []string{"web page", "base URL"}}},
		{"M13 a complete answer", whole, complete},
		{"M13 a complete answer over many lines", "\n\n" + strings.ReplaceAll(whole, `"choices"`, "\n  \"choices\"") + "\n", complete},
		{"M13 a complete answer behind a comment", ": working\n\n" + whole, complete},
		{"M14 CRLF, no blank", strings.ReplaceAll(strings.ReplaceAll(sse(ok, finish("stop"))+done, "data: ", "data:"), "\n", "\r\n"), plain},
		{"a complete answer that is cut", whole[:len(whole)-40], row{code: schema.CodeModelUnreachable}},
		{"JSON that is no answer", `{"status":"up"}`, row{code: schema.CodeModelBroken, says: []string{`{"status":"up"}`, "base URL"}}},

		{"A16 after text", sse(ok, `{"error":{"message":"kaputt","type":"server_error"}}`), after(schema.CodeModelUnreachable)},
		{"A16 after text, bare", sse(ok) + `{"error":{"message":"kaputt"}}` + "\n", after(schema.CodeModelUnreachable)},
		{"A16 after text, bare over many lines", sse(ok) + "{\n  \"error\": {\n    \"message\": \"kaputt\"\n  }\n}", after(schema.CodeModelUnreachable)},
		{"A16 an invalid request", sse(`{"error":{"message":"kaputt","type":"invalid_request_error","code":"model_not_found"}}`), failed(schema.CodeModelRefused)},
		{"A16 a code that is a status", sse(`{"error":{"message":"kaputt","code":400}}`), failed(schema.CodeModelRefused)},
		{"A16 a code that is a status as text", sse(`{"error":{"message":"kaputt","code":"401"}}`), failed(schema.CodeModelAuth)},
		{"A16 overload", sse(ok, `{"type":"error","error":{"type":"overloaded_error","message":"kaputt"}}`), after(schema.CodeModelBusy)},
		{"A16 overload by its message", sse(`{"error":"kaputt: Server is busy"}`), failed(schema.CodeModelBusy)},
		{"A16 rate limit", sse(ok, `{"error":{"message":"kaputt","code":429}}`), after(schema.CodeModelBusy)},
		{"A16 context", sse(`{"error":{"message":"kaputt: maximum context length is 4096"}}`), failed(schema.CodeModelContext)},
		{"A16 event: error without an error member", "event: error\n" + sse(`{"message":"kaputt","code":503}`), failed(schema.CodeModelBusy)},
		{"A16 event: error with text", "event: error\ndata: kaputt\n\n", failed(schema.CodeModelUnreachable)},
		{"A16 object error", sse(`{"object":"error","message":"kaputt","type":"BadRequestError","code":400}`), failed(schema.CodeModelRefused)},
		{"A16 error in the choice", sse(`{"choices":[{"delta":{"content":"ok"},"error":{"message":"kaputt","code":502}}]}`), after(schema.CodeModelUnreachable)},
		{"A16 error in a list", `[{"error":{"code":429,"message":"kaputt","status":"RESOURCE_EXHAUSTED"}}]`, failed(schema.CodeModelBusy)},
		{"A16 what the provider behind a router said", sse(`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"kaputt","provider_name":"x"}}}`), failed(schema.CodeModelRefused)},
		{"A16 finish error alone", sse(ok, finish("error")) + done, row{content: "ok", finish: "error", code: schema.CodeModelUnreachable}},
	} {
		r := c.want
		r.name, r.body = c.name, c.body
		rows = append(rows, r)
	}
	complete.name, complete.body, complete.header = "A31 complete answer as JSON", whole, map[string]string{"Content-Type": "application/json"}
	page := row{name: "A31 HTML as a web page", code: schema.CodeModelBroken, says: []string{"base URL"}}
	page.body, page.header = "\n <html>hi</html>", map[string]string{"Content-Type": "text/html"}
	return append(rows, complete, page)
}

// statusRows are the answers that are no stream.
func statusRows() []row {
	object := func(members string) string { return `{"error":{"message":"kaputt"` + members + `}}` }
	retryIn := func(v string) map[string]string {
		return map[string]string{"Retry-After": v, "Date": "Mon, 02 Nov 2026 10:00:00 GMT"}
	}
	return []row{
		{name: "401", script: script{status: 401, body: object("")}, code: schema.CodeModelAuth, says: []string{"HTTP 401", "kaputt", "Check the API key"}},
		{name: "403", script: script{status: 403, body: object("")}, code: schema.CodeModelAuth},
		{name: "the key in the answer", script: script{status: 401, body: `{"error":{"message":"Incorrect API key provided: ` + testKey + `."}}`}, code: schema.CodeModelAuth, says: []string{"provided: [API key]."}},
		{name: "the key at the bound", script: script{status: 400, body: strings.Repeat("x", maxQuote-5) + testKey}, code: schema.CodeModelRefused, says: []string{"x[API"}},
		{name: "the key where the excerpt ends", script: script{body: strings.Repeat("x", 190) + testKey}, code: schema.CodeModelBroken, says: []string{"x[API key]"}},
		{name: "a key refused with 400", script: script{status: 400, body: `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`}, code: schema.CodeModelAuth},
		{name: "400", script: script{status: 400, body: object(`,"type":"invalid_request_error"`)}, code: schema.CodeModelRefused, says: []string{"kaputt", "base URL", "model name"}},
		{name: "402", script: script{status: 402, body: object("")}, code: schema.CodeModelQuota, says: []string{"no credit or quota", "kaputt", "Add credit"}},
		{name: "404 JSON", script: script{status: 404, body: `{"detail":"Not Found kaputt"}`}, code: schema.CodeModelRefused, says: []string{"Not Found kaputt", "base URL"}},
		{name: "A31 404 HTML", script: script{status: 404, body: "<html><h1>Not Found</h1></html>"}, code: schema.CodeModelRefused, says: []string{"HTTP 404", "(a web page)", "base URL"}},
		{name: "404 empty", script: script{status: 404}, code: schema.CodeModelRefused, says: []string{"no reason"}},
		{name: "422 with a list", script: script{status: 422, body: `{"detail":[{"loc":["body","tools"],"msg":"kaputt","type":"value_error"}]}`}, code: schema.CodeModelRefused, says: []string{"kaputt"}},
		{name: "redirect", script: script{status: 301, header: map[string]string{"Location": "https://elsewhere.example/v1"}}, code: schema.CodeModelRefused, says: []string{"redirects to https://elsewhere.example/v1", "base URL"}},
		{name: "context by code", script: script{status: 400, body: object(`,"code":"context_length_exceeded"`)}, code: schema.CodeModelContext, says: []string{"too long", "new session"}},
		{name: "context by words", script: script{status: 400, body: `{"error":{"message":"This model's maximum context length is 8192 tokens."}}`}, code: schema.CodeModelContext},
		{name: "context of a local server", script: script{status: 400, body: `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`}, code: schema.CodeModelContext},
		{name: "context as 413", script: script{status: 413}, code: schema.CodeModelContext},
		{name: "M15 429", script: script{status: 429, header: retryIn("3"), body: object("")}, code: schema.CodeModelBusy, retry: 3 * time.Second, says: []string{"HTTP 429", "kaputt"}},
		{name: "A26 429 with seconds", script: script{status: 429, header: retryIn("3"), body: object("")}, code: schema.CodeModelBusy, retry: 3 * time.Second, says: []string{"kaputt"}},
		{name: "A26 429 with a date", script: script{status: 429, header: retryIn("Mon, 02 Nov 2026 10:00:07 GMT")}, code: schema.CodeModelBusy, retry: 7 * time.Second},
		{name: "A26 429 with a date gone by", script: script{status: 429, header: retryIn("Mon, 02 Nov 2026 09:00:00 GMT")}, code: schema.CodeModelBusy},
		{name: "A26 429 with an hour", script: script{status: 429, header: retryIn("3600")}, code: schema.CodeModelBusy, retry: time.Hour},
		{name: "A26 429 with garbage", script: script{status: 429, header: retryIn("soon")}, code: schema.CodeModelBusy},
		{name: "A26 429 without the header", script: script{status: 429, body: "slow down"}, code: schema.CodeModelBusy, says: []string{"slow down"}},
		{name: "429 of an empty account", script: script{status: 429, body: object(`,"type":"insufficient_quota","code":"insufficient_quota"`)}, code: schema.CodeModelQuota},
		{name: "403 of an empty account", script: script{status: 403, body: `{"code":"x","error":"Your team has used all available credits"}`}, code: schema.CodeModelQuota},
		{name: "400 of an empty account", script: script{status: 400, body: `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`}, code: schema.CodeModelQuota},
		{name: "429 that only sounds like billing", script: script{status: 429, body: `[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details."}}]`}, code: schema.CodeModelBusy},
		{name: "503", script: script{status: 503, header: retryIn("2")}, code: schema.CodeModelBusy, retry: 2 * time.Second},
		{name: "529", script: script{status: 529, body: object(`,"type":"overloaded_error"`)}, code: schema.CodeModelBusy},
		{name: "500", script: script{status: 500, body: object("")}, code: schema.CodeModelUnreachable, says: []string{"kaputt"}},
		{name: "502 HTML", script: script{status: 502, body: "<html>Bad Gateway</html>"}, code: schema.CodeModelUnreachable, says: []string{"HTTP 502"}},
		{name: "a long error is bounded", script: script{status: 400, body: "x" + strings.Repeat("ä", 5000)}, code: schema.CodeModelRefused, says: []string{"x" + strings.Repeat("ä", maxQuote/2-1) + "…"}},
	}
}

// TestWhatToCheckFirst: a wrong address and a wrong model's name look alike, and a person who is sent to the wrong one searches long.
func TestWhatToCheckFirst(t *testing.T) {
	const address, name = "Check the base URL: it is the address before /chat/completions", "Check the model name:"
	for body, want := range map[string]string{
		"404": address, `404 {"detail":"Not Found"}`: address, "404 404 page not found": address, "405 Method Not Allowed": address, "404 <html>": address,
		`404 {"error":{"message":"The model ` + "`gpt-4.1-x`" + ` does not exist or you do not have access to it.","code":"model_not_found"}}`: name,
		`404 {"error":"model \"qwen9\" not found, try pulling it first"}`:                                                                      name,
		`404 {"type":"error","error":{"type":"not_found_error","message":"model: claude-x not found"}}`:                                        name,
		`404 {"error":{"code":404,"message":"models/gemini-9.9 is not found for API version v1main"}}`:                                         name,
		`404 {"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`:                         name,
		`400 {"error":{"message":"Model Not Exist","type":"invalid_request_error"}}`:                                                           name,
		`400 {"error":{"message":"x/y is not a valid model ID","code":400}}`:                                                                   name,
		`400 {"error":{"message":"模型不存在，请检查模型代码"}}`:                                                                                            name,
		`400 {"error":"registry.ollama.ai/library/x does not support tools"}`:                                                                  "Check the base URL and the model name.",
		`404 {"error":{"message":"No endpoints found that support tool use."}}`:                                                                address,
	} {
		status, words, _ := strings.Cut(body, " ")
		code, err := strconv.Atoi(status)
		if err != nil {
			t.Fatal(err)
		}
		e := statusError(&http.Response{StatusCode: code, Header: http.Header{}}, []byte(words), testKey)
		if e.Code != schema.CodeModelRefused || !strings.HasPrefix(e.Hint, want) || !strings.Contains(e.Hint, "model name") {
			t.Errorf("%s: %s, %q, want %q", body, e.Code, e.Hint, want)
		}
	}
}

// TestAKeyIsHiddenInAllSpellings: those of other programs too, and where the words end in its middle.
func TestAKeyIsHiddenInAllSpellings(t *testing.T) {
	const key = secret("sk/Key+0=é1")
	for name, c := range map[string]struct{ words, want string }{
		"as it is":           {"no sk/Key+0=é1.", "no [API key]."},
		"twice":              {"sk/Key+0=é1sk/Key+0=é1", "[API key][API key]"},
		"JSON of PHP":        {`{"k":"sk\/Key+0=é1"}`, `{"k":"[API key]"}`},
		"an address":         {"https://x/?k=sk%2FKey%2B0%3D%C3%A91&l=1", "https://x/?k=[API key]&l=1"},
		"in small letters":   {"k=sk%2fKey%2b0%3d%c3%a91", "k=[API key]"},
		"a path":             {"/sk%2FKey+0=%C3%A91/x", "/[API key]/x"},
		"base64":             {"c2svS2V5KzA9w6kx is bad", "[API key] is bad"},
		"its beginning":      {"no sk/Ke", "no [API key]"},
		"of another writing": {"no sk%2FK", "no [API key]"},
		"too little of it":   {"no sk/", "no sk/"},
		"another key":        {"no sk/Another", "no sk/Another"},
	} {
		if got := key.quote(c.words); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := secret("key").quote("a key is missing"); got != "a key is missing" {
		t.Errorf("a dummy is looked for: %q", got)
	}
}

// contextRows are the words in which providers say, with one status or in their stream, that a conversation is too long.
func contextRows() []row {
	var rows []row
	for provider, words := range map[string]string{
		"Anthropic":   "input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000, decrease input length or `max_tokens` and try again",
		"xAI":         "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
		"Moonshot":    "Invalid request: Your request exceeded model token limit: 8192",
		"DashScope":   "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
		"Volcengine":  "Total tokens of image and text exceed max message tokens",
		"Baidu":       "prompt tokens too long",
		"SiliconFlow": "length of prompt_tokens (40000) must be less than max_seq_len (32768)",
		"TGI":         "Input validation error: `inputs` must have less than 4095 tokens. Given: 9000",
		"Zhipu":       "Prompt 超长",
		"Chinese 1":   "输入内容过长，请缩短后重试",
		"Chinese 2":   "请求的 token 数量超过了模型的最大限制",
		"Chinese 3":   "超出模型最大上下文长度",
		"Chinese 4":   "输入长度超过最大长度限制",
	} {
		object, err := marshal(map[string]any{"error": map[string]any{"message": words, "type": "invalid_request_error", "code": "1261"}})
		if err != nil {
			panic(err)
		}
		rows = append(rows,
			row{name: "context, " + provider, script: script{status: 400, body: string(object)}, code: schema.CodeModelContext},
			row{name: "context in the stream, " + provider, script: script{body: sse(string(object))}, code: schema.CodeModelContext})
	}
	for name, words := range map[string]string{
		"a large max_tokens":           "max_tokens is too large: 9000. This model supports at most 4096 completion tokens.",
		"a parameter in Chinese":       "参数 temperature 超过了允许的范围",
		"a model's name in Chinese":    "模型不存在，请检查模型代码",
		"content refused in Chinese":   "系统检测到输入或生成内容可能包含不安全或敏感内容",
		"a format refused in Chinese":  "messages 参数非法。请检查文档。",
		"a number of tools in Chinese": "tools 数量超过 128 个",
	} {
		body := `{"error":{"message":"` + words + `","type":"invalid_request_error","code":"1210"}}`
		rows = append(rows, row{name: "no context, " + name, script: script{status: 400, body: body}, code: schema.CodeModelRefused})
	}
	return rows
}

// refuseDial fails as the network does.
type refuseDial struct{ err error }

func (r refuseDial) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	for _, c := range []struct {
		name      string
		transport http.RoundTripper
		says      string
	}{
		{"refused", NewTransport(schema.ModelHosts{}), "connection is refused"},
		{"no such name", refuseDial{&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}}, "host name is not known"},
		{"anything else", refuseDial{errors.New("weird")}, "the connection failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := newClient(t, Options{BaseURL: "http://" + address, Transport: c.transport})
			_, err := client.Stream(context.Background(), Request{}, nil)
			row{code: schema.CodeModelUnreachable, says: []string{address, c.says}}.checkError(t, err)
		})
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want schema.Code
	}{
		{"no base URL", Options{Model: "m"}, schema.CodeModelNotConfigured},
		{"no model", Options{BaseURL: "http://h/v1"}, schema.CodeModelNotConfigured},
		{"no scheme", Options{BaseURL: "localhost:8080/v1", Model: "m"}, schema.CodeInvalid},
		{"another scheme", Options{BaseURL: "ftp://h/v1", Model: "m"}, schema.CodeInvalid},
		{"no host", Options{BaseURL: "http:///v1", Model: "m"}, schema.CodeInvalid},
		{"not a URL", Options{BaseURL: "http://h:port/v1?key=" + testKey, Model: "m"}, schema.CodeInvalid},
		{"a key in the query", Options{BaseURL: "http://h/v1?key=" + testKey, Model: "m"}, schema.CodeInvalid},
		{"a key as user", Options{BaseURL: "http://" + testKey + "@h/v1", Model: "m"}, schema.CodeInvalid},
		{"a line break in the key", Options{BaseURL: "http://h/v1", Model: "m", APIKey: "sk-a\nb"}, schema.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(c.o)
			row{code: c.want}.checkError(t, err)
		})
	}
}
