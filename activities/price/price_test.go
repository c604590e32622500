package price

import (
	"math"
	"strings"
	"testing"

	"gns3copilot/schema"
)

func TestWellKnownModels(t *testing.T) {
	table := Default()
	if table.Date() == "" {
		t.Error("nobody can tell of when the prices are")
	}
	for _, c := range []struct {
		provider, model string
		input, output   float64
		known           bool
	}{
		{"openai", "gpt-4.1", 2, 8, true},
		{"openai", "gpt-4.1-2025-04-14", 2, 8, true},
		{"openai", "GPT-4.1-mini", 0.4, 1.6, true},
		{"openrouter", "openai/gpt-4o-mini", 0.15, 0.6, true},
		{"anthropic", "claude-sonnet-4-5-20250929", 3, 15, true},
		{"google", "models/gemini-2.5-flash-lite", 0.1, 0.4, true},
		{"deepseek", "deepseek-chat", 0.28, 0.42, true},
		{"", "gpt-4.1", 2, 8, true},
		{"groq", "deepseek-chat", 0, 0, false}, // another provider has a price of its own for it
		{"openai", "my-gpt-4.1", 0, 0, false},
		{"", "scripted", 0, 0, false},
		{"", "", 0, 0, false},
		{"", "demo", 0, 0, true},
		{"ollama", "gpt-4.1", 0, 0, true}, // it runs at home, whatever it is called
		{"ollama", "qwen3:8b", 0, 0, true},
		{"vllm", "Qwen/Qwen3-8B", 0, 0, true},
		{"llama.cpp", "x", 0, 0, true},
		{"lmstudio", "x", 0, 0, true},
	} {
		price, known := table.Of(c.provider, c.model)
		if want, _ := PerMillion(c.input, c.output); price != want || known != c.known {
			t.Errorf("%s %s costs %+v, known %v", c.provider, c.model, price, known)
		}
	}
}

func TestOwnFile(t *testing.T) {
	table, err := Load([]byte(`
date: today
models:
  - {model: "house/*", input: 0.000001, output: 1}
  - {model: "*-large", provider: vllm, input: 7, output: 8}
  - {model: "*", input: 1e-1, output: 2}
`))
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[[2]string]Price{
		{"", "house/any/thing"}: {1, 1_000_000},
		{"vllm", "our-large"}:   {7_000_000, 8_000_000},
		{"vllm", "our-small"}:   {},
		{"", "our-large"}:       {100_000, 2_000_000},
	} {
		if price, known := table.Of(model[0], model[1]); price != want || !known {
			t.Errorf("%v costs %+v, known %v", model, price, known)
		}
	}
}

func TestFaultyFiles(t *testing.T) {
	for text, want := range map[string]string{
		"": "there are none",
		"models: [{model: a, input: 1}, {input: 1, output: 1}, {model: b, input: -1, output: 1}]": "entry 1 (a): input and output|entry 2 (): model is missing|entry 3 (b): A price must be from 0",
		"models: [{model: a, input: much, output: 1}]":                                            "line 1",
		"models: [{model: a, input: .nan, output: 1}, {model: b, input: .inf, output: 1}]":        "entry 1 (a)|entry 2 (b)",
		"models: [{model: a, input: 1, output: 1, cached: 1}]":                                    "field cached is not known",
		"models: [": "line 1",
		"models: [{model: a, input: 10001, output: 1}]\nprices: 1": "10000 US dollars|field prices is not known",
	} {
		_, err := Load([]byte(text))
		for part := range strings.SplitSeq(want, "|") {
			if schema.CodeOf(err) != schema.CodeInvalid || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: want %q, got %v", text, part, err)
			}
		}
	}
}

// TestAConfigurationsOwnPrice needs both numbers, and is none without them.
func TestAConfigurationsOwnPrice(t *testing.T) {
	for extra, want := range map[string]*Price{
		"": nil, "null": nil, "{}": nil, `{"region": "eu"}`: nil,
		`{"input_price": 0.15, "output_price": 6e-1, "region": "eu"}`: {150_000, 600_000},
		`{"input_price": 0, "output_price": 0}`:                       {},
	} {
		if got, err := OfConfig([]byte(extra)); err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %v %v, want %v", extra, got, err, want)
		}
	}
	for _, extra := range []string{`{"input_price": 1}`, `{"output_price": 1}`, `{"input_price": "1", "output_price": 1}`, `{"input_price": -1, "output_price": 1}`, `[]`} {
		if got, err := OfConfig([]byte(extra)); schema.CodeOf(err) != schema.CodeInvalid {
			t.Errorf("%s: %v %v", extra, got, err)
		}
	}
}

func TestCost(t *testing.T) {
	for _, c := range []struct {
		price         Price
		input, output int
		want          int64
	}{
		{Price{2_000_000, 8_000_000}, 100, 50, 600},
		{Price{50_000, 80_000}, 100, 50, 9},
		{Price{50_000, 80_000}, 10, 0, 1}, // half a millionth and more is one
		{Price{50_000, 80_000}, 9, 0, 0},
		{Price{2_000_000, 8_000_000}, -5, 50, 400},
		{Price{schema.MostPrice * 1e6, schema.MostPrice * 1e6}, math.MaxInt, math.MaxInt, 2 * MostTokens * schema.MostPrice}, // no provider's number makes a sum run over
	} {
		if got := c.price.Cost(c.input, c.output); got != c.want {
			t.Errorf("%+v: %d and %d tokens cost %d, want %d", c.price, c.input, c.output, got, c.want)
		}
	}
}
