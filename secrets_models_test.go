package main

import (
	"encoding/json"
	"net/http"
	"strings"

	"gns3copilot/deploy/simlab"
	"gns3copilot/schema"
)

// configure gives the student and the student's group models with keys, and has requests with keys refused.
func (s *secretRun) configure() {
	s.t.Helper()
	var me schema.User
	var groups []schema.Group
	s.json(s.secrets["student's token"], "/v3/access/users/me", &me)
	s.json(s.api.Token(), "/v3/access/groups", &groups)
	models := map[string]string{"user": "/v3/access/users/" + me.ID + "/llm-model-configs"}
	for _, g := range groups {
		if g.Name == simlab.StudentsGroup {
			models["group"] = "/v3/access/groups/" + g.ID + "/llm-model-configs"
		}
	}
	for owner, path := range models {
		key := `"api_key": "` + s.secrets[owner+"'s model key"] + `"`
		body := `{"name": "` + s.marker() + `", "model_type": "text", "provider": "custom", "base_url": "` + s.door.URL + `/v1", "model": "m", "context_limit": 8, ` + key + `}`
		status, text := s.send(s.api.Token(), http.MethodPost, path, body)
		var made schema.ModelConfig
		if err := json.Unmarshal([]byte(text), &made); err != nil || status != http.StatusCreated || !made.HasAPIKey {
			s.t.Fatalf("%v %d %s", err, status, text)
		}
		for body, want := range map[string]int{
			`{` + key + `, "expected_version": 0}`:                             http.StatusOK,
			`{` + key + `, "expected_version": 7}`:                             http.StatusConflict,
			`{` + key + `, "temperature": 9}`:                                  http.StatusUnprocessableEntity,
			`{` + strings.Replace(key, `": "`, `": "\n`, 1) + `, "model": ""}`: http.StatusUnprocessableEntity,
			`{` + key: http.StatusBadRequest,
		} {
			if status, text := s.send(s.api.Token(), http.MethodPut, path+"/"+made.ConfigID, body); status != want {
				s.t.Errorf("want %d, got %d %s", want, status, text)
			}
		}
		if status, text := s.send(s.api.Token(), http.MethodGet, path, ""); status != http.StatusOK || !strings.Contains(text, s.marker()) {
			s.t.Errorf("%s: %d %s", path, status, text)
		}
	}
	// The student's list needs the server's own account.
	if status, text := s.send(s.secrets["student's token"], http.MethodGet, models["user"], ""); status != http.StatusOK || !strings.Contains(text, simlab.StudentsGroup) {
		s.t.Errorf("the student's models: %d %s", status, text)
	}
}

func (s *secretRun) json(token, path string, into any) {
	s.t.Helper()
	status, text := s.send(token, http.MethodGet, path, "")
	if err := json.Unmarshal([]byte(text), into); err != nil || status != http.StatusOK {
		s.t.Fatalf("%s: %v %d %s", path, err, status, text)
	}
}
