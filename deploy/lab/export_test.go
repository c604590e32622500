//go:build lab

package lab

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"gns3copilot/apiserver/client"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// gateway sends a request by way of our gateway and gives its body.
func (l *lab) gateway(ctx context.Context, t *testing.T, method, path, body string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, l.stack.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+l.api.Token())
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s %.300s %v", method, path, resp.Status, answer, err)
	}
	return answer
}

// TestChatsStayBehindWhenAProjectIsExported: what was said beside a project is nobody's but the user's, and isn't in the file that the project is
// handed on as.
func TestChatsStayBehindWhenAProjectIsExported(t *testing.T) {
	l := open(t)
	const question, answer = "does anybody read this question", "nobody reads this answer"
	var p schema.Project
	if err := json.Unmarshal(l.gateway(t.Context(), t, http.MethodPost, "/v3/projects", `{"name": "handed on"}`), &p); err != nil {
		t.Fatal(err)
	}
	defer l.gateway(context.WithoutCancel(t.Context()), t, http.MethodDelete, "/v3/projects/"+p.ID, "")
	l.gateway(t.Context(), t, http.MethodPost, "/v3/projects/"+p.ID+"/nodes", `{"name": "PC9", "node_type": "vpcs", "compute_id": "local"}`)
	l.model.On(question, func(r *scriptmodel.Reply) { r.Say(answer) })
	text := ""
	err := l.api.Turn(t.Context(), p.ID, schema.ChatRequest{Message: question, SessionID: "private"}, "", func(ev client.Received) error {
		text += ev.Content
		return nil
	}, nil)
	if err != nil || text != answer {
		t.Fatalf("%q %v", text, err)
	}
	exported := l.gateway(t.Context(), t, http.MethodGet, "/v3/projects/"+p.ID+"/export?include_snapshots=yes&compression=none", "")
	archive, err := zip.NewReader(bytes.NewReader(exported), int64(len(exported)))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, f.Name...), content...)
	}
	if !bytes.Contains(all, []byte("PC9")) {
		t.Fatal("the export hasn't the project")
	}
	for _, private := range []string{question, answer, "private", "copilot"} {
		if bytes.Contains(all, []byte(private)) {
			t.Errorf("%q is in the export", private)
		}
	}
}
