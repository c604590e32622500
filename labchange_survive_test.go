package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// held is a way to the lab on which the answers to requests that make nodes are held back from the second on.
type held struct {
	asked   atomic.Int32
	arrived chan struct{} // closed when the lab has answered the second
	release chan struct{}
}

func (h *held) start(t *testing.T) func(lab string) string {
	return func(lab string) string {
		to, err := url.Parse(lab)
		if err != nil {
			t.Fatal(err)
		}
		proxy := httputil.NewSingleHostReverseProxy(to)
		proxy.FlushInterval = -1
		proxy.ModifyResponse = func(r *http.Response) error {
			makes := r.Request.Method == http.MethodPost && strings.Contains(r.Request.URL.Path, "/templates/")
			if !makes || h.asked.Add(1) != 2 {
				return nil
			}
			close(h.arrived)
			select {
			case <-h.release:
			case <-r.Request.Context().Done():
			}
			return nil
		}
		server := httptest.NewServer(proxy)
		t.Cleanup(server.Close)
		return server.URL
	}
}

// TestLabChangeWorkerKilled kills the worker when the lab has made the second of three nodes and nobody knows yet: the first is told, the
// second is unknown, the third never begun, and nothing is made again.
func TestLabChangeWorkerKilled(t *testing.T) {
	t.Parallel()
	h := &held{arrived: make(chan struct{}), release: make(chan struct{})}
	s := startSiteBehind(t, h.start(t))
	var p schema.Project
	s.rest(http.MethodPost, "/v3/projects", `{"name": "killed"}`, &p)
	s.project = p.ID
	s.model.On("make three", func(r *scriptmodel.Reply) {
		r.Call("create_gns3_node", `{"nodes": [{"template_id": "VPCS", "name": "A"}, {"template_id": "VPCS", "name": "B"}, {"template_id": "VPCS", "name": "C"}]}`)
	}, func(r *scriptmodel.Reply) { r.Say("made") })
	stream, err := s.client.Post(t.Context(), s.project, schema.ChatRequest{Message: "make three", SessionID: "three"}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	<-h.arrived
	s.first.Kill()
	close(h.release)
	s.newWorker()
	var result schema.ToolResponse
	for result.Total == 0 {
		ev, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == schema.EventToolEnd {
			if err := json.Unmarshal([]byte(ev.ToolOutput), &result); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d := result.Data; len(d) != 3 || d[0].Status != schema.ItemSuccess || d[1].Outcome != schema.OutcomeUnknown || d[2].Outcome != "nothing" {
		t.Errorf("%+v", result)
	}
	for ev, err := stream.Next(); ev.Type != schema.EventDone; ev, err = stream.Next() {
		if err != nil {
			t.Fatal(err)
		}
	}
	var nodes []struct{ Name string }
	s.rest(http.MethodGet, "/v3/projects/"+s.project+"/nodes", "", &nodes)
	if h.asked.Load() != 2 || len(nodes) != 2 {
		t.Errorf("asked for %d nodes, there are %+v", h.asked.Load(), nodes)
	}
}

// rest asks the GNS3 server through the gateway.
func (s *site) rest(method, path, body string, into any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.api+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.client.Token())
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		s.t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		s.t.Fatal(err)
	}
}
