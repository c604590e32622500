package schema

import (
	"bytes"
	"encoding/json"
	"strings"
)

// ModelType says what a model is for.
type ModelType string

// The types, as GNS3's configurations name them.
const (
	ModelText       ModelType = "text"
	ModelVision     ModelType = "vision"
	ModelSTT        ModelType = "stt"
	ModelTTS        ModelType = "tts"
	ModelMultimodal ModelType = "multimodal"
	ModelEmbedding  ModelType = "embedding"
	ModelReranking  ModelType = "reranking"
	ModelOther      ModelType = "other"
)

// Chats reports whether a model of the type can answer messages.
func (t ModelType) Chats() bool { return t == ModelText || t == ModelVision || t == ModelMultimodal }

// ModelSource says where a user has a configuration from.
type ModelSource string

// The sources.
const (
	ModelOfUser  ModelSource = "user"
	ModelOfGroup ModelSource = "group"
)

// ModelConfigUpdate is the body of PUT …/llm-model-configs/{config_id}. What is absent or null stays as it is. The fields are those of
// ModelConfigCreate, so that the one can be converted to the other.
type ModelConfigUpdate struct {
	_               struct{}         `json:"-" additionalProperties:"true"`
	Name            *string          `json:"name,omitempty" minLength:"1" maxLength:"100"`
	ModelType       *ModelType       `json:"model_type,omitempty" enum:"text,vision,stt,tts,multimodal,embedding,reranking,other"`
	IsDefault       *bool            `json:"is_default,omitempty" doc:"true takes the place of the owner's default, false leaves the owner without one."`
	Provider        *string          `json:"provider,omitempty" minLength:"1" maxLength:"100"`
	BaseURL         *string          `json:"base_url,omitempty" maxLength:"2000" doc:"With another scheme, host or port the kept API key is dropped unless the request brings one: it isn't sent to a host that it wasn't given for."`
	Model           *string          `json:"model,omitempty" minLength:"1" maxLength:"200"`
	Temperature     *float64         `json:"temperature,omitempty" minimum:"0" maximum:"2"`
	APIKey          *string          `json:"api_key,omitempty" maxLength:"4096" doc:"Another key; the kept one stays when absent, and an empty one removes it."`
	MaxTokens       any              `json:"max_tokens,omitempty" doc:"As in POST; an empty text or the text null removes the bound."`
	ContextLimit    *int             `json:"context_limit,omitempty" minimum:"1" maximum:"10000" doc:"In thousands of tokens."`
	ContextStrategy *ContextStrategy `json:"context_strategy,omitempty" enum:"conservative,balanced,aggressive"`
	CopilotMode     *Mode            `json:"copilot_mode,omitempty" doc:"As in POST; an empty one removes it."`
	ExpectedVersion *int             `json:"expected_version,omitempty" doc:"Refuse the change (409) unless this is the configuration's version."`
	// Extra are all other fields.
	Extra map[string]any `json:"-"`
}

// ModelConfigCreate is the body of POST …/llm-model-configs.
type ModelConfigCreate struct {
	_               struct{}         `json:"-" additionalProperties:"true"`
	Name            *string          `json:"name,omitempty" required:"true" minLength:"1" maxLength:"100"`
	ModelType       *ModelType       `json:"model_type,omitempty" required:"true" enum:"text,vision,stt,tts,multimodal,embedding,reranking,other" doc:"text, vision and multimodal can answer messages."`
	IsDefault       *bool            `json:"is_default,omitempty" doc:"Take the place of the owner's default; false when absent."`
	Provider        *string          `json:"provider,omitempty" required:"true" minLength:"1" maxLength:"100" doc:"Whose habits to expect, such as openai, ollama or deepseek; one that isn't known is an OpenAI-compatible one."`
	BaseURL         *string          `json:"base_url,omitempty" required:"true" maxLength:"2000" doc:"http or https, a host, perhaps a path: what stands before /chat/completions. No user, ? or #. An empty one becomes the provider's own when that is known by name."`
	Model           *string          `json:"model,omitempty" required:"true" minLength:"1" maxLength:"200" doc:"The model's name there."`
	Temperature     *float64         `json:"temperature,omitempty" minimum:"0" maximum:"2" doc:"0.7 when absent."`
	APIKey          *string          `json:"api_key,omitempty" maxLength:"4096" doc:"Kept sealed, and never given back."`
	MaxTokens       any              `json:"max_tokens,omitempty" doc:"The bound of each answer: an integer above 0, also as text; no bound when absent."`
	ContextLimit    *int             `json:"context_limit,omitempty" required:"true" minimum:"1" maximum:"10000" doc:"The model's context in thousands of tokens: 128 is 128,000."`
	ContextStrategy *ContextStrategy `json:"context_strategy,omitempty" enum:"conservative,balanced,aggressive" doc:"How much of the context a conversation may fill: 60, 75 or 85 percent; balanced when absent."`
	CopilotMode     *Mode            `json:"copilot_mode,omitempty" doc:"The mode of turns that name none themselves: teaching_assistant, lab_automation_assistant or troubleshooting_injection."`
	ExpectedVersion *int             `json:"-"`
	Extra           map[string]any   `json:"-"`
}

// modelConfigFields are the fields that aren't Extra.
func modelConfigFields() []string {
	return []string{
		"name", "model_type", "is_default", "provider", "base_url", "model", "temperature", "api_key", "max_tokens", "context_limit",
		"context_strategy", "copilot_mode", "expected_version",
	}
}

// UnmarshalJSON keeps what isn't known as Extra.
func (u *ModelConfigUpdate) UnmarshalJSON(b []byte) (err error) {
	type fields ModelConfigUpdate
	if err := json.Unmarshal(b, (*fields)(u)); err != nil {
		return err
	}
	u.Extra, err = extraFields(b)
	return err
}

// UnmarshalJSON keeps what isn't known as Extra.
func (c *ModelConfigCreate) UnmarshalJSON(b []byte) (err error) {
	type fields ModelConfigCreate
	if err := json.Unmarshal(b, (*fields)(c)); err != nil {
		return err
	}
	c.Extra, err = extraFields(b)
	return err
}

// extraFields are an object's fields that aren't a configuration's, numbers as they were written. Names are compared as encoding/json does.
func extraFields(b []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		return nil, err
	}
	for name := range all {
		for _, known := range modelConfigFields() {
			if strings.EqualFold(name, known) {
				delete(all, name)
			}
		}
	}
	return all, nil
}

// ModelConfig is a model configuration as the API shows it: of a user or of a group.
type ModelConfig struct {
	CreatedAt Time            `json:"created_at" format:"date-time-local" doc:"UTC without a zone: append Z before you read it as RFC 3339."`
	UpdatedAt Time            `json:"updated_at" format:"date-time-local" doc:"UTC without a zone."`
	ConfigID  string          `json:"config_id" format:"uuid"`
	Name      string          `json:"name"`
	ModelType ModelType       `json:"model_type" enum:"text,vision,stt,tts,multimodal,embedding,reranking,other"`
	Config    ModelConfigData `json:"config"`
	UserID    *string         `json:"user_id" doc:"Whose it is; null when it is a group's."`
	GroupID   *string         `json:"group_id" doc:"Whose it is; null when it is a user's."`
	IsDefault bool            `json:"is_default"`
	Version   int             `json:"version" doc:"0 at first, and one more with each change."`
	HasAPIKey bool            `json:"has_api_key" doc:"Whether a key is kept, which is never shown."`
}

// ModelConfigData says which model it is and how to ask it. Extra follows the other fields, in the order of names.
type ModelConfigData struct {
	_               struct{}        `json:"-" additionalProperties:"true"`
	Provider        string          `json:"provider"`
	BaseURL         string          `json:"base_url"`
	Model           string          `json:"model"`
	Temperature     float64         `json:"temperature"`
	APIKey          *string         `json:"api_key" doc:"Always null."`
	MaxTokens       *int            `json:"max_tokens"`
	ContextLimit    int             `json:"context_limit" doc:"In thousands of tokens."`
	ContextStrategy ContextStrategy `json:"context_strategy" enum:"conservative,balanced,aggressive"`
	CopilotMode     *Mode           `json:"copilot_mode"`
	// Extra is a JSON object of what else the configuration was given.
	Extra json.RawMessage `json:"-"`
}

// MarshalJSON writes Extra behind the other fields.
func (d ModelConfigData) MarshalJSON() ([]byte, error) {
	type fields ModelConfigData
	b := Text(fields(d))
	if extra := bytes.TrimSpace(d.Extra); len(extra) > len(`{}`) {
		b = append(append(b[:len(b)-1], ','), extra[1:]...)
	}
	return b, nil
}

// InheritedModelConfig is a configuration that a user may use, and where it is from.
type InheritedModelConfig struct {
	ModelConfig
	Source    ModelSource `json:"source" enum:"user,group"`
	GroupName *string     `json:"group_name" doc:"null when it is the user's own."`
}

// ModelConfigList is a group's configurations.
type ModelConfigList struct {
	Configs       []ModelConfig `json:"configs" nullable:"false"`
	DefaultConfig *ModelConfig  `json:"default_config" doc:"The default, else the first; null when there is none."`
	Total         int           `json:"total"`
}

// InheritedModelConfigList is what a user may use: their own configurations, then those of their groups.
type InheritedModelConfigList struct {
	Configs       []InheritedModelConfig `json:"configs" nullable:"false"`
	DefaultConfig *InheritedModelConfig  `json:"default_config" doc:"The user's default, else a group's, else the first; null when there is none."`
	Total         int                    `json:"total"`
}
