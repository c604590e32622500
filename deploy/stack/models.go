package stack

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"gns3copilot/activities"
	"gns3copilot/activities/llm"
	"gns3copilot/activities/price"
	"gns3copilot/schema"

	"gopkg.in/yaml.v3"
)

// Model is a model that workers are started with.
type Model = activities.ModelSettings

// modelFile is a list of models in a file.
type modelFile struct {
	Models []listedModel `yaml:"models"`
}

// listedModel is one of them. The fields are those of a model configuration in the API.
type listedModel struct {
	Name            string                 `yaml:"name"`
	Provider        string                 `yaml:"provider"`
	BaseURL         string                 `yaml:"base_url"`
	Model           string                 `yaml:"model"`
	APIKey          string                 `yaml:"api_key"`
	APIKeyFile      string                 `yaml:"api_key_file"`
	Temperature     *float64               `yaml:"temperature"`
	MaxTokens       int                    `yaml:"max_tokens"`
	ContextLimit    int                    `yaml:"context_limit"`
	ContextStrategy schema.ContextStrategy `yaml:"context_strategy"`
	TitleModel      string                 `yaml:"title_model"`
	InputPrice      *float64               `yaml:"input_price"`
	OutputPrice     *float64               `yaml:"output_price"`
}

// LoadModels reads models from a YAML file, in the order in which they are tried. It fails with CodeInvalid and names what is wrong, but
// never a key.
func LoadModels(path string) ([]Model, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, schema.Errorf(schema.CodeInvalid, "The file of models %s can't be read.", path).WithCause(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	var listed modelFile
	if err := decoder.Decode(&listed); err != nil && !errors.Is(err, io.EOF) {
		return nil, schema.Errorf(schema.CodeInvalid, "The file of models %s can't be read: %s", path, yamlFault(err, text))
	}
	var models []Model
	for i, m := range listed.Models {
		model := Model{
			ID: schema.ServerModels, Name: cmp.Or(m.Name, m.Model), Provider: m.Provider, BaseURL: m.BaseURL, Model: m.Model, APIKey: m.APIKey,
			Temperature: m.Temperature, MaxTokens: m.MaxTokens, ContextLimit: m.ContextLimit, ContextStrategy: cmp.Or(m.ContextStrategy, schema.ContextBalanced), TitleModel: m.TitleModel,
		}
		if m.APIKeyFile != "" {
			key, err := os.ReadFile(m.APIKeyFile)
			if err != nil {
				return nil, schema.Errorf(schema.CodeInvalid, "%s: model %d: the key file %s can't be read.", path, i+1, m.APIKeyFile).WithCause(err)
			}
			model.APIKey = strings.TrimSpace(string(key))
		}
		own, err := price.Own(m.InputPrice, m.OutputPrice)
		if err != nil {
			return nil, schema.Errorf(schema.CodeInvalid, "%s: model %d: %s", path, i+1, schema.AsError(err).Message)
		}
		model.Price = own
		if err := model.Check(); err != nil {
			return nil, schema.Errorf(schema.CodeInvalid, "%s: model %d: %s.", path, i+1, schema.AsError(err).Message)
		}
		models = append(models, model)
	}
	if len(models) == 0 {
		return nil, schema.Errorf(schema.CodeInvalid, "The file of models %s lists none.", path)
	}
	return models, nil
}

// yamlFault is what the reader says of a file, without the values that it quotes: one may be a key.
func yamlFault(err error, file []byte) string {
	var fault *yaml.TypeError
	if !errors.As(err, &fault) {
		return "it is not YAML"
	}
	fields := faultyFields(file)
	lines := make([]string, len(fault.Errors))
	for i, text := range fault.Errors {
		line, what, _ := strings.Cut(text, ": ")
		unknown, _, is := strings.Cut(what, " not found in type")
		switch {
		case is:
			lines[i] = line + ": there is no " + unknown
		case strings.HasPrefix(what, "mapping key"):
			lines[i] = line + ": the field is there already"
		case fields[text] != "":
			lines[i] = fmt.Sprintf("%s: %s: %s is expected", line, fields[text], expected(what))
		default:
			lines[i] = fmt.Sprintf("%s: %s is expected", line, expected(what))
		}
	}
	return strings.Join(lines, "; ")
}

// faultyFields names the fields of models whose values can't be read, by what the reader says of each.
func faultyFields(file []byte) map[string]string {
	var listed struct {
		Models []yaml.Node `yaml:"models"`
	}
	if err := yaml.Unmarshal(file, &listed); err != nil {
		return nil // what is wrong is no field of a model
	}
	fields := map[string]string{}
	for _, model := range listed.Models {
		if model.Kind != yaml.MappingNode {
			continue
		}
		for pair := range slices.Chunk(model.Content, 2) {
			one := yaml.Node{Kind: yaml.MappingNode, Content: pair}
			var fault *yaml.TypeError
			if errors.As(one.Decode(&listedModel{}), &fault) {
				for _, text := range fault.Errors {
					fields[text] = pair[0].Value
				}
			}
		}
	}
	return fields
}

// expected is the kind of value that the reader wanted: its type stands at the end, behind the value that it found.
func expected(fault string) string {
	switch fault[strings.LastIndex(fault, " ")+1:] {
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	case "string", "schema.ContextStrategy":
		return "a text"
	}
	return "a value of another kind"
}

// connector makes clients that share their connections, until hangUp closes those that no call uses. The server's own models are asked
// wherever they are; to where users' models may be, hosts says.
func (s *Stack) connector(o WorkerOptions) (_ func(activities.ModelSettings) (activities.Model, error), hangUp func()) {
	habits := &llm.Habits{}
	connect := func(m activities.ModelSettings, transport http.RoundTripper) (*llm.Client, error) {
		return llm.New(llm.Options{
			Provider: m.Provider, BaseURL: m.BaseURL, APIKey: m.APIKey, Model: m.Model, IdleTimeout: o.ModelIdle, Transport: transport, Habits: habits,
			Logger: s.log, Metrics: s.metrics,
		})
	}
	hosts := o.ModelHosts
	for _, m := range o.Models {
		if c, err := connect(m, nil); err == nil { // the catalog meets the error again
			hosts = hosts.With(c.HostPort())
		}
	}
	own, users := llm.NewTransport(hosts), llm.NewTransport(o.ModelHosts)
	hangUp = func() {
		own.CloseIdleConnections()
		users.CloseIdleConnections()
	}
	return func(m activities.ModelSettings) (activities.Model, error) {
		if m.ID == schema.ServerModels {
			return connect(m, own)
		}
		if _, err := llm.ProviderName(m.Provider); err != nil {
			m.Provider = "" // the page of GNS3 lets people write any name
		}
		return connect(m, users)
	}, hangUp
}
