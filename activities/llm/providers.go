package llm

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"gns3copilot/schema"
)

// provider is what is known of a provider's habits. What no field speaks of is as OpenAI documents it.
type provider struct {
	name    string
	aliases []string // other names that people and GNS3's pages use
	baseURL string   // empty: each customer has an own one
	example string   // of such a base URL, for the error
	// header carries the key as it is; empty for Authorization: Bearer.
	header string
	// silent says that stream_options are refused. (The usage comes unasked then, or is estimated.)
	silent bool
	// limit is the name of the bound of the answer; max_tokens when empty.
	limit string
	// returns are the fields of its own messages that the provider wants back; everything else it refuses, or has no use for. A single *
	// stands for all: servers at home that are known to ignore what they don't know.
	returns []string
	// thinks says that each message with tool calls has to have its reasoning_content, those of other models too.
	thinks bool
	// signs says that each message's first tool call has to have Google's thought signature, those of other models too.
	signs bool
	// worded says that a message without a text is refused, also beside tool calls.
	worded bool
	// mistral says that it serves Mistral's models, see manners.
	mistral bool
}

const (
	limitOld = "max_tokens"
	limitNew = "max_completion_tokens"
	// custom is the provider of whom nothing is known.
	custom = "custom"
)

// providers is the list, in the order in which people are told it.
func providers() []provider {
	all := []string{"*"}
	return []provider{
		{name: "openai", aliases: []string{"chatgpt"}, baseURL: "https://api.openai.com/v1", limit: limitNew},
		{name: "azure", aliases: []string{"azureopenai", "azureai"}, example: "https://NAME.openai.azure.com/openai/v1", header: "Api-Key", limit: limitNew},
		{name: "anthropic", aliases: []string{"claude"}, baseURL: "https://api.anthropic.com/v1"},
		{name: "google", aliases: []string{"gemini", "googlegenai", "googleai", "googlegemini"},
			baseURL: "https://generativelanguage.googleapis.com/v1beta/openai", returns: []string{"extra_content"}, signs: true},
		{name: "deepseek", baseURL: "https://api.deepseek.com/v1", returns: []string{"reasoning_content"}, thinks: true},
		{name: "xai", aliases: []string{"grok"}, baseURL: "https://api.x.ai/v1"},
		{name: "groq", baseURL: "https://api.groq.com/openai/v1"},
		{name: "mistral", aliases: []string{"mistralai"}, baseURL: "https://api.mistral.ai/v1", silent: true, mistral: true},
		{name: "openrouter", baseURL: "https://openrouter.ai/api/v1", returns: []string{"reasoning_details"}},
		{name: "ollama", baseURL: "http://127.0.0.1:11434/v1", returns: all},
		{name: "vllm", baseURL: "http://127.0.0.1:8000/v1", returns: all},
		{name: "llama.cpp", aliases: []string{"llamacpp", "llamaserver", "llama"}, baseURL: "http://127.0.0.1:8080/v1", returns: all, worded: true},
		{name: "lmstudio", baseURL: "http://127.0.0.1:1234/v1", returns: all},
		{name: custom, aliases: []string{"other", "openaicompatible", "openailike"}, example: "https://HOST/v1", returns: all},
	}
}

// Providers lists the names that Options.Provider may have, without the aliases.
func Providers() []string {
	var names []string
	for _, p := range providers() {
		names = append(names, p.name)
	}
	return names
}

// ProviderURL is the base URL of a provider whom everybody reaches at the same one, empty for others and for unknown names.
func ProviderURL(name string) string {
	p, err := findProvider(name)
	if err != nil {
		return ""
	}
	return p.baseURL
}

// ProviderName gives the name that is meant by one that people write: in any case, with - or _ or blanks, or an alias such as gemini or
// azure_openai. Empty means custom. It fails with CodeInvalid, and tells the names that there are.
func ProviderName(s string) (string, error) {
	p, err := findProvider(s)
	return p.name, err
}

func findProvider(s string) (provider, error) {
	plain := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
	if plain == "" {
		plain = custom
	}
	for _, p := range providers() {
		if p.name == plain || slices.Contains(p.aliases, plain) {
			return p, nil
		}
	}
	return provider{}, schema.Errorf(schema.CodeInvalid, "There is no model provider %q.", secret("").quote(s)).
		WithHint("The providers are %s. Any other server with OpenAI's chat API is %s.", strings.Join(Providers(), ", "), custom)
}

// The families of models whose makers are strict wherever they are served.
var (
	mistralModels  = regexp.MustCompile(`(?i)(mi|mini|dev|code|magi|lean)stral|(mi|pi|vo)xtral`)
	thinkingModels = regexp.MustCompile(`(?i)deepseek|kimi`)
)

// of adds to a provider's habits those of the model.
func (p provider) of(model string) provider {
	p.mistral = p.mistral || mistralModels.MatchString(model)
	p.thinks = p.thinks || p.name == custom && thinkingModels.MatchString(model)
	if p.limit == "" {
		p.limit = limitOld // the name that most servers know
		//lint:ignore SA1019 whether the model still takes the deprecated name is the question
		if refuses(openai.ChatCompletionRequest{Model: model, MaxTokens: 1}, openai.ErrReasoningModelMaxTokensDeprecated) {
			p.limit = limitNew
		}
	}
	return p
}

// path is where on its host the provider has the API, "" when that isn't known.
func (p provider) path() string {
	u, err := url.Parse(cmp.Or(p.baseURL, p.example))
	if err != nil || p.name == custom {
		return ""
	}
	return u.Path
}

// fixedTemperature asks go-openai, which knows OpenAI's models that take no temperature.
func (p provider) fixedTemperature(model string, t float32) bool {
	return p.limit == limitNew && refuses(openai.ChatCompletionRequest{Model: model, Temperature: t},
		openai.ErrReasoningModelLimitationsOther, openai.ErrReasoningSamplingUnsupported)
}

func refuses(r openai.ChatCompletionRequest, reasons ...error) bool {
	err := openai.NewReasoningValidator().Validate(r)
	return slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) })
}

// wantsBack tells whether a field of one of its own messages goes back to the provider.
func (p provider) wantsBack(field string) bool {
	return slices.Contains(p.returns, field) || slices.Contains(p.returns, "*")
}
