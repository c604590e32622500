package dev_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// golden makes one golden file: what is shown with it is written down as it goes over the wire.
type golden struct {
	user
	w     goldenWorld
	file  goldenFile
	name  string // of the user
	id    string // of the user
	text  *strings.Builder
	fresh *int // the projects made so far
}

// newGolden begins a file.
func newGolden(t *testing.T, w goldenWorld, f goldenFile) *golden {
	t.Helper()
	g := &golden{file: f, text: &strings.Builder{}, fresh: new(int), user: user{t: t}}
	return g.at(w)
}

// at is the same file in an empty, opened project of the administrator in that world.
func (g *golden) at(w goldenWorld) *golden {
	g.t.Helper()
	other := *g
	other.w = w
	g = other.by("admin")
	g.project = g.newProject()
	return g
}

// by is the same file written by another user, in the same project.
func (g *golden) by(name string) *golden {
	g.t.Helper()
	project := g.project
	other := *g
	other.user, other.name = loginAt(g.t, g.w.stack.URL(), name), name
	var me struct {
		ID string `json:"user_id"`
	}
	other.rest(http.MethodGet, "/v3/access/users/me", "", &me)
	other.project, other.id = project, me.ID
	return &other
}

// in is the same file in another project.
func (g *golden) in(project string) *golden {
	other := *g
	other.project = project
	return &other
}

// rest asks the GNS3 server through the gateway, beside the file. It must succeed.
func (g *golden) rest(method, path, body string, into any) {
	g.t.Helper()
	resp := g.send(method, path, body, nil)
	text := g.read(resp)
	if resp.StatusCode >= http.StatusMultipleChoices {
		g.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, text)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			g.t.Fatal(err)
		}
	}
}

// newProject makes an empty, opened project of the user.
func (g *golden) newProject() string {
	g.t.Helper()
	*g.fresh++
	var p schema.Project
	g.rest(http.MethodPost, "/v3/projects", fmt.Sprintf(`{"name": "%s %s %d", "auto_close": false}`, g.file.path, g.name, *g.fresh), &p)
	return p.ID
}

// closeProject closes the project.
func (g *golden) closeProject() {
	g.t.Helper()
	g.rest(http.MethodPost, "/v3/projects/"+g.project+"/close", "", nil)
}

// nodes adds started nodes made of the lab's templates: Cisco 3725 is R1, R2 …, VPCS is PC1, PC2 …
func (g *golden) nodes(kinds ...string) {
	g.t.Helper()
	var templates []struct {
		ID   string `json:"template_id"`
		Name string `json:"name"`
	}
	g.rest(http.MethodGet, "/v3/templates", "", &templates)
	for _, kind := range kinds {
		for _, template := range templates {
			if template.Name == kind {
				g.rest(http.MethodPost, "/v3/projects/"+g.project+"/templates/"+template.ID, `{"x": 0, "y": 0}`, nil)
			}
		}
	}
	g.rest(http.MethodPost, "/v3/projects/"+g.project+"/nodes/start", "{}", nil)
}

// script sets what the model answers to a message. The first answer waits until the session's title is made, which otherwise comes in at this
// turn's end or at the next one's.
func (g *golden) script(session, message string, steps ...scriptmodel.Step) {
	first := steps[0]
	steps = append([]scriptmodel.Step{func(r *scriptmodel.Reply) {
		g.awaitTitle(session)
		first(r)
	}}, steps[1:]...)
	suite.model.On(message, steps...)
}

func (g *golden) awaitTitle(session string) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	id := schema.WorkflowID(store.SessionKey(g.id, g.project, session))
	for {
		d, err := g.w.temporal.DescribeWorkflow(g.bounded(), id, "")
		if err != nil {
			g.t.Errorf("look for the title of %s: %v", session, err)
			return
		}
		if !slices.ContainsFunc(pendingActivities(d.RawResponse), func(name string) bool { return name == schema.ActivityMakeTitle }) {
			return
		}
		<-tick.C
	}
}

// turn has a whole turn beside the file.
func (g *golden) turn(session, message string, steps ...scriptmodel.Step) []schema.Event {
	g.t.Helper()
	g.script(session, message, steps...)
	var events []schema.Event
	for _, ev := range g.say(session, message) {
		events = append(events, ev.Event)
	}
	return events
}

// note writes a sentence of explanation into the file.
func (g *golden) note(format string, args ...any) {
	fmt.Fprintf(g.text, "# "+format+"\n\n", args...)
}

// show sends a request and writes it down with its answer. Headers are names and values in turn; the user's token is sent unless there is an
// Authorization, which may be empty for none.
func (g *golden) show(title, method, path, body string, headers ...string) []byte {
	g.t.Helper()
	resp := g.request(title, method, path, body, headers)
	text := g.read(resp)
	g.body(resp.Header.Get("Content-Type"), text)
	return text
}

// request sends a request and writes down all but the answer's body.
func (g *golden) request(title, method, path, body string, headers []string) *http.Response {
	g.t.Helper()
	fmt.Fprintf(g.text, "=== %s\n\n%s %s\n", title, method, path)
	own := slices.Contains(headers, "Authorization")
	if !own {
		fmt.Fprintf(g.text, "Authorization: Bearer <token of %s>\n", g.name)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] != "" {
			fmt.Fprintf(g.text, "%s: %s\n", headers[i], headers[i+1])
		}
	}
	if body != "" {
		if !slices.Contains(headers, "Content-Type") {
			fmt.Fprintf(g.text, "Content-Type: application/json\n")
		}
		fmt.Fprintf(g.text, "\n%s\n", cutBody(body))
	}
	resp := g.send(method, path, body, headers)
	fmt.Fprintf(g.text, "\n%s\n", resp.Status)
	everywhere := []string{"Date", "Content-Length", "X-Request-Id", "Content-Security-Policy", "Referrer-Policy", "X-Content-Type-Options"}
	for _, name := range slices.Sorted(maps.Keys(resp.Header)) {
		if !slices.Contains(everywhere, name) {
			fmt.Fprintf(g.text, "%s: %s\n", name, strings.Join(resp.Header[name], ", "))
		}
	}
	fmt.Fprintln(g.text)
	return resp
}

// cutBody shows the beginning of what nobody wants to read to its end.
func cutBody(body string) string {
	if len(body) <= 2000 {
		return body
	}
	return fmt.Sprintf("%s… (%d bytes)", body[:80], len(body))
}

func (g *golden) send(method, path, body string, headers []string) *http.Response {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.bounded(), method, g.w.stack.URL()+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+g.Token())
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func (g *golden) read(resp *http.Response) []byte {
	g.t.Helper()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return text
}

// body writes an answer's body down. JSON that was sent on one line is indented, which keeps its keys' order.
func (g *golden) body(contentType string, text []byte) {
	g.t.Helper()
	line := bytes.TrimSuffix(text, []byte("\n"))
	var compact, indented bytes.Buffer
	if strings.HasPrefix(contentType, "application/json") && json.Compact(&compact, line) == nil && bytes.Equal(compact.Bytes(), line) {
		if err := json.Indent(&indented, line, "", "  "); err != nil {
			g.t.Fatal(err)
		}
		fmt.Fprintf(g.text, "[sent on one line]\n%s\n\n", indented.Bytes())
		return
	}
	if len(line) > 0 {
		fmt.Fprintf(g.text, "%s\n\n", line)
	}
}

// compare holds the file against what is kept of it, or writes it.
func (g *golden) compare(path string) {
	g.t.Helper()
	got := "# " + g.file.about + "\n# What <…> stands for is said in README.md.\n\n" + newNormaliser(g.t).text(strings.TrimRight(g.text.String(), "\n")) + "\n"
	if g.t.Failed() {
		return
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			g.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			g.t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		g.t.Fatal(err)
	}
	if got != string(kept) {
		g.t.Errorf("%s shows something else than is sent now; if that is meant: go test ./deploy/dev -run TestGolden -update\n%s", path, firstDifference(string(kept), got))
	}
}

// firstDifference is the first line that differs, with some before it.
func firstDifference(kept, got string) string {
	k, now := strings.Split(kept, "\n"), strings.Split(got, "\n")
	at := 0
	for at < len(k) && at < len(now) && k[at] == now[at] {
		at++
	}
	line := func(lines []string) string {
		if at < len(lines) {
			return lines[at]
		}
		return "(end of file)"
	}
	before := strings.Join(now[max(0, at-5):min(at, len(now))], "\n  ")
	return fmt.Sprintf("line %d, behind\n  %s\nkept: %s\nsent: %s", at+1, before, line(k), line(now))
}
