package activities

import (
	"context"

	"gns3copilot/schema"
)

// ModelSettings is a model's configuration, its key opened.
type ModelSettings struct {
	ID       string // of the configuration; schema.ServerModels for one that the worker was started with
	Name     string // for people
	Provider string // one that the model client knows, or "" for any other
	BaseURL  string
	Model    string
	APIKey   string

	Temperature *float64 // nil for the provider's own
	MaxTokens   int      // of an answer; 0 for the provider's own
	// ContextLimit is how much the model reads, in thousands of tokens; ContextStrategy how much of that is used.
	ContextLimit    int
	ContextStrategy schema.ContextStrategy
	// TitleModel is the model at the same address that makes titles; "" for the same one.
	TitleModel string
}

// Check looks for what no model can do without. It fails with CodeInvalid.
func (m ModelSettings) Check() error {
	fault := ""
	switch {
	case m.Model == "":
		fault = "model is missing"
	case m.Temperature != nil && (*m.Temperature < 0 || *m.Temperature > 2):
		fault = "temperature must be from 0 to 2"
	case m.MaxTokens < 0:
		fault = "max_tokens must be above 0"
	case m.ContextLimit <= 0:
		fault = "context_limit, in thousands of tokens, must be above 0"
	case !m.ContextStrategy.Valid():
		fault = "context_strategy must be conservative, balanced or aggressive"
	default:
		return nil
	}
	return schema.Errorf(schema.CodeInvalid, "%s", fault)
}

// Catalog knows the models that turns may ask.
type Catalog struct {
	// Server are those that the worker was started with, in the order in which they are tried.
	Server []ModelSettings
	// Connect makes a client of a configuration. It fails with CodeInvalid and CodeModelNotConfigured.
	Connect func(ModelSettings) (Model, error)
}

// chosen is a model that a turn asks.
type chosen struct {
	Model
	ModelSettings
	last bool // there is none behind it
}

// at finds the model at a place of a turn's list. It fails with CodeModelNotConfigured when there is none.
func (c *Catalog) at(ctx context.Context, ids []string, place int) (chosen, error) {
	places := c.expand(ids)
	if place >= len(places) {
		return chosen{last: true}, schema.NoModel()
	}
	m := chosen{ModelSettings: places[place], last: place == len(places)-1}
	client, err := c.Connect(m.ModelSettings)
	m.Model = client
	return m, err
}

// expand puts the server's own models where the list names them.
func (c *Catalog) expand(ids []string) []ModelSettings {
	if len(ids) == 0 {
		return c.Server
	}
	var places []ModelSettings
	for _, id := range ids {
		if id == schema.ServerModels {
			places = append(places, c.Server...)
		}
	}
	return places
}
