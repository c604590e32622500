package llm

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

var nineCharacters = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

func TestProviderNames(t *testing.T) {
	for alias, want := range map[string]string{
		"": "custom", "openai": "openai", "OpenAI": "openai", "azure_openai": "azure", "azure-openai": "azure", "anthropic": "anthropic",
		"gemini": "google", "google_genai": "google", "deepseek": "deepseek", "xai": "xai", "groq": "groq", "mistralai": "mistral",
		"openrouter": "openrouter", "ollama": "ollama", "vLLM": "vllm", "llamacpp": "llama.cpp", "llama.cpp": "llama.cpp", "llama-cpp": "llama.cpp",
		"lm-studio": "lmstudio", "LM Studio": "lmstudio", "custom": "custom", "openai_compatible": "custom",
	} {
		if got, err := ProviderName(alias); err != nil || got != want {
			t.Errorf("%q is %q (%v), want %q", alias, got, err, want)
		}
	}
	_, err := New(Options{Provider: "opneai", BaseURL: "http://h/v1", Model: "m"})
	e := schema.AsError(err)
	if schema.CodeOf(err) != schema.CodeInvalid || !strings.Contains(e.Message, "opneai") {
		t.Fatalf("error %v", err)
	}
	for _, name := range Providers() {
		if !strings.Contains(e.Hint, name) {
			t.Errorf("%s isn't in %q", name, e.Hint)
		}
	}
}

// TestBaseURLsWithoutAPath are what GNS3's page fills in for some providers.
func TestBaseURLsWithoutAPath(t *testing.T) {
	for _, c := range []struct{ provider, base, want string }{
		{"anthropic", "https://api.anthropic.com", "https://api.anthropic.com/v1"},
		{"google_genai", "https://generativelanguage.googleapis.com/", "https://generativelanguage.googleapis.com/v1beta/openai"},
		{"xai", "https://api.x.ai", "https://api.x.ai/v1"},
		{"ollama", "http://10.0.0.9:11434", "http://10.0.0.9:11434/v1"},
		{"openai", "https://proxy.example/openai", "https://proxy.example/openai"},
		{"custom", "https://proxy.example", "https://proxy.example"},
		{"azure", "https://name.openai.azure.com", "https://name.openai.azure.com/openai/v1"},
	} {
		client, err := New(Options{Provider: c.provider, BaseURL: c.base, Model: "m"})
		if err != nil || client.config.BaseURL != c.want {
			t.Errorf("%s at %s: %v %s, want %s", c.provider, c.base, err, client.config.BaseURL, c.want)
		}
	}
}

func TestProvidersHaveBaseURLs(t *testing.T) {
	for _, name := range Providers() {
		t.Run(name, func(t *testing.T) {
			c, err := New(Options{Provider: name, Model: "m"})
			if name == "azure" || name == "custom" {
				row{code: schema.CodeModelNotConfigured, says: []string{"no base URL", "https://"}}.checkError(t, err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := name + "/" + c.host; c.Origin() != want || c.host == "" {
				t.Errorf("origin %q, host %q", c.Origin(), c.host)
			}
			if local := strings.HasPrefix(c.host, "127.0.0.1:"); local != slices.Contains([]string{"ollama", "vllm", "llama.cpp", "lmstudio"}, name) ||
				local != strings.HasPrefix(c.config.BaseURL, "http://") {
				t.Errorf("base URL %s", c.config.BaseURL)
			}
		})
	}
}

// TestProvidersGetBackTheirOwn sends each provider a conversation of its own making, which its strict likeness accepts.
func TestProvidersGetBackTheirOwn(t *testing.T) {
	extra := json.RawMessage(`{"reasoning_content":"a","reasoning":"b","reasoning_details":[{"text":"c"}],"extra_content":{"google":{}}}`)
	for name, want := range map[string][]string{
		"openai": nil, "azure": nil, "anthropic": nil, "xai": nil, "groq": nil, "mistral": nil,
		"google": {"extra_content"}, "deepseek": {"reasoning_content"}, "openrouter": {"reasoning_details"},
		"ollama": {"reasoning_content", "reasoning", "reasoning_details", "extra_content"}, "custom": {"reasoning_content", "reasoning", "reasoning_details", "extra_content"},
	} {
		t.Run(name, func(t *testing.T) {
			client, model := strictClient(t, name, scriptmodel.Strict{Extra: want})
			model.Demand(scriptmodel.Strict{Extra: want}) // the key is in another place
			for _, origin := range []string{"", client.Origin()} {
				call := Message{Role: "assistant", ToolCalls: []ToolCall{{ID: "A", Name: "show", Arguments: "{}"}}, Extra: extra, ExtraFrom: origin}
				accepted(t, client, model, Request{Messages: []Message{user("go"), call, result("A", "up")}, Tools: showTools()})
				back := sentMessages(t, model)[1]
				for _, field := range []string{"reasoning_content", "reasoning", "reasoning_details", "extra_content"} {
					if _, there := back[field]; there != slices.Contains(want, field) {
						t.Errorf("origin %q, %s goes back: %v", origin, field, there)
					}
				}
			}
		})
	}
}

// TestCallsWithoutWords sends what was called without a word: null is what OpenAI writes, and llama-cpp-python answers it with 500.
func TestCallsWithoutWords(t *testing.T) {
	contents := make(chan any, 1)
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		var sent struct{ Messages []map[string]any }
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		contents <- sent.Messages[1]["content"]
		script{body: sse(words("ok"), finish("stop")) + done}.serve(w, 0)
	})
	for provider, want := range map[string]any{"openai": nil, "custom": nil, "llama.cpp": " "} {
		c := newClient(t, Options{Provider: provider, BaseURL: server.config.BaseURL, Transport: server.base})
		call := asks(ToolCall{ID: "A", Name: "show", Arguments: "{}"})
		if _, err := c.Stream(t.Context(), Request{Messages: []Message{user("go"), call, result("A", "up")}}, nil); err != nil {
			t.Fatal(err)
		}
		if got := <-contents; got != want {
			t.Errorf("%s is sent %#v", provider, got)
		}
	}
}

func TestAzureHasItsOwnHeader(t *testing.T) {
	headers := make(chan http.Header, 1)
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header
		script{body: sse(words("ok"), finish("stop")) + done}.serve(w, 0)
	})
	for provider, want := range map[string][2]string{"azure": {"", testKey}, "openai": {"Bearer " + testKey, ""}} {
		c := newClient(t, Options{Provider: provider, BaseURL: server.config.BaseURL, APIKey: testKey, Transport: server.base})
		if _, err := c.Stream(t.Context(), Request{}, nil); err != nil {
			t.Fatal(err)
		}
		if h := <-headers; h.Get("Authorization") != want[0] || h.Get("api-key") != want[1] {
			t.Errorf("%s: %v", provider, h)
		}
	}
}

// TestMistral has its manners wherever one of its models is served.
func TestMistral(t *testing.T) {
	for _, at := range []struct{ provider, model string }{
		{"mistral", "any"}, {"openrouter", "mistralai/mistral-small"}, {"vllm", "mistralai/Devstral-Small-2"}, {"custom", "ministral-8b"}, {"ollama", "mixtral:8x7b"},
	} {
		t.Run(at.provider+" "+at.model, func(t *testing.T) {
			first, model := strictClient(t, at.provider, scriptmodel.Strict{CallID: nineCharacters, AssistantAfterTool: true})
			c := newClient(t, Options{Provider: at.provider, Model: at.model, BaseURL: model.BaseURL(), APIKey: testKey, Transport: first.base})
			messages := []Message{
				user("go"),
				asks(ToolCall{ID: "call_0123456789abcdef01234567", Name: "show", Arguments: "{}"}, ToolCall{ID: "call_0123456789abcdef01234568", Name: "show", Arguments: "{}"}),
				result("call_0123456789abcdef01234567", "up"), result("call_0123456789abcdef01234568", "down"),
				user("go on"),
			}
			accepted(t, c, model, Request{Messages: messages, Tools: showTools()})
			before := sentMessages(t, model)
			if len(before) != 6 || before[4]["role"] != "assistant" || before[2]["tool_call_id"] == before[3]["tool_call_id"] {
				t.Errorf("sent %v", before)
			}
			// What has been sent once is sent the same again.
			accepted(t, c, model, Request{Messages: append(messages, Message{Role: "assistant", Content: "ok"}, user("and on")), Tools: showTools()})
			if after := sentMessages(t, model)[:6]; !slices.EqualFunc(before, after, func(a, b map[string]any) bool { return marshalled(a) == marshalled(b) }) {
				t.Errorf("before %v\nafter  %v", before, after)
			}
		})
	}
}

func marshalled(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// TestParametersThatAreRefused has providers that refuse to know a parameter: the same call goes out again without it, and the next one of
// the same client doesn't ask again.
func TestParametersThatAreRefused(t *testing.T) {
	warm := float32(0.3)
	request := Request{Messages: []Message{user("go")}, Tools: showTools(), Temperature: &warm, MaxTokens: 7}
	for _, c := range []struct {
		name, provider string
		refuses        []string
		tries          int
		want           []string // of the four, those that are in the last request
	}{
		{"none", "custom", nil, 1, []string{"max_tokens", "stream_options", "temperature"}},
		{"stream_options", "custom", []string{"stream_options"}, 2, []string{"max_tokens", "temperature"}},
		{"temperature", "anthropic", []string{"temperature"}, 2, []string{"max_tokens", "stream_options"}},
		{"the old limit", "groq", []string{"max_tokens"}, 2, []string{"max_completion_tokens", "stream_options", "temperature"}},
		{"the new limit", "openai", []string{"max_completion_tokens"}, 2, []string{"max_tokens", "stream_options", "temperature"}},
		{"all of them", "custom", []string{"max_tokens", "max_completion_tokens", "stream_options", "temperature"}, 5, nil},
		{"what is known of it", "mistral", []string{"stream_options"}, 1, []string{"max_tokens", "temperature"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, model := strictClient(t, c.provider, scriptmodel.Strict{Refuses: c.refuses})
			for _, tries := range []int{c.tries, 1} {
				before := len(model.Sent())
				answer := accepted(t, client, model, request)
				if sent := len(model.Sent()) - before; sent != tries {
					t.Errorf("%d requests, want %d", sent, tries)
				}
				if estimated := !slices.Contains(c.want, "stream_options"); answer.Content != "ok" || answer.Usage.Estimated != estimated {
					t.Errorf("answer %+v", answer)
				}
			}
			var sent map[string]any
			if err := json.Unmarshal([]byte(lastSent(model)), &sent); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, name := range []string{"max_completion_tokens", "max_tokens", "stream_options", "temperature"} {
				if _, there := sent[name]; there {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("sent with %v, want %v", got, c.want)
			}
		})
	}
}

// TestHabitsAreShared by the clients that are made for each call, and not by other models.
func TestHabitsAreShared(t *testing.T) {
	first, model := strictClient(t, "", scriptmodel.Strict{Refuses: []string{"stream_options"}})
	habits := &Habits{}
	for _, c := range []struct {
		model string
		tries int
	}{{"a", 2}, {"a", 1}, {"b", 2}, {"a", 1}} {
		before := len(model.Sent())
		client := newClient(t, Options{Model: c.model, BaseURL: model.BaseURL(), APIKey: testKey, Transport: first.base, Habits: habits})
		accepted(t, client, model, Request{Messages: []Message{user("go")}})
		if tries := len(model.Sent()) - before; tries != c.tries {
			t.Errorf("%s: %d requests, want %d", c.model, tries, c.tries)
		}
	}
}

// TestRefusalsInTheirOwnWords holds how providers word such refusals, and refusals that are something else.
func TestRefusalsInTheirOwnWords(t *testing.T) {
	sent := []string{"stream_options", "temperature", "max_tokens"}
	for _, c := range []struct{ words, want string }{
		{`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`, "max_tokens"},
		{`{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported."}}`, "temperature"},
		{`{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted","input":true}]}`, "stream_options"},
		{`{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`, "stream_options"},
		{"`temperature` is deprecated for this model.", "temperature"},
		{`{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens"}}`, ""},
		{`{"error":{"message":"temperature must be between 0 and 1"}}`, ""},
		{`{"error":{"message":"Unknown parameter: 'max_completion_tokens'"}}`, ""}, // wasn't sent
		{`{"error":{"message":"tools is not supported with this model"}}`, ""},
	} {
		var h Habits
		learnt := h.learn("x", c.words, sent)
		if learnt != (c.want != "") || learnt && !h.of("x")[c.want] || len(h.of("y")) > 0 {
			t.Errorf("%s: %v", c.words, h.of("x"))
		}
	}
}

// TestARefusalOfSomethingElse is not tried again.
func TestARefusalOfSomethingElse(t *testing.T) {
	for name, s := range map[string]script{
		"another field": {status: 400, body: `{"error":{"message":"Unknown parameter: 'tools'"}}`},
		"the key":       {status: 401, body: `{"error":{"message":"stream_options not allowed for this key"}}`},
		"the rate":      {status: 429, body: `{"error":{"message":"stream_options not allowed now"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			c := newServer(t, func(w http.ResponseWriter, _ *http.Request) { asked++; s.serve(w, 0) })
			if _, err := c.Stream(t.Context(), Request{}, nil); err == nil || asked != 1 {
				t.Errorf("asked %d times: %v", asked, err)
			}
		})
	}
}

func TestModelsOfOpenAI(t *testing.T) {
	warm := float32(0.3)
	for _, c := range []struct {
		provider, model  string
		temperature, new bool
	}{
		{"openai", "gpt-4o", true, true}, {"openai", "o3-mini", false, true}, {"openai", "gpt-5-mini", false, true}, {"custom", "o3-mini", false, true},
		{"custom", "llama3", true, false}, {"groq", "llama3", true, false},
	} {
		first, model := strictClient(t, c.provider, scriptmodel.Strict{})
		client := newClient(t, Options{Provider: c.provider, Model: c.model, BaseURL: model.BaseURL(), APIKey: testKey, Transport: first.base})
		accepted(t, client, model, Request{Messages: []Message{user("go")}, Temperature: &warm, MaxTokens: 50})
		var sent map[string]any
		if err := json.Unmarshal([]byte(lastSent(model)), &sent); err != nil {
			t.Fatal(err)
		}
		_, temperature := sent["temperature"]
		if temperature != c.temperature || c.new != (sent["max_completion_tokens"] == 50.0) || c.new == (sent["max_tokens"] == 50.0) {
			t.Errorf("%s %s: %v", c.provider, c.model, sent)
		}
	}
}
