package apiserver

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

const defaultTemperature = 0.7

// maxAnswerTokens is more than any model writes.
const maxAnswerTokens = 10_000_000

// maxFailover bounds the list of the configurations that a turn goes on with.
const maxFailover = 5

// modelEdit is what a request makes of a configuration. Once it is checked it can be applied.
type modelEdit struct {
	fields schema.ModelConfigUpdate
	id     string
	fresh  bool // the configuration is new

	base      *url.URL
	maxTokens *int
	key       *string // to be sealed
	sealed    []byte
	faults    []string
}

// checkModel checks all that a request says, and seals its key. It fails with CodeInvalid, naming each fault.
func (s *Server) checkModel(ctx context.Context, r request, owner store.ModelOwner, e *modelEdit) (err error) {
	e.fillBaseURL(s.providerURL)
	e.checkFields()
	e.checkHost(s.limits.ModelHosts)
	e.checkExtra()
	if err := s.checkFailover(ctx, r, owner, e); err != nil {
		return err
	}
	if len(e.faults) > 0 {
		return schema.Errorf(schema.CodeInvalid, "%s", validationErrors(e.faults)).WithHint(describedAt)
	}
	if e.key != nil && *e.key != "" {
		e.sealed, err = s.vault.SealModelKey(e.id, *e.key)
	}
	return err
}

func (e *modelEdit) fault(text string) { e.faults = append(e.faults, text) }

// fillBaseURL gives a base URL that was left empty, as GNS3's web page does for ollama, the value that is known of the provider beside it.
func (e *modelEdit) fillBaseURL(of func(provider string) string) {
	f := &e.fields
	if f.BaseURL == nil || *f.BaseURL != "" || f.Provider == nil {
		return
	}
	if known := of(*f.Provider); known != "" {
		f.BaseURL = &known
	}
}

func (e *modelEdit) checkFields() {
	f := &e.fields
	for _, field := range []struct {
		name  string
		value *string
	}{{"name", f.Name}, {"provider", f.Provider}, {"model", f.Model}} {
		if field.value != nil && (!visible(*field.value) || strings.ContainsFunc(*field.value, breaksLine)) {
			e.fault(field.name + ": must be one line with something to read in it")
		}
	}
	if f.BaseURL != nil {
		if e.base = parseBaseURL(*f.BaseURL); e.base == nil {
			e.fault("base_url: must be an http or https address of a host, without user, ? and #")
		}
	}
	if f.APIKey != nil {
		key := strings.TrimSpace(*f.APIKey)
		if strings.ContainsFunc(key, unicode.IsControl) {
			e.fault("api_key: must not hold line breaks or other control characters")
		}
		e.key = &key
	}
	if f.CopilotMode != nil && *f.CopilotMode != "" && !f.CopilotMode.Valid() {
		e.fault("copilot_mode: must be one of teaching_assistant, lab_automation_assistant, troubleshooting_injection")
	}
	var ok bool
	if e.maxTokens, ok = tokenBound(f.MaxTokens); !ok {
		e.fault("max_tokens: must be an integer above 0")
	}
}

// checkHost looks where calls would go. To where a name leads is looked at again, on each connection.
func (e *modelEdit) checkHost(hosts schema.ModelHosts) {
	if e.base == nil {
		return
	}
	if err := hosts.CheckURL(e.base); err != nil {
		e.fault("base_url: " + schema.AsError(err).Message)
	}
}

// parseBaseURL is nil for what can't be the address of an API. A key has no place in it: the address is shown to whoever may see the
// configuration.
func parseBaseURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery ||
		u.Fragment != "" || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return nil
	}
	return u
}

// origin is where a request to the address goes.
func origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(schema.HostPort(u)) }

// tokenBound reads max_tokens: nil when nothing is said, 0 for no bound, which GNS3's clients say as "" and "null".
func tokenBound(value any) (bound *int, ok bool) {
	n := 0
	switch v := value.(type) {
	case nil:
		return nil, true
	case float64:
		if n = int(v); float64(n) != v || n < 1 {
			return nil, false
		}
	case string:
		if v == "" || v == "null" {
			return &n, true
		}
		var err error
		if n, err = strconv.Atoi(v); err != nil || n < 1 {
			return nil, false
		}
	default:
		return nil, false
	}
	return &n, n <= maxAnswerTokens
}

// checkFailover makes a list of ids of the field, which GNS3's web page sends as text with commas. Each must be one that the owner may use.
func (s *Server) checkFailover(ctx context.Context, r request, owner store.ModelOwner, e *modelEdit) error {
	value, is := e.fields.Extra[failoverField]
	if !is {
		return nil
	}
	ids, ok := failoverList(value)
	switch {
	case !ok:
		e.fault("failover: must be a list of ids")
		return nil
	case len(ids) > maxFailover:
		e.fault("failover: at most 5 ids")
		return nil
	}
	usable, err := s.ownersModels(ctx, r, owner)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if id == e.id || slices.Contains(ids[:i], id) || id != schema.ServerModels && !canAnswer(usable, id) {
			e.fault("failover: each id must be, once, that of another configuration that may be used and can answer messages, or server")
			break
		}
	}
	e.fields.Extra[failoverField] = ids
	return nil
}

// failoverList reads the field in either form.
func failoverList(value any) (ids []string, ok bool) {
	ids = []string{}
	switch v := value.(type) {
	case string:
		ids = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	case []any:
		for _, item := range v {
			id, is := item.(string)
			if !is {
				return nil, false
			}
			ids = append(ids, id)
		}
	default:
		return nil, false
	}
	for i := range ids {
		ids[i] = strings.ToLower(ids[i])
	}
	return ids, true
}

// apply makes of the configuration what the request says. It fails with CodeInvalid when there is too much in it.
func (e *modelEdit) apply(c *store.ModelConfig) error {
	f := e.fields
	if old := parseBaseURL(c.BaseURL); e.base != nil && (old == nil || origin(old) != origin(e.base)) {
		c.SealedKey = nil // given for another host
	}
	set(&c.Name, f.Name)
	set(&c.ModelType, f.ModelType)
	set(&c.IsDefault, f.IsDefault)
	set(&c.Provider, f.Provider)
	set(&c.BaseURL, f.BaseURL)
	set(&c.Model, f.Model)
	set(&c.Temperature, f.Temperature)
	set(&c.MaxTokens, e.maxTokens)
	set(&c.ContextLimit, f.ContextLimit)
	set(&c.ContextStrategy, f.ContextStrategy)
	set(&c.CopilotMode, f.CopilotMode)
	if e.key != nil {
		c.SealedKey = e.sealed
	}
	return e.applyExtra(c)
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}
