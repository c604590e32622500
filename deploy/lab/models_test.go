//go:build lab

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

// as sends a request through our server, as the GNS3 web page does, and reads the answer.
func (l *lab) as(ctx context.Context, token, method, path string, body, out any) (status int, err error) {
	var text bytes.Buffer
	if body != nil {
		text.Write(schema.Text(body))
	}
	req, err := http.NewRequestWithContext(ctx, method, l.stack.URL()+path, &text)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || out == nil {
		return resp.StatusCode, err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return resp.StatusCode, fmt.Errorf("%s: %w", answer, err)
	}
	return resp.StatusCode, nil
}

// must is as for a request that has to succeed.
func (l *lab) must(t *testing.T, token, method, path string, body, out any) {
	t.Helper()
	if status, err := l.as(context.WithoutCancel(t.Context()), token, method, path, body, out); err != nil || status >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %d %v", method, path, status, err)
	}
}

// TestModelsOfARealGroup: a member of a GNS3 group has the group's model configurations, may not change them, and has own ones without any
// privilege. GNS3 tells who is in which group only to the server's account.
func TestModelsOfARealGroup(t *testing.T) {
	l := open(t)
	admin, name := l.api.Token(), "copilot-"+uuid.NewString()[:8]
	const password = "Copilot-lab-1"
	var user schema.User
	l.must(t, admin, http.MethodPost, "/v3/access/users", map[string]any{"username": name, "password": password}, &user)
	defer l.must(t, admin, http.MethodDelete, "/v3/access/users/"+user.ID, nil, nil)
	var group struct {
		ID string `json:"user_group_id"`
	}
	l.must(t, admin, http.MethodPost, "/v3/access/groups", map[string]any{"name": name}, &group)
	defer l.must(t, admin, http.MethodDelete, "/v3/access/groups/"+group.ID, nil, nil)
	l.must(t, admin, http.MethodPut, "/v3/access/groups/"+group.ID+"/members/"+user.ID, nil, nil)

	config := map[string]any{"name": "the group's", "model_type": "text", "provider": "custom", "base_url": l.model.BaseURL(), "model": "scripted",
		"context_limit": 128, "is_default": true, "api_key": "sk-group"}
	groups, users := "/v3/access/groups/"+group.ID+"/llm-model-configs", "/v3/access/users/"+user.ID+"/llm-model-configs"
	var shared schema.ModelConfig
	l.must(t, admin, http.MethodPost, groups, config, &shared)
	defer l.must(t, admin, http.MethodDelete, groups+"/"+shared.ConfigID, nil, nil)

	member := client.New(l.stack.URL(), nil)
	if err := member.Login(t.Context(), name, password); err != nil {
		t.Fatal(err)
	}
	var list schema.InheritedModelConfigList
	l.must(t, member.Token(), http.MethodGet, users, nil, &list)
	if list.Total != 1 || list.DefaultConfig == nil || list.DefaultConfig.ConfigID != shared.ConfigID || list.Configs[0].Source != schema.ModelOfGroup || !list.Configs[0].HasAPIKey {
		t.Errorf("inherited: %+v", list)
	}
	for _, path := range []string{groups + "/" + shared.ConfigID, "/v3/access/users/" + uuid.NewString() + "/llm-model-configs/" + shared.ConfigID} {
		if status, err := l.as(t.Context(), member.Token(), http.MethodPut, path, map[string]any{"name": "mine"}, nil); err != nil || status != http.StatusForbidden {
			t.Errorf("PUT %s: %d %v", path, status, err)
		}
	}
	config["name"], config["is_default"] = "my own", false
	var own schema.ModelConfig
	l.must(t, member.Token(), http.MethodPost, users, config, &own)
	l.must(t, member.Token(), http.MethodGet, users, nil, &list)
	if list.Total != 2 || list.DefaultConfig.ConfigID != shared.ConfigID || list.Configs[0].ConfigID != own.ConfigID {
		t.Errorf("with an own one: %+v", list)
	}
	l.must(t, member.Token(), http.MethodDelete, users+"/"+own.ConfigID, nil, nil)
}
