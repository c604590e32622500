package dev_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"gns3copilot/deploy/dev"
	"gns3copilot/schema"
)

// id is the user's.
func (u user) id() string {
	u.t.Helper()
	return u.idAt(suite.stack)
}

func (u user) idAt(stack *dev.Stack) string {
	u.t.Helper()
	var me schema.User
	u.jsonAt(stack, http.MethodGet, "/v3/access/users/me", "", &me)
	return me.ID
}

// models is where the user's configurations are.
func (u user) models() string { return modelsOf(u.id()) }

func modelsOf(userID string) string { return strings.Replace(usersModels, "{user_id}", userID, 1) }

// shownModel is a configuration in an answer, with all that is in its config.
type shownModel struct {
	schema.InheritedModelConfig
	Config map[string]any `json:"config"`
}

// jsonAt sends a request that must succeed.
func (u user) jsonAt(stack *dev.Stack, method, path, body string, into any) {
	u.t.Helper()
	a := u.askAt(stack, method, path, body, u.bearer()...)
	if err := json.Unmarshal([]byte(a.text), into); err != nil || a.status >= http.StatusMultipleChoices {
		u.t.Fatalf("%s %s: %v %d %s", method, path, err, a.status, a.text)
	}
}

// model makes a configuration at the suite's stack.
func (u user) model(path, body string) shownModel {
	u.t.Helper()
	return u.wantModel(http.StatusCreated, http.MethodPost, path, body)
}

// wantModel sends a request that is answered with a configuration.
func (u user) wantModel(status int, method, path, body string) (m shownModel) {
	u.t.Helper()
	a := u.ask(method, path, body, u.bearer()...)
	if err := json.Unmarshal([]byte(a.text), &m); err != nil || a.status != status || m.ConfigID == "" {
		u.t.Fatalf("%s %s: %v %d %s", method, path, err, a.status, a.text)
	}
	return m
}

// listModels lists what is there, and its default.
func (u user) listModels(stack *dev.Stack, path string) (list struct {
	Configs       []shownModel
	DefaultConfig *shownModel `json:"default_config"`
	Total         int
}) {
	u.t.Helper()
	a := u.askAt(stack, http.MethodGet, path, "", u.bearer()...)
	if err := json.Unmarshal([]byte(a.text), &list); err != nil || a.status != http.StatusOK || list.Total != len(list.Configs) {
		u.t.Fatalf("%v %d %s", err, a.status, a.text)
	}
	return list
}

// clearModels removes all configurations there, so that no other test's turns use them.
func (u user) clearModels(stack *dev.Stack, paths ...string) {
	u.t.Helper()
	for _, path := range paths {
		for _, c := range u.listModels(stack, path).Configs {
			if inherited := c.Source == schema.ModelOfGroup; inherited {
				continue
			}
			if a := u.askAt(stack, http.MethodDelete, path+"/"+c.ConfigID, "", u.bearer()...); a.status != http.StatusNoContent {
				u.t.Errorf("%d %s", a.status, a.text)
			}
		}
	}
}

func TestModelConfigsThatAreRefused(t *testing.T) {
	u := login(t, "admin")
	models := u.models()
	defer u.clearModels(suite.stack, models)
	speech := u.model(models, strings.Replace(modelBody("speech"), `"text"`, `"tts"`, 1))
	known := u.model(models, modelBody("known"))
	long := strings.Repeat("x", 101)
	var many []string
	for i := range 51 {
		many = append(many, fmt.Sprintf(`"extra%d": 1`, i))
	}
	base := suite.model.BaseURL()
	address := func(to string) string { return strings.Replace(modelBody("refused"), base, to, 1) }
	for name, c := range map[string]struct{ body, words string }{
		"a long name":         {modelBody(long), "name: expected length <= 100"},
		"a blank name":        {modelBody("  "), "name: must be one line"},
		"a name of two lines": {modelBody(`a\nb`), "name: must be one line"},
		"no name":             {strings.Replace(modelBody("x"), `"name": "x", `, "", 1), "expected required property name"},
		"null name":           {strings.Replace(modelBody("x"), `"x"`, "null", 1), "name: expected string"},
		"hot":                 {modelBody("x", `"temperature": 2.1`), "temperature: expected number <= 2"},
		"no context":          {strings.Replace(modelBody("x"), "128", "0", 1), "context_limit: expected number >= 1"},
		"a strategy":          {modelBody("x", `"context_strategy": "bold"`), "context_strategy: expected value"},
		"a mode":              {modelBody("x", `"copilot_mode": "root"`), "copilot_mode: must be one of"},
		"half a token":        {modelBody("x", `"max_tokens": 1.5`), "max_tokens: must be an integer"},
		"fewer tokens":        {modelBody("x", `"max_tokens": "-5"`), "max_tokens: must be an integer"},
		"tokens in words":     {modelBody("x", `"max_tokens": "many"`), "max_tokens: must be an integer"},
		"a list of tokens":    {modelBody("x", `"max_tokens": [1]`), "max_tokens: must be an integer"},
		"endless tokens":      {modelBody("x", `"max_tokens": 1e18`), "max_tokens: must be an integer"},
		"a key of two lines":  {modelBody("x", `"api_key": "a\nb"`), "api_key: must not hold"},
		"a numbered key":      {modelBody("x", `"api_key": 7`), "api_key: expected string"},

		"no address":               {address(""), "base_url: must be"},
		"no address that is known": {strings.Replace(address(""), `"custom"`, `"azure"`, 1), "base_url: must be"},
		"another scheme":           {address("file:///etc/passwd"), "base_url: must be"},
		"no scheme":                {address("models.example/v1"), "base_url: must be"},
		"no host":                  {address("http:///v1"), "base_url: must be"},
		"a port alone":             {address("http://:80/v1"), "base_url: must be"},
		"a user in the address":    {address("http://me:secret@models.example/v1"), "base_url: must be"},
		"a query in the address":   {address("http://models.example/v1?key=secret"), "base_url: must be"},
		"a bare question mark":     {address("http://models.example/v1?"), "base_url: must be"},
		"a fragment":               {address("http://models.example/v1#x"), "base_url: must be"},
		"a blank in the address":   {address(" http://models.example/v1"), "base_url: must be"},
		"a metadata service":       {address("http://169.254.169.254/v1"), "base_url: Model calls to 169.254.169.254:80 are not allowed"},
		"somebody's network":       {address("https://10.1.2.3/v1"), "base_url: Model calls to 10.1.2.3:443 are not allowed"},
		"an address as a number":   {address("http://2852039166/v1"), "base_url: The host 2852039166:80 is neither"},
		"other letters":            {address("https://ap\u0130.example/v1"), "neither a plain name nor"},
		"a header in the address":  {address(`http://models.example/v1\r\nX: y`), "base_url: must be"},

		"many other fields":   {modelBody("x", many...), "too many other fields"},
		"much in them":        {modelBody("x", `"extra": "`+strings.Repeat("x", 17<<10)+`"`), "too much is in them"},
		"a long field name":   {modelBody("x", `"`+long+`": 1`), "the name of a field"},
		"an answer's config":  {modelBody("x", `"config": {"api_key": "sk-secret"}`), "config: what answers have in it"},
		"values very deep":    {modelBody("x", `"extra": `+strings.Repeat("[", 34)+strings.Repeat("]", 34)), "lie deeper"},
		"half a price":        {modelBody("x", `"input_price": 1`), "input_price and output_price are needed together"},
		"a price in words":    {modelBody("x", `"input_price": "much", "output_price": 1`), "input_price: must be a number"},
		"a price below 0":     {modelBody("x", `"input_price": 1, "output_price": -1`), "output_price: must be a number"},
		"a price of nothing":  {modelBody("x", `"Input_Price": true, "output_price": 1`), "input_price: must be a number"},
		"a high price":        {modelBody("x", `"input_price": "10001", "output_price": 1`), "input_price: must be a number"},
		"a title model list":  {modelBody("x", `"title_model": ["small"]`), "title_model: must be one line"},
		"a blank title model": {modelBody("x", `"title_model": "  "`), "title_model: must be one line"},
		"failover by number":  {modelBody("x", `"failover": 7`), "failover: must be a list"},
		"failover to speech":  {modelBody("x", `"failover": ["`+speech.ConfigID+`"]`), "failover: each id must be"},
		"failover to none":    {modelBody("x", `"failover": ["`+nowhere+`"]`), "failover: each id must be"},
		"failover twice":      {modelBody("x", `"failover": "server, server"`), "failover: each id must be"},
		"failover to words":   {modelBody("x", `"failover": [{"id": 1}]`), "failover: must be a list"},
		"failover to many":    {modelBody("x", `"failover": "1,2,3,4,5,6"`), "failover: at most 5"},
	} {
		a := u.ask(http.MethodPost, models, c.body, u.bearer()...)
		checkRefused(t, name, a, http.StatusUnprocessableEntity, schema.CodeInvalid)
		if !strings.Contains(a.Message, c.words) || strings.Contains(a.text, "secret") {
			t.Errorf("%s: %s", name, a.text)
		}
	}
	own := models + "/" + known.ConfigID
	for name, c := range map[string]struct{ body, words string }{
		"failover to itself": {`{"failover": ["` + known.ConfigID + `"]}`, "failover: each id must be"},
		"a mode":             {`{"copilot_mode": "root"}`, "copilot_mode: must be one of"},
		"a version":          {`{"expected_version": "0"}`, "expected_version: expected integer"},
		"an address":         {`{"base_url": ""}`, "base_url: must be"},
		"a host":             {`{"base_url": "http://[fe80::1]/v1"}`, "base_url: Model calls to"},
		"no name":            {`{"name": ""}`, "name: expected length >= 1"},
		"half a price":       {`{"output_price": 1}`, "are needed together"},
	} {
		a := u.ask(http.MethodPut, own, c.body, u.bearer()...)
		checkRefused(t, "change "+name, a, http.StatusUnprocessableEntity, schema.CodeInvalid)
		if !strings.Contains(a.Message, c.words) {
			t.Errorf("change %s: %s", name, a.text)
		}
	}
	if list := u.listModels(suite.stack, models); list.Total != 2 || list.Configs[1].Version != 0 {
		t.Errorf("after refused requests: %+v", list)
	}
}

// TestModelConfigsAreChangedInPart sends what GNS3's web page sends, and what its users mean by it.
func TestModelConfigsAreChangedInPart(t *testing.T) {
	u := login(t, "student")
	models := u.models()
	defer u.clearModels(suite.stack, models)
	other := u.model(models, modelBody("other"))
	made := u.model(models, modelBody("made", `"api_key": " sk-mine ", "max_tokens": "100", "copilot_mode": "teaching_assistant", "extra": {"b": 1.50, "a": null}, "is_default": true`))
	if !made.HasAPIKey || !made.IsDefault || made.Config["max_tokens"] != 100.0 || made.Config["api_key"] != nil {
		t.Errorf("made: %+v", made)
	}
	path, version := models+"/"+made.ConfigID, 0
	for _, c := range []struct {
		name, body string
		want       func(shownModel) bool
	}{
		{"nothing", `{}`, func(m shownModel) bool { return m.Name == "made" && m.HasAPIKey && m.Config["max_tokens"] == 100.0 }},
		{"all null", `{"name": null, "model_type": null, "is_default": null, "provider": null, "base_url": null, "model": null, "temperature": null, "api_key": null,
			"max_tokens": null, "context_limit": null, "context_strategy": null, "copilot_mode": null, "expected_version": null, "extra": null}`, func(m shownModel) bool {
			return m.Name == "made" && m.IsDefault && m.HasAPIKey && m.Config["max_tokens"] == 100.0 && m.Config["copilot_mode"] == "teaching_assistant" && m.Config["extra"] != nil
		}},
		{"the mode", `{"copilot_mode": "lab_automation_assistant"}`, func(m shownModel) bool { return m.Config["copilot_mode"] == "lab_automation_assistant" }},
		{"no mode", `{"copilot_mode": ""}`, func(m shownModel) bool { return m.Config["copilot_mode"] == nil }},
		{"no bound", `{"max_tokens": "null"}`, func(m shownModel) bool { return m.Config["max_tokens"] == nil }},
		{"a bound", `{"max_tokens": 7}`, func(m shownModel) bool { return m.Config["max_tokens"] == 7.0 }},
		{"no bound in another way", `{"max_tokens": ""}`, func(m shownModel) bool { return m.Config["max_tokens"] == nil }},
		{"prices as text", `{"input_price": " 0.5 ", "OUTPUT_PRICE": 2}`, func(m shownModel) bool { return m.Config["input_price"] == 0.5 && m.Config["output_price"] == 2.0 }},
		{"another price", `{"input_price": 0}`, func(m shownModel) bool { return m.Config["input_price"] == 0.0 && m.Config["output_price"] == 2.0 }},
		{"no prices", `{"input_price": "", "output_price": ""}`, func(m shownModel) bool { return m.Config["input_price"] == nil && m.Config["output_price"] == nil }},
		{"a title model", `{"title_model": "small"}`, func(m shownModel) bool { return m.Config["title_model"] == "small" }},
		{"no title model", `{"title_model": ""}`, func(m shownModel) bool { return m.Config["title_model"] == nil }},
		{"a cold one", `{"temperature": 0}`, func(m shownModel) bool { return m.Config["temperature"] == 0.0 }},
		{"another path there", `{"base_url": "` + suite.model.BaseURL() + `/v2"}`, func(m shownModel) bool { return m.HasAPIKey }},
		{"a failover as the page sends lists", `{"failover": "SERVER,` + strings.ToUpper(other.ConfigID) + `"}`, func(m shownModel) bool {
			return fmt.Sprint(m.Config["failover"]) == "[server "+other.ConfigID+"]"
		}},
		{"no failover", `{"failover": []}`, func(m shownModel) bool { return fmt.Sprint(m.Config["failover"]) == "[]" }},
		{"an extra field", `{"extra": "text"}`, func(m shownModel) bool { return m.Config["extra"] == "text" }},
		{"another host", `{"base_url": "http://other.example/v1"}`, func(m shownModel) bool { return !m.HasAPIKey }},
		{"a key", `{"api_key": "sk-other"}`, func(m shownModel) bool { return m.HasAPIKey }},
		{"the same host in other letters, and its port", `{"base_url": "http://OTHER.example:80/v1"}`, func(m shownModel) bool { return m.HasAPIKey }},
		{"another scheme", `{"base_url": "https://other.example/v1"}`, func(m shownModel) bool { return !m.HasAPIKey }},
		{"another port, with a key", `{"base_url": "https://other.example:8443/v1", "api_key": "sk-third"}`, func(m shownModel) bool { return m.HasAPIKey }},
		{"a provider at home, as the page leaves its address empty", `{"provider": "Ollama", "base_url": ""}`, func(m shownModel) bool {
			return m.Config["base_url"] == "http://127.0.0.1:11434/v1" && !m.HasAPIKey
		}},
		{"a provider elsewhere without an address, with a key", `{"provider": "deepseek", "base_url": "", "api_key": "sk-fourth"}`, func(m shownModel) bool {
			return m.Config["base_url"] == "https://api.deepseek.com/v1" && m.HasAPIKey
		}},
		{"no key", `{"api_key": ""}`, func(m shownModel) bool { return !m.HasAPIKey }},
		{"not the default", `{"is_default": false}`, func(m shownModel) bool { return !m.IsDefault }},
	} {
		m := u.wantModel(http.StatusOK, http.MethodPut, path, c.body)
		version++
		if m.Version != version || !c.want(m) {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
	a := u.ask(http.MethodGet, models+"/default", "", u.bearer()...)
	checkRefused(t, "without a default", a, http.StatusNotFound, schema.CodeNotFound)
	if a.Message != "No default LLM model configuration found for user '"+u.id()+"'" {
		t.Error(a.text)
	}
}

func TestOneOfTwoChangesOfAModelConfigWins(t *testing.T) {
	u := login(t, "student")
	models := u.models()
	defer u.clearModels(suite.stack, models)
	path := models + "/" + u.model(models, modelBody("contested")).ConfigID
	for version := range 5 {
		answers := make([]answer, 2)
		var both sync.WaitGroup
		for i := range answers {
			both.Go(func() {
				answers[i] = u.ask(http.MethodPut, path, fmt.Sprintf(`{"name": "writer %d", "expected_version": %d}`, i, version), u.bearer()...)
			})
		}
		both.Wait()
		slices.SortFunc(answers, func(a, b answer) int { return a.status - b.status })
		if answers[0].status != http.StatusOK {
			t.Errorf("neither wins: %s", answers[0].text)
		}
		checkRefused(t, "the other", answers[1], http.StatusConflict, schema.CodeConflict)
		want := fmt.Sprintf("Concurrent modification detected. Expected version %d, but current version is %d. Please retry.", version, version+1)
		if answers[1].Message != want {
			t.Errorf("%s", answers[1].text)
		}
	}
}

// TestModelConfigsOfGroups are used by their members alone, and one's own go before them.
func TestModelConfigsOfGroups(t *testing.T) {
	admin, student := login(t, "admin"), login(t, "student")
	group, models := admin.studentModels(), student.models()
	defer admin.clearModels(suite.stack, group, admin.models())
	defer student.clearModels(suite.stack, models)
	seen := func(u user, path string) string {
		t.Helper()
		list, text := u.listModels(suite.stack, path), ""
		for _, c := range list.Configs {
			text += c.Name
			if c.GroupName != nil {
				text += " of " + *c.GroupName
			}
			text += ", "
		}
		if list.DefaultConfig != nil {
			text += "default " + list.DefaultConfig.Name
		}
		return text
	}
	check := func(want string) {
		t.Helper()
		if got := seen(student, models); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	check("")
	admin.model(group, modelBody("g1"))
	check("g1 of Students, default g1")
	g2 := admin.model(group, modelBody("g2", `"is_default": true`))
	check("g1 of Students, g2 of Students, default g2")
	own := student.model(models, modelBody("u1"))
	check("u1, g1 of Students, g2 of Students, default g2")
	student.model(models, modelBody("u2", `"failover": ["`+g2.ConfigID+`"]`))
	student.wantModel(http.StatusOK, http.MethodPut, models+"/default/"+own.ConfigID, "")
	check("u1, u2, g1 of Students, g2 of Students, default u1")
	if got := seen(admin, models); got != "u1, u2, g1 of Students, g2 of Students, default u1" {
		t.Errorf("an administrator sees %s", got)
	}
	if got := seen(admin, admin.models()); got != "" {
		t.Errorf("who isn't in the group has %s", got)
	}
	if got := seen(admin, group); got != "g1, g2, default g2" {
		t.Errorf("the group has %s", got)
	}
	if a := admin.ask(http.MethodPost, group, modelBody("g3", `"failover": ["`+own.ConfigID+`"]`), admin.bearer()...); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a group's goes on with a user's own: %d %s", a.status, a.text)
	}
	// An administrator's change for a user is one of what the user may use.
	admin.wantModel(http.StatusCreated, http.MethodPost, models, modelBody("u3", `"failover": ["`+own.ConfigID+`"]`))
}
