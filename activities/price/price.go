// Package price knows what model calls cost: from a table that operators edit, or from what a model's own configuration says.
package price

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"gns3copilot/schema"
)

//go:embed prices.yaml
var defaultFile []byte

var (
	// builtIn is parsed once, as a compiled pattern is.
	builtIn = sync.OnceValues(func() (*Table, error) { return Load(defaultFile) })
	// goType is how the YAML library ends a complaint about an unknown key.
	goType = regexp.MustCompile(` not found in type \S+`)
)

// Price is what a million tokens cost, in millionths of a US dollar.
type Price struct{ Input, Output int64 }

// PerMillion makes a price of US dollars per million tokens. It fails with CodeInvalid for what is no price.
func PerMillion(input, output float64) (Price, error) {
	for _, usd := range []float64{input, output} {
		if math.IsNaN(usd) || usd < 0 || usd > schema.MostPrice {
			return Price{}, schema.Errorf(schema.CodeInvalid, "A price must be from 0 to %d US dollars per million tokens.", schema.MostPrice)
		}
	}
	return Price{schema.MicroUSD(input), schema.MicroUSD(output)}, nil
}

// Own is the price that a model's own configuration gives with the keys input_price and output_price, in US dollars per million tokens; nil
// when it gives none. It fails with CodeInvalid for one without the other, and for what is no price.
func Own(input, output *float64) (*Price, error) {
	switch {
	case input == nil && output == nil:
		return nil, nil
	case input == nil || output == nil:
		return nil, schema.Errorf(schema.CodeInvalid, "input_price and output_price are needed together.")
	}
	p, err := PerMillion(*input, *output)
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// OfConfig is Own of a configuration's further fields, a JSON object or nothing. It fails with CodeInvalid, too, when a price is no number.
func OfConfig(extra []byte) (*Price, error) {
	var fields struct {
		Input  *float64 `json:"input_price"`
		Output *float64 `json:"output_price"`
	}
	if len(bytes.TrimSpace(extra)) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(extra, &fields); err != nil {
		return nil, schema.Errorf(schema.CodeInvalid, "input_price and output_price must be numbers, in US dollars per million tokens.").WithCause(err)
	}
	return Own(fields.Input, fields.Output)
}

// MostTokens is how many tokens of a call are counted, in and out: a provider may say anything.
const MostTokens = 100_000_000

// Cost is what a call costs, in millionths of a US dollar, to the nearest one.
func (p Price) Cost(input, output int) int64 {
	const million = 1_000_000
	count := func(n int) int64 { return int64(min(max(n, 0), MostTokens)) }
	return (count(input)*p.Input + count(output)*p.Output + million/2) / million
}

// Table is a list of prices. It is safe for concurrent use.
type Table struct {
	date    string
	entries []entry
}

// file is the form of prices.yaml.
type file struct {
	Date   string  `yaml:"date"`
	Models []model `yaml:"models"`
}

type model struct {
	Model    string   `yaml:"model"`
	Provider string   `yaml:"provider"`
	Input    *float64 `yaml:"input"`
	Output   *float64 `yaml:"output"`
}

type entry struct {
	pattern  *regexp.Regexp
	whole    bool // compared with the whole name, slashes and all
	provider string
	price    Price
}

// Default gives the built-in table.
func Default() *Table {
	t, err := builtIn()
	if err != nil { // the file is part of the program, and tested
		panic(err)
	}
	return t
}

// Load reads a price file in YAML. What is wrong with it is reported all at once, as CodeInvalid.
func Load(text []byte) (*Table, error) {
	var f file
	var faults []string
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		list, ok := errors.AsType[*yaml.TypeError](err)
		if !ok {
			return nil, invalid([]string{strings.TrimPrefix(err.Error(), "yaml: ")})
		}
		for _, fault := range list.Errors {
			faults = append(faults, goType.ReplaceAllString(fault, " is not known"))
		}
	}
	t := &Table{date: f.Date}
	for i, m := range f.Models {
		e, fault := m.entry()
		if fault != "" {
			faults = append(faults, fmt.Sprintf("entry %d (%s): %s", i+1, m.Model, fault))
		}
		t.entries = append(t.entries, e)
	}
	if len(f.Models) == 0 && len(faults) == 0 {
		faults = append(faults, "models: there are none")
	}
	if len(faults) > 0 {
		return nil, invalid(faults)
	}
	return t, nil
}

func invalid(faults []string) *schema.Error {
	return schema.Errorf(schema.CodeInvalid, "The price file can't be used:\n  %s", strings.Join(faults, "\n  "))
}

func (m model) entry() (e entry, fault string) {
	if m.Model == "" {
		return e, "model is missing"
	}
	if m.Input == nil || m.Output == nil {
		return e, "input and output are needed, in US dollars per million tokens"
	}
	price, err := PerMillion(*m.Input, *m.Output)
	if err != nil {
		return e, schema.AsError(err).Message
	}
	parts := strings.Split(m.Model, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return entry{
		pattern: regexp.MustCompile("(?is)^" + strings.Join(parts, ".*") + "$"),
		whole:   strings.Contains(m.Model, "/"), provider: m.Provider, price: price,
	}, ""
}

// local are the providers whose models run on one's own machines.
func local(provider string) bool {
	return slices.Contains([]string{"ollama", "vllm", "llama.cpp", "lmstudio"}, provider)
}

// Of gives the price of a provider's model; provider is its name in the model client. known is false when it isn't in the table.
func (t *Table) Of(provider, name string) (_ Price, known bool) {
	short := name[strings.LastIndex(name, "/")+1:]
	for _, e := range t.entries {
		if e.provider != provider && (e.provider != "" || local(provider)) {
			continue
		}
		if e.pattern.MatchString(short) && !e.whole || e.whole && e.pattern.MatchString(name) {
			return e.price, true
		}
	}
	return Price{}, local(provider)
}

// Date says of when the prices are, in the file's own words.
func (t *Table) Date() string { return t.date }
