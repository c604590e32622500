package activities

import (
	"context"
	"encoding/json"

	"gns3copilot/activities/llm"
	"gns3copilot/activities/price"
	"gns3copilot/schema"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"
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
	// Price is what the configuration says that the model costs; nil for what the price table says.
	Price *price.Price
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
	Store *store.Store
	Vault *vault.Vault
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

// at finds the model at a place of a turn's list. It fails with CodeModelNotConfigured when there is none, or its configuration has been
// deleted, and as Connect does.
func (c *Catalog) at(ctx context.Context, ids []string, place int) (chosen, error) {
	places := c.expand(ids)
	if place >= len(places) {
		return chosen{last: true}, schema.NoModel()
	}
	m := chosen{ModelSettings: places[place], last: place == len(places)-1}
	if m.ID != schema.ServerModels {
		var err error
		if m.ModelSettings, err = c.open(ctx, m.ID); err != nil {
			return m, err
		}
	}
	if name, err := llm.ProviderName(m.Provider); err == nil { // people spell it in many ways; prices and habits go by one
		m.Provider = name
	}
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
		} else {
			places = append(places, ModelSettings{ID: id})
		}
	}
	return places
}

// open reads a configuration and its key. Its name is known even when it is gone.
func (c *Catalog) open(ctx context.Context, id string) (ModelSettings, error) {
	row, err := c.Store.ModelConfig(ctx, id)
	if schema.CodeOf(err) == schema.CodeNotFound {
		err = schema.Errorf(schema.CodeModelNotConfigured, "The model configuration that the turn began with has been deleted.").
			WithHint("Send the message again with another one.").WithCause(err)
	}
	if err != nil {
		return ModelSettings{ID: id, Name: "a deleted model"}, err
	}
	more, err := furtherSettings(row.Extra)
	if err != nil {
		return ModelSettings{ID: id, Name: row.Name}, err
	}
	own, err := price.OfConfig([]byte(row.Extra))
	if err != nil {
		return ModelSettings{ID: id, Name: row.Name}, schema.Errorf(schema.CodeModelNotConfigured, "The model configuration can't be used: %s", schema.AsError(err).Message).
			WithHint("Correct the prices, or leave them out.").WithCause(err)
	}
	key, err := c.Vault.OpenModelKey(id, row.SealedKey)
	return ModelSettings{
		ID: id, Name: row.Name, Provider: row.Provider, BaseURL: row.BaseURL, Model: row.Model, APIKey: key,
		Temperature: &row.Temperature, MaxTokens: row.MaxTokens, ContextLimit: row.ContextLimit, ContextStrategy: row.ContextStrategy,
		TitleModel: more.TitleModel, Price: own,
	}, err
}

// further are the settings that GNS3's configurations don't have: they come among the other fields of one.
type further struct {
	TitleModel string `json:"title_model"`
}

func furtherSettings(extra string) (f further, err error) {
	if json.Unmarshal([]byte(extra), &f) != nil {
		err = schema.Errorf(schema.CodeModelNotConfigured, "The model configuration's title_model is not a text.").WithHint("Correct it, or leave it out.")
	}
	return f, err
}
