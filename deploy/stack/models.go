package stack

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"gns3copilot/activities"
	"gns3copilot/activities/llm"
	"gns3copilot/activities/price"
	"gns3copilot/schema"

	"gopkg.in/yaml.v3"
)

// Model is a model that workers are started with.
type Model = activities.ModelSettings

// modelFile is a list of models in a file. The fields are those of a model configuration in the API.
type modelFile struct {
	Models []struct {
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
	} `yaml:"models"`
}

// LoadModels reads models from a YAML file, in the order in which they are tried. It fails with CodeInvalid and names what is wrong, but
// never a key.
func LoadModels(path string) ([]Model, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, schema.Errorf(schema.CodeInvalid, "The file of models %s can't be read.", path).WithCause(err)
	}
	defer file.Close()
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	var listed modelFile
	if err := decoder.Decode(&listed); err != nil && !errors.Is(err, io.EOF) {
		return nil, schema.Errorf(schema.CodeInvalid, "The file of models %s can't be read: %s", path, yamlFault(err))
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

// yamlFault is what the reader says, without the values that it quotes: one may be a key.
func yamlFault(err error) string {
	var fault *yaml.TypeError
	if !errors.As(err, &fault) {
		return "it is not YAML"
	}
	lines := make([]string, len(fault.Errors))
	for i, text := range fault.Errors {
		line, what, _ := strings.Cut(text, ":")
		if !strings.Contains(what, "not found in type") {
			what = " a value of another kind is expected"
		}
		what, _, _ = strings.Cut(what, " in type")
		lines[i] = line + ":" + what
	}
	return strings.Join(lines, "; ")
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
