package dev_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"gns3copilot/deploy/dev"
	"gns3copilot/schema"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"
)

// TestAWorkerCanOpenAModelKey reads a configuration as a worker does: the key that was given is the one that comes out.
func TestAWorkerCanOpenAModelKey(t *testing.T) {
	data := t.TempDir()
	s := startOwn(t, func(o *dev.Options) { o.Data = data })
	u := loginAt(t, s.URL(), "admin")
	models := modelsOf(u.idAt(s.Stack))
	var made shownModel
	u.jsonAt(s.Stack, http.MethodPost, models, modelBody("mine", `"api_key": " sk-first-key "`, `"failover": "server"`, `"other": 1`), &made)

	key, err := vault.KeyFile(filepath.Join(data, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(t.Context(), s.js, key)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := store.Open(store.Options{URL: filepath.Join(data, "copilot.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	check := func(want string) {
		t.Helper()
		c, err := rows.ModelConfig(t.Context(), made.ConfigID)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := v.OpenModelKey(c.ID, c.SealedKey); err != nil || got != want {
			t.Errorf("got %q, want %q: %v", got, want, err)
		}
		if c.Name == "" || c.Provider != "custom" || c.BaseURL != suite.model.BaseURL() || c.Model != "scripted" || c.Temperature != 0.7 || c.ContextLimit != 128 ||
			c.ContextStrategy != schema.ContextBalanced || c.Extra != `{"failover":["server"],"other":1}` {
			t.Errorf("%+v", c)
		}
	}
	check("sk-first-key")
	u.jsonAt(s.Stack, http.MethodPut, models+"/"+made.ConfigID, `{"name": "renamed"}`, &made)
	check("sk-first-key")
	u.jsonAt(s.Stack, http.MethodPut, models+"/"+made.ConfigID, `{"api_key": "sk-second-key"}`, &made)
	check("sk-second-key")
	u.jsonAt(s.Stack, http.MethodPut, models+"/"+made.ConfigID, `{"api_key": ""}`, &made)
	check("")
	files, err := filepath.Glob(filepath.Join(data, "copilot.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte("first-key")) || bytes.Contains(content, []byte("second-key")) {
			t.Errorf("a key stands in %s", name)
		}
	}
}
