//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"
)

// lab is the real GNS3 server's project with the nodes PC1, PC2 and the routers, as its administrator reaches it through us.
type lab struct {
	url     string
	api     *client.Client
	user    string // the administrator's id
	name    string // the project's
	project string
	routers []string
	nodes   map[string]node
}

type node struct {
	Name   string `json:"name"`
	ID     string `json:"node_id"`
	Status string `json:"status"`
}

// findLab takes the opened project that has all the nodes, and has it stay open while no page looks at it: GNS3 closes a project soon after the
// last page has left, and stops its nodes.
func findLab(ctx context.Context, url string) (*lab, error) {
	l := &lab{url: url, api: client.New(url, nil)}
	for item := range strings.SplitSeq(os.Getenv("COPILOT_TEST_ROUTERS"), ",") {
		name, _, ok := strings.Cut(item, "=")
		if !ok {
			return nil, fmt.Errorf("COPILOT_TEST_ROUTERS: %q is not NAME=HOST:PORT", item)
		}
		l.routers = append(l.routers, name)
	}
	if err := l.api.Login(ctx, os.Getenv("COPILOT_TEST_GNS3_USER"), os.Getenv("COPILOT_TEST_GNS3_PASSWORD")); err != nil {
		return nil, err
	}
	var me schema.User
	if err := l.call(ctx, http.MethodGet, "/v3/access/users/me", nil, &me); err != nil {
		return nil, err
	}
	l.user = me.ID
	projects, err := l.api.Projects(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		if p.Opened() {
			if err := l.look(ctx, p.ID); err != nil {
				return nil, err
			}
			if l.nodes["PC1"].ID != "" && l.nodes["PC2"].ID != "" && l.nodes[l.routers[0]].ID != "" {
				l.project, l.name = p.ID, p.Name
				return l, l.call(ctx, http.MethodPut, "/v3/projects/"+p.ID, map[string]any{"auto_close": false}, nil)
			}
		}
	}
	return nil, fmt.Errorf("no opened project has PC1, PC2 and %v", l.routers)
}

// look reads a project's nodes.
func (l *lab) look(ctx context.Context, project string) error {
	var nodes []node
	if err := l.call(ctx, http.MethodGet, "/v3/projects/"+project+"/nodes", nil, &nodes); err != nil {
		return err
	}
	l.nodes = map[string]node{}
	for _, n := range nodes {
		l.nodes[n.Name] = n
	}
	return nil
}

// call sends a request as the administrator, and reads the answer into out unless that is nil.
func (l *lab) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		body = bytes.NewReader(schema.Text(in))
	}
	req, err := http.NewRequestWithContext(ctx, method, l.url+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+l.api.Token())
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("%s %s: %s %s", method, path, resp.Status, text)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// must is call for what a test can't do without.
func (l *lab) must(t *testing.T, method, path string, in, out any) {
	t.Helper()
	if err := l.call(context.WithoutCancel(t.Context()), method, path, in, out); err != nil {
		t.Fatal(err)
	}
}

func (l *lab) models() string { return "/v3/access/users/" + l.user + "/llm-model-configs" }

// withModel gives the administrator this model configuration alone, changed by the pairs of field and value, until the test has ended.
func (l *lab) withModel(t *testing.T, name string, changes ...any) schema.ModelConfig {
	t.Helper()
	l.withoutModels(t)
	config := map[string]any{"name": name, "model_type": "text", "provider": "openai", "base_url": site.model.BaseURL(), "model": "scripted", "api_key": modelKey,
		"temperature": 0.7, "context_limit": 128, "context_strategy": "balanced", "copilot_mode": "lab_automation_assistant", "is_default": true}
	for i := 0; i+1 < len(changes); i += 2 {
		config[changes[i].(string)] = changes[i+1]
	}
	var made schema.ModelConfig
	l.must(t, http.MethodPost, l.models(), config, &made)
	t.Cleanup(func() { l.withoutModels(t) })
	return made
}

// withoutModels removes all the administrator's model configurations.
func (l *lab) withoutModels(t *testing.T) {
	t.Helper()
	var own []schema.ModelConfig
	l.must(t, http.MethodGet, l.models()+"/own", nil, &own)
	for _, c := range own {
		l.must(t, http.MethodDelete, l.models()+"/"+c.ConfigID, nil, nil)
	}
}
